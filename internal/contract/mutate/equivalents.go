package main

import "regexp"

// equivalent are mutants that no conformance test can or needs to notice.
type equivalent struct {
	mutants *regexp.Regexp // matched against the whole name of a mutant
	why     string
}

// equivalents is short on purpose: a survivor that is not listed fails the run,
// and so does a listed one that is killed.
func equivalents() []equivalent {
	list := func(pattern, why string) equivalent {
		return equivalent{regexp.MustCompile("^(?:" + pattern + ")$"), why}
	}
	return []equivalent{
		list(`intent\.go Intent\..*`, "what a merchant stores before the call; nothing of it is sent"),
		list(`(apikeys\.go apiKeyJSON|list\.go pageJSON|money\.go UnmarshalJSON|internal/wire/errorbody\.go ParseErrorBody)\..* removed`,
			"only read, and encoding/json reads a field under its own name in any case of letters"),
		list(`(threeds\.go ThreeDSResult\.Links|tokens\.go SingleUseToken\.ExpiresAt) json .*`, "no answer is documented to have it, so that none shows its name"),
		list(`sandbox/(paymentbatches\.go batchBody\.(FileID|AccountType|BusinessCode|Count|Total)|schedules\.go scheduleBody\.(CustomerID|AccountToken|BusinessCode|Frequency|ScheduleType|RegularAmount|NextPaymentDate)|tokens\.go browserProfile\.\w+) .*`,
			"the sandbox's own names for members that are not published"),
	}
}
