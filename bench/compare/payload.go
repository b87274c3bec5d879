package main

import (
	"fmt"
	"strings"
)

// Bodies of about 2.5 KB, as the service's own are, and those of the peer whose
// client only reads its own.

// transactionJSON returns a transaction of a card that is for testing.
func transactionJSON(base string, n int) string {
	return fmt.Sprintf(`{"links":[%s],"receiptNumber":"%d","transactionType":"PAYMENT","status":"Approved","summaryCode":"0",`+
		`"responseCode":"08","responseDescription":"Honour with identification","fraudGuardResult":null,`+
		`"customerReferenceNumber":"CUST-%d","paymentReferenceNumber":"INV-2024-%d","comment":"Order \u0031\u0032 of \"spring\"",`+
		`"source":"RESTAPI","settlementDate":"2024-02-03","transactionTime":"2024-02-03T10:11:12+1100","refundable":true,"voidable":true,`+
		`"principalAmount":{"currency":"AUD","amount":%d.45,"displayAmount":"$%d.45"},`+
		`"surchargeAmount":{"currency":"AUD","amount":1.05,"displayAmount":"$1.05"},`+
		`"totalAmount":{"currency":"AUD","amount":%d.50,"displayAmount":"$%d.50"},"ipAddress":"203.0.113.7","debtRepayment":false,`+
		`"supplierBusinessCode":"BUSINESSONE","merchantAccount":{"links":[%s],"merchantId":"24436057","merchantName":"Business One",`+
		`"settlementBsb":"032-002","settlementAccountNumber":"123465","displayName":"Business One (24436057)",`+
		`"acquiringInstitution":"WESTPAC","currency":"AUD"},`+
		`"creditCard":{"links":[%s],"accountType":"CREDIT_CARD","accountToken":"90bd29d4-66cc-4a6d-8a1b-5b04ac2a%04d","customerId":"CUST-%d",`+
		`"defaultAccount":true,"cardNumber":"424242...242","expiryDateMonth":"02","expiryDateYear":"29","cardScheme":"VISA",`+
		`"cardType":"CREDIT","cardholderName":"Test Person","maskedCardNumber4Digits":"424242...4242","surchargePercentage":"1.020",`+
		`"panType":"FPAN"},"metadata":{"order":"%d","shop":"north","channel":"web"}}`,
		links(base, fmt.Sprintf("/transactions/%d", n), "self", "refunds", "retries", "void"), n,
		n, n, n%5000, n%5000, n%5000+1, n%5000+1,
		links(base, "/businesses/BUSINESSONE", "self", "business"),
		links(base, "/accounts/90bd29d4", "self", "customer"), n%10000, n, n)
}

func links(base, path string, names ...string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf(`{"rel":"%s","href":"%s%s/%s","requestMethod":"GET"}`, name, base, path, name)
	}
	return strings.Join(all, ",")
}

// smallJSON is a transaction of which there is next to nothing to decode.
const smallJSON = `{"receiptNumber":"1000000001"}`

// notificationJSON returns a notification about a transaction.
func notificationJSON(base string) string {
	return `{"id":"5f2c8a54-0001","timestamp":"2024-02-03T10:11:13+1100","eventType":"payto.payment.approved","data":` +
		transactionJSON(base, 1000000001) + `}`
}

const pageSize = 100

// pageJSON returns a page of transactions, the first being number 0.
func pageJSON(base, route string, page, pages int) string {
	all := make([]string, pageSize)
	for i := range all {
		all[i] = transactionJSON(base, 1000000000+page*pageSize+i)
	}
	next := ""
	if page+1 < pages {
		next = fmt.Sprintf(`{"rel":"next","href":"%s%s&page=%d&pages=%d"}`, base, route, page+1, pages)
	}
	return `{"links":[` + next + `],"data":[` + strings.Join(all, ",") + `]}`
}

