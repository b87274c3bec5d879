package sandbox

// defaultAnswers sets what answersRows describes.
func (a *Assumptions) defaultAnswers() {
	a.EchoedReferences = "sent"
	a.TimeForm = "+1100"
	a.DateForm = "iso"
	a.TextMembers = "text"
	a.AmountForm = "object"
	a.FollowUpAmounts = "sent"
	a.OptionalMembers = "null"
	a.InapplicableMembers = "null"
	a.EmptyLists = "list"
	a.MemberOrder = "declared"
	a.UnknownMembers = "new"
	a.UnknownEnumValues = true
	a.TransactionAnswers = "full"
	a.OtherAnswers = "full"
	a.Metadata = "echoed"
	a.ErrorForm = "object"
	a.ErrorStatusAsString = true
	a.NullErrorList = true
	a.HandleLength = 255
}

func (a *Assumptions) answersRows() []assumption {
	return []assumption{
		row("EchoedReferences", &a.EchoedReferences, "references are case insensitive; how they come back is not stated", "as sent", "upper", "lower", "trimmed", "none"),
		row("ClockSkew", &a.ClockSkew, "nothing", "one true time", "20s", "-20s", "31s", "-31s", "5m", "-5m", "1h", "-1h"),
		row("DateHeaderRight", &a.DateHeaderRight, "nothing", "one clock for all", "true"),
		row("TimeForm", &a.TimeForm, "the samples have +1100, without a colon", "RFC 3339 parsers refuse it", "+11:00", "+11", "Z", "none", "blank", "minutes", "fraction", "epoch", "absent", "wrong"),
		row("DateForm", &a.DateForm, "YYYY-MM-DD", "as stated", "text", "absent"),
		row("TextMembers", &a.TextMembers, "strings", "as stated", "number"),
		row("AmountForm", &a.AmountForm, "objects", "as stated", "number", "text", "noCurrency", "principalAsTotal", "absent"),
		row("FollowUpAmounts", &a.FollowUpAmounts, "principalAmount is the top-up amount in the request; of the answer nothing is stated", "as sent", "newTotal", "zero"),
		row("OptionalMembers", &a.OptionalMembers, "some are \"or null\"", "null where a text is usual", "absent", "empty"),
		row("InapplicableMembers", &a.InapplicableMembers, "nothing", "null where an object is usual", "absent"),
		row("EmptyLists", &a.EmptyLists, "nothing", "as lists do", "null", "object", "absent"),
		row("MemberOrder", &a.MemberOrder, "nothing", "that of the samples", "reversed"),
		row("UnknownMembers", &a.UnknownMembers, "response members may be added without a new version", "strict decoders break here first", "none", "caseVariants", "nested"),
		row("UnknownEnumValues", &a.UnknownEnumValues, "cardType may get values; others are not closed", "closed enumerations break here first", "false"),
		row("TransactionAnswers", &a.TransactionAnswers, "a Transaction Response Model; which members are optional is not stated", "as stated", "required", "receipt"),
		row("OtherAnswers", &a.OtherAnswers, "201 and 204 with or without a body, as listed", "as listed", "200", "empty", "nested", "204"),
		row("Metadata", &a.Metadata, "string key/value pairs supplied on the request", "as stated", "dropped", "refused"),
		row("ErrorForm", &a.ErrorForm, "the response body lists the errors; shape not shown", "that of public client code", "list", "texts", "map", "html", "empty"),
		row("ErrorStatusAsString", &a.ErrorStatusAsString, "public client code declares a string", "a client may expect the number", "false"),
		row("NullErrorList", &a.NullErrorList, "nothing", "null where a list is usual", "false"),
		row("HandleLength", &a.HandleLength, "identifiers may change form, up to 255 characters", "columns that are too short show at once"),
	}
}
