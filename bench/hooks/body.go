package main

import (
	"fmt"
	"strconv"
	"strings"
)

// What the ids of genuine notifications begin with, and those of others. No
// change of one bit turns one into the other.
const (
	genuineID = "genuine-"
	forgedID  = "forged-"
)

// body is a notification of a payment, of 1.6 KB, whose id and amounts come from
// a number. The account is one that the service makes up for tests.
func body(id string, number int) []byte {
	return fmt.Appendf(nil, `{"id":"%[1]s%[2]d","timestamp":"2024-02-08T00:12:50+1100","eventType":"payto.payment.approved",`+
		`"data":{"links":[{"rel":"self","href":"https://api.localhost/rest/v1/transactions/%[3]d","requestMethod":"GET"},`+
		`{"rel":"refunds","href":"https://api.localhost/rest/v1/transactions/%[3]d/refunds","requestMethod":"GET"}],`+
		`"receiptNumber":"%[3]d","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","responseCode":"00",`+
		`"responseDescription":"Approved or completed successfully","fraudGuardResult":null,"customerReferenceNumber":"CUST-%[2]d",`+
		`"paymentReferenceNumber":"INV-2024-%[2]d","comment":"Order \u0031\u0032 of \"spring\"","source":"RESTAPI",`+
		`"settlementDate":"2024-02-08","transactionTime":"2024-02-08T00:12:49+1100","refundable":true,"voidable":false,`+
		`"principalAmount":{"currency":"AUD","amount":%[4]d.45,"displayAmount":"$%[4]d.45"},`+
		`"surchargeAmount":{"currency":"AUD","amount":0.00,"displayAmount":"$0.00"},`+
		`"totalAmount":{"currency":"AUD","amount":%[4]d.45,"displayAmount":"$%[4]d.45"},"ipAddress":"203.0.113.7","debtRepayment":false,`+
		`"supplierBusinessCode":"BUSINESSONE","merchantAccount":{"links":[],"merchantId":"24436057","merchantName":"Business One",`+
		`"settlementBsb":"032-002","settlementAccountNumber":"123465","displayName":"Business One (24436057)",`+
		`"acquiringInstitution":"WESTPAC","currency":"AUD"},"metadata":{"order":"%[2]d","shop":"north","channel":"web"}}}`,
		id, number, 1_000_000_000+number, 1+number%5000)
}

// numberOf returns the number of a genuine notification by its id.
func numberOf(id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, genuineID)
	number, err := strconv.Atoi(digits)
	return number, ok && err == nil
}