// intentJSON returns a payment of stripe-go.
func intentJSON(n int) string {
	cents := intentCents(n)
	return fmt.Sprintf(`{"id":"pi_%d","object":"payment_intent","amount":%d,"amount_capturable":0,"amount_details":{"tip":{}},`+
		`"amount_received":%d,"application":null,"application_fee_amount":null,"automatic_payment_methods":{"allow_redirects":"always","enabled":true},`+
		`"canceled_at":null,"cancellation_reason":null,"capture_method":"automatic","client_secret":"pi_%d_not_a_secret",`+
		`"confirmation_method":"automatic","created":1706915472,"currency":"aud","customer":"cus_%d","description":"Order 12 of \"spring\"",`+
		`"last_payment_error":null,"latest_charge":{"id":"ch_%d","object":"charge","amount":%d,"amount_captured":%d,"amount_refunded":0,`+
		`"balance_transaction":"txn_%d","billing_details":{"address":{"city":"Sydney","country":"AU","line1":"1 Example Street","line2":null,`+
		`"postal_code":"2000","state":"NSW"},"email":"test@example.com","name":"Test Person","phone":null},`+
		`"calculated_statement_descriptor":"BUSINESS ONE","captured":true,"created":1706915473,"currency":"aud","customer":"cus_%d",`+
		`"description":"Order 12","disputed":false,"failure_code":null,"failure_message":null,"fraud_details":{},"livemode":false,`+
		`"metadata":{"order":"%d","shop":"north"},"outcome":{"network_status":"approved_by_network","reason":null,"risk_level":"normal",`+
		`"risk_score":32,"seller_message":"Payment complete.","type":"authorized"},"paid":true,"payment_intent":"pi_%d",`+
		`"payment_method":"pm_%d","payment_method_details":{"card":{"brand":"visa","country":"AU","exp_month":2,"exp_year":2029,`+
		`"fingerprint":"Xt5EWLLDS7FJjR1c","funding":"credit","last4":"4242","network":"visa"},"type":"card"},`+
		`"receipt_email":null,"receipt_number":"1234-5678",`+
		`"receipt_url":"https://receipts.example.com/payment/CAcaFwoVYWNjdF8xSzJhYmNkZWZnaGlqa2xtbm8oq/receipt","refunded":false,"statement_descriptor":"BUSINESS ONE",`+
		`"statement_descriptor_suffix":null,"status":"succeeded"},"livemode":false,`+
		`"metadata":{"order":"%d","shop":"north","channel":"web"},"next_action":null,"payment_method":"pm_%d",`+
		`"payment_method_options":{"card":{"network":null,"request_three_d_secure":"automatic"}},`+
		`"payment_method_types":["card"],"processing":null,"receipt_email":null,"review":null,"setup_future_usage":null,"shipping":{"address":{"city":"Sydney","country":"AU","line1":"1 Example Street",`+
		`"line2":null,"postal_code":"2000","state":"NSW"},"carrier":"Example Post","name":"Test Person","phone":null,"tracking_number":"AA%d"},`+
		`"statement_descriptor":null,"statement_descriptor_suffix":null,"status":"succeeded","transfer_data":null,"transfer_group":null}`,
		n, cents, cents, n, n, n, cents, cents, n, n, n, n, n, n, n, n)
}

func intentCents(n int) int64 { return int64(n%5000)*100 + 145 }

// intentPageJSON returns a page of payments of stripe-go.
func intentPageJSON(page, pages int) string {
	all := make([]string, pageSize)
	for i := range all {
		all[i] = intentJSON(page*pageSize + i)
	}
	return fmt.Sprintf(`{"object":"list","url":"/v1/payment_intents","has_more":%t,"data":[%s]}`, page+1 < pages, strings.Join(all, ","))
}

// eventJSON returns an event of stripe-go.
func eventJSON(version string) string {
	return fmt.Sprintf(`{"id":"evt_1","object":"event","api_version":"%s","created":1706915474,"data":{"object":%s},"livemode":false,`+
		`"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":null},"type":"payment_intent.succeeded"}`, version, intentJSON(1))
}
