package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

//nolint:gochecknoglobals // an immutable table
var payerActions = []sandbox.PayerAction{
	sandbox.ConfirmAgreement, sandbox.DeclineAgreement, sandbox.ExpireAgreement, sandbox.SuspendAgreement, sandbox.ReactivateAgreement,
	sandbox.CancelAgreement, sandbox.AcceptAmendment, sandbox.RefuseAmendment,
}

func payerActionNames() string {
	names := make([]string, len(payerActions))
	for i, action := range payerActions {
		names[i] = string(action)
	}
	return strings.Join(names, ", ")
}

func (c *control) answerAgreement(token, name string) error {
	action := sandbox.PayerAction(name)
	if !slices.Contains(payerActions, action) {
		return fmt.Errorf("no action %q: use one of %s", name, payerActionNames())
	}
	return c.box.Payer(token, action)
}
