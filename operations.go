package quickstream

import (
	"net/http"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// Operation names the client method that makes a call, such as "Transactions.Pay". Errors, intents
// and observers carry it.
type Operation string

// The operations that have intents. The others are named after their methods too.
const (
	OperationPay                    Operation = "Transactions.Pay"
	OperationRefund                 Operation = "Transactions.Refund"
	OperationPreauthorise           Operation = "Transactions.Preauthorise"
	OperationTopUp                  Operation = "Transactions.TopUp"
	OperationExtend                 Operation = "Transactions.Extend"
	OperationReauthorise            Operation = "Transactions.Reauthorise"
	OperationCapture                Operation = "Transactions.Capture"
	OperationCancelPreauthorisation Operation = "Transactions.CancelPreauthorisation"
	OperationVerifyAccount          Operation = "Transactions.VerifyAccount"
	OperationVoid                   Operation = "Transactions.Void"
	OperationCollect                Operation = "PayTo.Collect"
	OperationCreateAgreement        Operation = "PayTo.Create"
	OperationRecallAgreement        Operation = "PayTo.Recall"
	OperationSuspendAgreement       Operation = "PayTo.Suspend"
	OperationReactivateAgreement    Operation = "PayTo.Reactivate"
	OperationCancelAgreement        Operation = "PayTo.Cancel"
	OperationAmendUnilaterally      Operation = "PayTo.AmendUnilaterally"
	OperationAmendBilaterally       Operation = "PayTo.AmendBilaterally"
	OperationRecallAmendment        Operation = "PayTo.RecallAmendment"
	OperationUploadPaymentFile      Operation = "PaymentFiles.Upload"
)

// IsTransaction reports whether it sends a transaction or a void, which
// [TransactionsService.Resume] looks up.
func (o Operation) IsTransaction() bool { return o == OperationVoid || o.row().transaction != "" }

// operation is a row of the table.
type operation struct {
	name   Operation
	method string
	route  string // path with the contract's parameter names
	key    keyKind
	class  transport.Class
	// transaction and authorisation are the types of a transaction of this operation. Its rules
	// follow from them.
	transaction   TransactionType
	authorisation AuthorisationType
	threeDS       bool   // a 503 means that 3D Secure is not enabled
	also          int    // a status of success besides 200, 201 and 204; 0 for none
	findOut       string // how to find out whether a write was executed if its answer is lost
}

// The values of findOut.
const (
	resumeTransaction = "look it up with Transactions.Resume and the error's Intent; not finding it means that it is not visible yet"
	resumeVoid        = "look with Transactions.Resume and the error's Intent whether it was voided; do not refund it before that is known"
	resumeAgreement   = "look for it with PayTo.Resume and the error's Intent; not finding it means that it is not visible yet"
	resumeChange      = "read the agreement with PayTo.ResumeChange and the error's Intent: it shows whether it is as requested, not which request made it so"
	newToken          = "a token that was made and not seen expires by itself; ask for another"
	authenticateAgain = "authenticate the token again, which charges nothing; until there is a result, do not pay with it"
	lookUpCustomer    = "look the customer up with Customers.GetByNumber"
	compareCustomer   = "read the customer with Customers.Get and compare"
	listAccounts      = "look with Accounts.List, by the account's masked number"
	newAccount        = "an account that was made and not seen is in no list; register another with a new single-use token, which charges nothing"
	listFiles         = "look for the file with PaymentFiles.List or in the service's portal; do not upload it under another name before that"
	lookInPortal      = "look in the service's portal whether it is registered"
	repeatedLikeGet   = "it only asks, and is repeated like a GET"
)

// operations is a constant table: a row for each client method that calls the service. Calls take
// their row from it, Do refuses its writes, and docs/api.md is made from it.
//
//nolint:gochecknoglobals // the one table
var operations = [...]operation{
	{name: OperationPay, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePayment, findOut: resumeTransaction},
	{name: OperationRefund, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypeRefund, findOut: resumeTransaction},
	{name: OperationPreauthorise, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePreauth, findOut: resumeTransaction},
	{name: OperationTopUp, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePreauth, authorisation: AuthorisationTypeIncremental, findOut: resumeTransaction},
	{name: OperationExtend, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePreauth, authorisation: AuthorisationTypeExtension, findOut: resumeTransaction},
	{name: OperationReauthorise, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePreauth, authorisation: AuthorisationTypeReauthorisation, findOut: resumeTransaction},
	{name: OperationCapture, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypeCapture, findOut: resumeTransaction},
	{name: OperationCancelPreauthorisation, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePreauthCancellation, findOut: resumeTransaction},
	{name: OperationVerifyAccount, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypeAccountVerification, findOut: resumeTransaction},
	{name: "Transactions.Submit", method: http.MethodPost, route: "/transactions", class: transport.Keyed, findOut: resumeTransaction},
	{name: OperationVoid, method: http.MethodPost, route: "/transactions/{receiptNumber}/void", class: transport.Post, findOut: resumeVoid},
	{name: "Transactions.Get", method: http.MethodGet, route: "/transactions/{receiptNumber}"},
	{name: "Transactions.List", method: http.MethodGet, route: "/transactions"},
	{name: "Transactions.ByReference", method: http.MethodGet, route: "/transactions/for-reference-number"},
	{name: "Transactions.BySettlementDate", method: http.MethodGet, route: "/transactions/for-settlement-date"},
	{name: "Transactions.ByAccount", method: http.MethodGet, route: "/transactions/for-account-token"},
	{name: "Transactions.ByCreditCard", method: http.MethodGet, route: "/transactions/for-credit-card"},
	{name: "Transactions.ByBankAccount", method: http.MethodGet, route: "/transactions/for-bank-account"},
	{name: "Transactions.ByNZBankAccount", method: http.MethodGet, route: "/transactions/for-nz-bank-account"},
	{name: "Transactions.Suspended", method: http.MethodGet, route: "/transactions/suspended"},
	{name: "Transactions.Refunds", method: http.MethodGet, route: "/transactions/{receiptNumber}/refunds"},
	{name: "Transactions.Retries", method: http.MethodGet, route: "/transactions/{receiptNumber}/retries"},
	{name: "Transactions.Returned", method: http.MethodGet, route: "/transactions/returns"},
	{name: "Transactions.OpenPreauths", method: http.MethodGet, route: "/transactions/open-preauths"},
	{name: "Transactions.Resume", method: http.MethodGet, route: "/transactions"},
	{name: "Transactions.DownloadReport", method: http.MethodGet, route: "/transactions/csv", also: http.StatusAccepted},
	{name: "Transactions.AwaitReport", method: http.MethodGet, route: "/transactions/csv", also: http.StatusAccepted},
	{name: OperationCreateAgreement, method: http.MethodPost, route: "/customers/{customerId}/payto-agreements", class: transport.Post, findOut: resumeAgreement},
	{name: OperationRecallAgreement, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationSuspendAgreement, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationReactivateAgreement, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationCancelAgreement, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationAmendUnilaterally, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationAmendBilaterally, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationRecallAmendment, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change, findOut: resumeChange},
	{name: OperationCollect, method: http.MethodPost, route: "/transactions", class: transport.Keyed, transaction: TransactionTypePayment, findOut: resumeTransaction},
	{name: "PayTo.Get", method: http.MethodGet, route: "/payto-agreements/{agreementToken}"},
	{name: "PayTo.List", method: http.MethodGet, route: "/customers/{customerId}/payto-agreements"},
	{name: "PayTo.Resume", method: http.MethodGet, route: "/customers/{customerId}/payto-agreements"},
	{name: "PayTo.ResumeChange", method: http.MethodGet, route: "/payto-agreements/{agreementToken}"},
	{name: "SingleUseTokens.Create", method: http.MethodPost, route: "/single-use-tokens", class: transport.Keyed, key: publishableKey, findOut: newToken},
	{name: "SingleUseTokens.Authenticate", method: http.MethodPost, route: "/single-use-tokens/{singleUseTokenId}/three-ds2-authentication", class: transport.Keyed, threeDS: true, findOut: authenticateAgain},
	{name: "Customers.Create", method: http.MethodPost, route: "/customers", class: transport.Post, findOut: lookUpCustomer},
	{name: "Customers.Update", method: http.MethodPut, route: "/customers/{customerId}", class: transport.Change, findOut: compareCustomer},
	{name: "Customers.Get", method: http.MethodGet, route: "/customers/{customerId}"},
	{name: "Customers.List", method: http.MethodGet, route: "/customers"},
	{name: "Customers.GetByNumber", method: http.MethodGet, route: "/customers"},
	{name: "Accounts.Register", method: http.MethodPost, route: "/customers/{customerId}/accounts", class: transport.Post, findOut: listAccounts},
	{name: "Accounts.RegisterWithoutCustomer", method: http.MethodPost, route: "/accounts", class: transport.Post, findOut: newAccount},
	{name: "Accounts.List", method: http.MethodGet, route: "/customers/{customerId}/accounts"},
	{name: "Accounts.Get", method: http.MethodGet, route: "/accounts/{accountToken}"},
	{name: "PayIDs.Register", method: http.MethodPost, route: "/customers/{customerId}/payids", class: transport.Post, findOut: lookInPortal},
	{name: OperationUploadPaymentFile, method: http.MethodPost, route: "/payment-files", class: transport.Post, findOut: listFiles},
	{name: "PaymentFiles.Get", method: http.MethodGet, route: "/payment-files/{id}"},
	{name: "PaymentFiles.List", method: http.MethodGet, route: "/payment-files"},
	{name: "PaymentFiles.Batches", method: http.MethodGet, route: "/payment-files/{id}/payment-batches"},
	{name: "PaymentFiles.Batch", method: http.MethodGet, route: "/payment-batches/{id}"},
	{name: "PaymentFiles.BatchTransactions", method: http.MethodGet, route: "/payment-batches/{id}/transactions"},
	{name: "PaymentFiles.DownloadFlatFile", method: http.MethodGet, route: "/payment-files/{id}/flat-file", also: http.StatusAccepted},
	{name: "PaymentFiles.DownloadCSV", method: http.MethodGet, route: "/payment-files/{id}/csv", also: http.StatusAccepted},
	{name: "PaymentFiles.DownloadMTSRejects", method: http.MethodGet, route: "/payment-files/{id}/mts-rejects", also: http.StatusAccepted},
	{name: "RecurringPayments.Get", method: http.MethodGet, route: "/recurring-payments/{paymentScheduleId}"},
	{name: "RecurringPayments.List", method: http.MethodGet, route: "/customers/{customerId}/recurring-payments"},
	{name: "RecurringPayments.Transactions", method: http.MethodGet, route: "/recurring-payments/{paymentScheduleId}/transactions"},
	{name: "Businesses.List", method: http.MethodGet, route: "/businesses"},
	{name: "Businesses.Get", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}"},
	{name: "Businesses.CardSurcharges", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}/list-card-surcharges"},
	{name: "Businesses.PublicCardSurcharges", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}/card-surcharges", key: publishableKey},
	{name: "Businesses.AcceptedCards", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}/accepted-cards", key: publishableKey},
	{name: "Businesses.QueryCardSurcharge", method: http.MethodPost, route: "/businesses/{supplierBusinessCode}/query-card-surcharge", key: publishableKey, findOut: repeatedLikeGet},
	{name: "Businesses.CardScheme", method: http.MethodGet, route: "/credit-cards/card-schemes/{firstSixDigits}", key: publishableKey},
	{name: "APIKeys.Renew", method: http.MethodGet, route: "/api-keys/latest"},
	{name: "Check", method: http.MethodGet, route: "/transactions"},
	{name: "Root", method: http.MethodGet, route: "/"},
}

func (o Operation) row() operation {
	for i := range operations {
		if operations[i].name == o {
			return operations[i]
		}
	}
	return operation{name: o, class: transport.Change} // an intent can name a method that does not exist
}

// operationOf names the method that sends a transaction.
func operationOf(b transactionJSON) Operation {
	found := OperationPay
	if b.PayToData != nil {
		found = OperationCollect
	}
	for i := range operations {
		switch row := &operations[i]; {
		case row.transaction == "", row.transaction == TransactionTypePayment, row.transaction != b.TransactionType: // another's row
		case row.authorisation == "", row.authorisation == b.AuthorisationType: // of pre-authorisations the last that fits
			found = row.name
		}
	}
	return found
}

func (o Operation) info() CallInfo {
	row := o.row()
	return CallInfo{o, row.method, row.route}
}

// isModelledWrite reports whether a method of this package makes this write. It compares the path
// that is sent, without regard to case, because a route can contain an identifier as plain text.
func isModelledWrite(method, path string) bool {
	sent := strings.Split(path, "/")
	return method != http.MethodGet && slices.ContainsFunc(operations[:], func(o operation) bool {
		return o.method == method && slices.EqualFunc(strings.Split(o.route, "/"), sent, func(part, sent string) bool {
			return strings.HasPrefix(part, "{") || strings.EqualFold(part, sent)
		})
	})
}
