package quickstream

// ResponseMeaning is what a response code says.
type ResponseMeaning struct {
	Text string
	// SoftDecline marks a decline that may succeed when it is tried again, and
	// that the service may be retrying by itself, where the facility lets it. Only of
	// the card code 01 is it published; of the others nothing says that it is not so.
	SoftDecline bool
	// Offline marks a decline that paying again does not cure: the card is to be
	// kept, or the merchant has to be set up.
	Offline bool
}

// ResponseMeaning returns what the transaction's response code says, and false
// for a code that this package does not know. Cards, bank accounts and PayTo have
// code sets of their own, in which one code can mean different things.
//
// The card codes stand in part in the vendor's public pages and in part in third
// parties' summaries of them; those of bank accounts and PayTo are published for
// sibling products of the same vendor. All but the card codes 00 to 08 are
// unconfirmed. Whether money moved is for Outcome to say, never for a code.
func (t *Transaction) ResponseMeaning() (ResponseMeaning, bool) {
	var meaning ResponseMeaning
	var known bool
	switch {
	case t.PayToData != nil:
		meaning, known = payToCode(t.ResponseCode)
	case t.BankAccount != nil, t.DirectEntryAccount != nil:
		meaning, known = bankCode(t.ResponseCode)
	case len(t.ResponseCode) == 1: // two digits that came as a number
		meaning, known = cardCode("0" + t.ResponseCode)
	default:
		meaning, known = cardCode(t.ResponseCode)
	}
	return meaning, known
}

// cardCode knows the codes of cards and of the gateway, which begin with Q.
func cardCode(code string) (ResponseMeaning, bool) {
	if text := offlineText(code); text != "" {
		return ResponseMeaning{Text: text, Offline: true}, true
	}
	text := cardText(code)
	return ResponseMeaning{Text: text, SoftDecline: text == "" || softCode(code)}, text != ""
}

func softCode(code string) bool {
	switch code {
	case "01", "02", "05", "06", "22", "51", "61", "65", "91", "92", "96":
		return true
	}
	return false
}

func offlineText(code string) string {
	switch code {
	case "03":
		return "invalid merchant"
	case "04":
		return "pick up card"
	case "07":
		return "pick up card, special conditions"
	case "41":
		return "lost card"
	case "43":
		return "stolen card"
	default:
		return ""
	}
}

func cardText(code string) string {
	switch code {
	case "00":
		return "approved or completed"
	case "01":
		return "refer to card issuer"
	case "02":
		return "refer to card issuer, special conditions"
	case "05":
		return "do not honour"
	case "06":
		return "error"
	case "08":
		return "honour with identification: approved"
	case "12":
		return "invalid transaction"
	case "13":
		return "invalid amount"
	case "14":
		return "invalid card number"
	case "17":
		return "customer cancellation"
	case "22":
		return "suspected malfunction"
	case "30":
		return "format error"
	case responseSuspended:
		return "suspected fraud: held by fraud screening"
	case "36", "62":
		return "restricted card"
	case "42":
		return "no universal account"
	case "51":
		return "not sufficient funds"
	case "54":
		return "expired card"
	case "57":
		return "not permitted to cardholder"
	case "59":
		return "suspected fraud"
	case "61":
		return "exceeds withdrawal amount limit"
	case "65":
		return "exceeds withdrawal frequency limit"
	case "91":
		return "issuer or switch inoperative"
	case "92":
		return "no route to the institution"
	case "94":
		return "duplicate transmission"
	case "96":
		return "system malfunction"
	default:
		return gatewayText(code)
	}
}

func gatewayText(code string) string {
	switch code {
	case "Q0":
		return "scheme tokenisation error"
	case "Q1":
		return "unknown buyer"
	case "Q2":
		return "pending"
	case "Q3", "Q4":
		return "payment gateway unavailable"
	case "Q5":
		return "invalid transaction"
	case "Q6":
		return "duplicate transaction; query it"
	case "QA":
		return "invalid parameters"
	case "QB", "QC":
		return "order type not supported"
	case "QD":
		return "amount outside limits"
	case "QE", "QF":
		return "internal error"
	case "QG", "QH", "QJ", "QK", "QL", "QM", "QN", "QO", "QP":
		return "configuration or credentials"
	case "QI":
		return "transaction incomplete"
	case "QQ":
		return "invalid card"
	case "QT":
		return "invalid currency"
	case "QU":
		return "unknown IP address"
	case "QV":
		return "the original order cannot be refunded or captured"
	case "QW":
		return "invalid reference number"
	case "QX":
		return "network error"
	case "QY":
		return "card type not accepted"
	case "QZ":
		return "zero-value transaction"
	default:
		return ""
	}
}

// correctable reports whether a rejection is about the request, and not about the
// facility or the service.
func correctable(code string) bool {
	switch code {
	case "QA", "QD", "QQ", "QT", "QW", "QY", "QZ":
		return true
	}
	return false
}

// bankCode knows the codes of Australian bank accounts.
func bankCode(code string) (ResponseMeaning, bool) {
	var text string
	switch code {
	case "G":
		text = "processed"
	case "R":
		text = "stopped on the first day"
	case "1":
		text = "invalid BSB"
	case "2":
		text = "payment stopped"
	case "3":
		text = "account closed"
	case "4":
		text = "customer deceased"
	case "5":
		text = "no account or incorrect account number"
	case "6":
		text = "refer to customer"
	case "7":
		text = "no authority held"
	case "8":
		text = "invalid user identifier"
	case "9":
		text = "other"
	}
	return ResponseMeaning{Text: text, Offline: code == "4" || code == "8"}, text != ""
}

// payToCode knows the codes of PayTo payments.
func payToCode(code string) (ResponseMeaning, bool) {
	var text string
	switch code {
	case "ACSC":
		text = "settled: approved"
	case "PDNG":
		text = "pending"
	case "PATC":
		text = "partially accepted, in process"
	case "RJCT":
		text = "rejected before a payment was attempted"
	case "BLCK":
		text = "blocked before a payment was attempted"
	case "AB01", "AB03":
		text = "aborted: time-out"
	case "AB02", "AB04":
		text = "aborted: fatal error"
	case "AC02":
		text = "invalid payer account number"
	case "AC05":
		text = "payer account closed"
	case "AC06":
		text = "payer account blocked"
	case "AG07":
		text = "unsuccessful direct debit"
	case "AM04":
		text = "insufficient funds"
	case "FF10":
		text = "bank system processing error"
	}
	return ResponseMeaning{Text: text}, text != ""
}
