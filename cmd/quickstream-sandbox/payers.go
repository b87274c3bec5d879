package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// payerAction is what a payer does to an agreement.
type payerAction struct {
	name string
	do   func(sandbox.Agreement) error
}

func payerActions() []payerAction {
	answer := func(accept bool) func(sandbox.Agreement) error {
		return func(a sandbox.Agreement) error { return a.AnswerAmendment(accept) }
	}
	return []payerAction{
		{"confirm", sandbox.Agreement.Confirm},
		{"decline", sandbox.Agreement.Decline},
		{"expire", sandbox.Agreement.LetExpire},
		{"suspend", sandbox.Agreement.Suspend},
		{"reactivate", sandbox.Agreement.Reactivate},
		{"cancel", sandbox.Agreement.Cancel},
		{"accept-amendment", answer(true)},
		{"refuse-amendment", answer(false)},
	}
}

func payerActionNames() string {
	var names []string
	for _, a := range payerActions() {
		names = append(names, a.name)
	}
	return strings.Join(names, ", ")
}

func (c *control) agreements(*http.Request) (any, error) { return c.box.Agreements(), nil }

func (c *control) agreement(r *http.Request) (any, error) {
	return nil, c.answerAgreement(r.PathValue("agreementToken"), r.PathValue("action"))
}

func (c *control) answerAgreement(token, action string) error {
	for _, a := range payerActions() {
		if a.name == action {
			return a.do(c.box.Agreement(token))
		}
	}
	return fmt.Errorf("no action %q: use one of %s", action, payerActionNames())
}

func (c *control) challenges(*http.Request) (any, error) { return c.box.Challenges(), nil }

func (c *control) answerChallenge(r *http.Request) (any, error) {
	return nil, c.box.AnswerChallenge(r.PathValue("singleUseTokenId"), sandbox.TransStatus(r.PathValue("transStatus")))
}
