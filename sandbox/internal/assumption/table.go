package assumption

import "slices"

// Row describes one assumption: the field of the same name.
type Row struct {
	Group   string
	Name    string
	Default string // as Set takes it
	Known   string // what public sources say
	Why     string // the reason for the default
	Others  []string
}

// Values returns the values that worlds give the assumption, the default first; none if
// all worlds have the default.
func (r Row) Values() []string {
	if len(r.Others) == 0 {
		return nil
	}
	return append([]string{r.Default}, r.Others...)
}

// Table describes every assumption.
func Table() []Row {
	return slices.Concat(
		group("Look-ups and lists", lookups()),
		group("Answers", answers()),
		group("Requests", requests()),
		group("Settlement", settlement()),
		group("PayTo and webhooks", payTo()),
	)
}

func group(name string, rows []Row) []Row {
	for i := range rows {
		rows[i].Group = name
	}
	return rows
}

func row(name, value, known, why string, others ...string) Row {
	return Row{Name: name, Default: value, Known: known, Why: why, Others: others}
}

func lookups() []Row {
	return []Row{
		row("LookupLag", "2s", "nothing", "a look-up right after a lost answer does not prove that nothing happened", "0s", "10s", "5m", "24h"),
		row("AgreementLookupLag", "2s", "nothing", "an agreement may exist that look-ups do not find yet", "0s", "5m"),
		row("ReferenceSearch", "anyCase", "\"case insensitive\"; nothing about parts", "as stated", "exact", "prefix"),
		row("ReusedReferences", "none", "nothing", "merchants keep their own references unique", "declined", "approved"),
		row("StoredReferences", "sent", "nothing; searches ignore case", "as sent", "lower", "upper", "trimmed"),
		row("RefundReferences", "own", "nothing", "the reference as sent, like that of any transaction", "original", "none"),
		row("FollowUpReferences", "own", "nothing", "the reference as sent, like that of any transaction", "original", "none"),
		row("RepeatedReceipts", "none", "nothing", "a transaction is one item", "olderFirst", "newerFirst"),
		row("NothingFound", "404", "404 is listed for these look-ups without its cause", "404 and an empty list both mean not found yet", "empty", "null"),
		row("PageSize", "3", "lists have next and prev links; sizes are not stated", "most lists have a second page", "1", "2", "10", "1000"),
		row("Paging", "stable", "nothing", "pages do not change", "shifting", "lastEmpty", "gone"),
		row("ListOrder", "newest", "most recent first, for three of the lists", "as in the lists with a stated order", "oldest", "unstable"),
		row("NextLinks", "absolute", "links lead to other pages; their form is not stated", "a client can use the link as it is", "defaultPort", "rootRelative", "queryOnly", "otherScheme", "versionPrefix"),
		row("AgreementsPaginated", "true", "other lists are marked as paginated, this one is not", "a client that reads the first page only misses agreements"),
		row("RelatedLinks", "false", "objects have links; only the names next and prev are stated", "clients must not rely on these links"),
		row("SearchIgnoresCase", "true", "name and email match in part; case is not stated", "searches find more than the client expects"),
	}
}

func answers() []Row {
	return []Row{
		row("EchoedReferences", "sent", "references are case insensitive; their form in answers is not stated", "as sent", "upper", "lower", "trimmed", "none"),
		row("ClockSkew", "0s", "nothing", "the clocks agree", "20s", "-20s", "31s", "-31s", "5m", "-5m", "1h", "-1h"),
		row("DateHeaderRight", "false", "nothing", "the service has one clock", "true"),
		row("TimeForm", "+1100", "the samples have +1100, without a colon", "RFC 3339 parsers refuse it", "+11:00", "+11", "Z", "none", "blank", "minutes", "fraction", "epoch", "absent", "wrong"),
		row("TransactionTimes", "made", "date and time of the transaction", "as stated", "changed"),
		row("DateForm", "iso", "YYYY-MM-DD", "as stated", "text", "absent"),
		row("TextMembers", "text", "strings", "as stated", "number"),
		row("AmountForm", "object", "an object", "as stated", "number", "text", "noCurrency", "principalAsTotal", "absent"),
		row("FollowUpAmounts", "sent", "principalAmount is the top-up amount in the request; the answer is not stated", "as sent", "newTotal", "zero"),
		row("OptionalMembers", "null", "some are \"or null\"", "a client may expect a text", "absent", "empty"),
		row("InapplicableMembers", "null", "nothing", "a client may expect an object", "absent"),
		row("EmptyLists", "list", "nothing", "as in other lists", "null", "object", "absent"),
		row("MemberOrder", "declared", "nothing", "as in the samples", "reversed"),
		row("UnknownMembers", "new", "response members may be added without a new version", "strict decoders fail early", "none", "caseVariants", "nested"),
		row("UnknownEnumValues", "true", "cardType may get new values; nothing about others", "closed enumerations fail early", "false"),
		row("TransactionAnswers", "full", "a Transaction Response Model; which members are optional is not stated", "as stated", "required", "receipt"),
		row("StatusForm", "listed", "words are listed; nothing about others, or about case", "as listed", "otherCase", "unlisted", "absent"),
		row("Location", "none", "nothing; a sister product sends one", "a client must not need it", "created"),
		row("OtherAnswers", "full", "201 and 204 with or without a body, as listed", "as listed", "200", "empty", "nested", "204"),
		row("Metadata", "echoed", "string key/value pairs supplied on the request", "as stated", "dropped", "refused", "blank", "otherCase", "cut", "quoted", "masked"),
		row("ErrorForm", "object", "the response body lists the errors; its form is not shown", "as in public client code", "list", "texts", "map", "data", "html", "empty"),
		row("ErrorStatusAsString", "true", "public client code declares a string", "a client may expect the number", "false"),
		row("NullErrorList", "true", "nothing", "a client may expect a list", "false"),
		row("HandleLength", "255", "identifiers may change form, up to 255 characters", "database columns that are too short fail early"),
	}
}

