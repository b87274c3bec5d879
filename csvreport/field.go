package csvreport

import "strconv"

// Field is something that a report says about a transaction or an agreement,
// whatever its column is called; a Layout gives it the name.
type Field uint8

// The fields of transactions, of agreements and of both.
const (
	SupplierBusinessCode Field = iota + 1
	CustomerNumber

	CommunityCode
	BusinessName
	Source
	ReceiptNumber
	OriginalReceiptNumber
	TransactionType
	Status
	SummaryCode
	ResponseCode
	ResponseDescription
	SettlementDate
	TransactionTime
	Currency
	PrincipalAmount
	SurchargeAmount
	TotalAmount
	CustomerReferenceNumber
	PaymentReferenceNumber
	Comment

	PayeeReference
	AgreementToken
	AgreementStatus
	CustomerID
	RespondByTime
	Purpose

	fieldCount
)

// String returns the name of the constant.
func (f Field) String() string {
	names := [fieldCount]string{
		SupplierBusinessCode:    "SupplierBusinessCode",
		CustomerNumber:          "CustomerNumber",
		CommunityCode:           "CommunityCode",
		BusinessName:            "BusinessName",
		Source:                  "Source",
		ReceiptNumber:           "ReceiptNumber",
		OriginalReceiptNumber:   "OriginalReceiptNumber",
		TransactionType:         "TransactionType",
		Status:                  "Status",
		SummaryCode:             "SummaryCode",
		ResponseCode:            "ResponseCode",
		ResponseDescription:     "ResponseDescription",
		SettlementDate:          "SettlementDate",
		TransactionTime:         "TransactionTime",
		Currency:                "Currency",
		PrincipalAmount:         "PrincipalAmount",
		SurchargeAmount:         "SurchargeAmount",
		TotalAmount:             "TotalAmount",
		CustomerReferenceNumber: "CustomerReferenceNumber",
		PaymentReferenceNumber:  "PaymentReferenceNumber",
		Comment:                 "Comment",
		PayeeReference:          "PayeeReference",
		AgreementToken:          "AgreementToken",
		AgreementStatus:         "AgreementStatus",
		CustomerID:              "CustomerID",
		RespondByTime:           "RespondByTime",
		Purpose:                 "Purpose",
	}
	if f < fieldCount && names[f] != "" {
		return names[f]
	}
	return "Field(" + strconv.Itoa(int(f)) + ")"
}