func requests() []Row {
	return []Row{
		row("KeyForm", "text", "nothing; a sister product demands UUIDs", "what the contract does not forbid is accepted", "uuid"),
		row("KeyLifetime", "5m", "vendor's public pages: resend with the same key after a network error; for how long is not stated", "a resend after a pause is not safe", "24h", "2m", "0s"),
		row("KeyMismatch", "422", "nothing", "a key belongs to one request", "409", "replay"),
		row("ReplayHeader", "", "nothing", "a client cannot distinguish a replay from a first answer"),
		row("ReplayedStatuses", "200,201,204,422", "nothing", "a corrected request needs another key"),
		row("UnavailableSpendsKey", "true", "vendor's public pages: after 503 use a new key", "the old key never works again"),
		row("RefuseUnknownMembers", "true", "nothing", "finds misspelt members, which the service may ignore"),
		row("IgnoreUnknownQuery", "false", "nothing", "a misspelt filter that is ignored lists everything", "true"),
		row("BareKeys", "false", "the key is the user name of HTTP Basic; a public client sends it without a colon", "credentials without a colon are not HTTP Basic", "true"),
		row("TokenQuota", "100", "429 exists, no figure", "a loop reaches the limit"),
		row("QuotaRetryAfter", "false", "nothing", "the client must choose its own wait"),
		row("DeclineConsumesToken", "true", "a token is used once to take a payment", "a second attempt needs a new token"),
		row("BSBForm", "either", "bank-state-branch; the form is not stated; the public test BSBs have a hyphen, PayTo takes six digits", "what the contract does not forbid is accepted", "dash", "digits"),
		row("PutRemovesOmitted", "false", "public client code sends only enabled to change the status", "this call must work"),
		row("NullInPut", "removes", "nothing", "a client that writes null for unknown values empties the customer", "ignored", "refused"),
		row("InternationalPhones", "false", "international format for 3D Secure, nothing for customers", "what the contract does not forbid is accepted", "true"),
		row("UsageRequired", "none", "required in some cases with STORED_CREDENTIAL; which is not stated", "what the contract does not forbid is accepted", "RECURRING,INSTALMENT"),
		row("StoredCredentialUsages", "none", "three values are shown", "what the contract does not forbid is accepted", "RECURRING,STANDING_ORDER,UNSCHEDULED_MIT"),
		row("NewAccountIsDefault", "false", "the default account is used when only the customer is named", "a payer's new card is not charged by default"),
		row("DisabledCustomers", "register", "a customer has a status; its effect is not stated", "accounts can be kept for later", "pay", "all", "nothing"),
		row("ThreeDSFlagRequired", "true", "an authenticated token is used with threeDS2=true; the use without it is not stated", "a client must declare the authentication"),
		row("ThreeDSBindsUse", "true", "an authentication names a use and an amount", "a client must authenticate the amount that it charges"),
		row("PayerAddress", "internet", "required for single-use tokens, and never sent unless the customer acted over the Internet; a public client sends it with MAIL", "a merchant without an address can pay", "always", "only"),
		row("BillingAddressMembers", "none", "the billing address is required for payments; which members is not stated", "what the contract does not forbid is accepted", "billAddrLine1,billAddrCity,billAddrPostCode,billAddrState,billAddrCountry"),
		row("LatestKey", "new", "public client code renews a Secret key with the one it has", "a cached key stops working", "latest"),
		row("AllowedOrigins", "none", "vendor's public pages: cross-origin calls by browsers are not supported", "as stated"),
	}
}

func settlement() []Row {
	return []Row{
		row("CutOffHour", "18", "vendor's public pages: 18:00 Sydney for cards", "as stated; used for all account types", "16", "20", "22"),
		row("SettlementDays", "every", "nothing", "weekends and holidays are no exception", "weekdays", "business"),
		row("LateSettlementDate", "false", "nothing", "the next date begins at the cut-off", "true"),
		row("RefundBeforeCutOff", "false", "vendor's public pages: a card payment can be voided until cut-off and refunded after", "a refund on the same day needs a void"),
		row("RefundsIncludeSurcharge", "false", "a refund is never above the payment; whether with its surcharge is not stated", "the smaller limit of the two"),
		row("VoidableTypes", "PAYMENT,CAPTURE", "vendor's public pages: a card payment can be voided until cut-off", "nothing about other types; a capture is the payment of a pre-authorisation"),
		row("NotVoidableStatus", "422", "only 401 and 404 are listed", "a status that the contract does not list"),
		row("VoidedSummaryCode", "0", "the status Voided is known; third parties call summary code 3 rejected or voided", "summaryCode alone reports a voided payment as approved"),
		row("CaptureLimitFollowsChanges", "true", "at most double the pre-authorised amount", "a cancelled part does not count"),
		row("SoftDeclineCodes", "01", "vendor's public pages mark codes as soft declines; 01 is one", "the only public one", "none", "01,05,51,91"),
		row("RetriesOf", "first", "a retry has the original's receipt number; nothing about the second retry", "as of the first", "previous"),
		row("RetrySchedule", "24h,48h", "soft declines are retried manually or on a schedule; no figures", "a declined payment can still succeed: look up before paying again", "2h,6h"),
		row("BankReturnAfter", "24h", "vendor's public pages: the customer's bank may decline for up to 3 banking days", "approved is not final for bank accounts", "0s", "72h"),
		row("ReportGeneration", "1m30s", "202 until it is ready; ask again after a minute", "longer than a minute"),
		row("ReportPendingText", "true", "nothing", "a client must not save this text as the report"),
		row("FileReports", "404", "nothing", "404 until complete", "202", "ready"),
		row("FileClearance", "72h", "vendor's public pages: bank accounts need at most 5 business days", "a file is not complete on the day it was sent"),
	}
}

func payTo() []Row {
	return []Row{
		row("AutoConfirm", "false", "vendor's public pages: payers of all but the test BSBs approve; the contract has one PayID that does", "in production payers do not confirm by themselves"),
		row("MigratedDDRActive", "false", "MIGRATED_DDR only if active on the facility", "facilities must arrange it first"),
		row("TwoDecimalStrings", "false", "decimal strings, for example with two decimals", "what the contract does not forbid is accepted", "true"),
		row("PastStartRefused", "false", "startDate is the first day on which payments may be initiated", "what the contract does not forbid is accepted", "true"),
		row("OnePayerRoute", "false", "bsb goes with accountNumber and payIdType with payId; whether both pairs may be given is not stated", "what the contract does not forbid is accepted", "true"),
		row("AgreementCodesRequired", "false", "four codes with their values; which are required is not stated", "what the contract does not forbid is accepted", "true"),
		row("AdhocNumberRequired", "true", "required when frequency=ADHO; a public client creates agreements without", "as stated", "false"),
		row("PayerRouteRequired", "false", "bsb goes with accountNumber and payIdType with payId; whether one pair is required is not stated", "what the contract does not forbid is accepted", "true"),
		row("InvalidPayIDLimit", "3", "a daily limit exists; no figure", "a few typing errors reach the limit"),
		row("SameStatusRefused", "true", "nothing", "a change that is sent again after a lost answer gets 422 although it was made"),
		row("OneAmendmentAtATime", "true", "nothing", "an amendment sent again after a lost answer gets 422 although it is pending"),
		row("TermsEnforced", "true", "nothing", "a payment that the payer did not agree to is refused"),
		row("EndToEndIDLength", "0", "nothing; ISO 20022 has 35 characters", "what the contract does not forbid is accepted", "35"),
		row("AgreementTerms", "sent", "nothing", "as sent", "filled", "noOffset", "nullAmount"),
		row("AgreementTexts", "sent", "nothing", "as sent", "folded", "bankNames"),
		row("PayToSynchronous", "false", "an event reports the approval; whether the answer can is not stated", "code that expects approval in the answer fails early", "true"),
		row("PendingSummaryCode", "0", "four codes, and none for a payment whose payer has not answered", "summaryCode alone reports as approved what may still be declined", "2"),
		row("PayToApprovedAfter", "1m", "nothing", "callers do not wait that long", "15m", "119h"),
		row("Events", "before", "nothing", "the event arrives before the caller has the token or receipt", "after", "twice", "never"),
		row("UnknownEvents", "true", "other event types exist; their names are not public", "closed sets of event types fail early", "false"),
		row("WebhookTimeout", "10s", "each request is to be acknowledged immediately", "a receiver that is slow to answer is notified again"),
		row("RedeliverAfter", "5s,30s,5m,30m,2h", "vendor's public pages: handle duplicates; no schedule", "other statuses than 200 are notified again, but not for ever"),
		row("RedeliverySignedAnew", "false", "nothing", "a receiver with a short tolerance refuses every redelivery", "true"),
		row("RedeliveredBody", "same", "nothing", "as in the first attempt", "reordered", "member", "fresher"),
		row("SignatureHeader", "plain", "t=<timestamp_ms>,v1=<signature>", "as stated", "blanks", "swapped", "several"),
	}
}
