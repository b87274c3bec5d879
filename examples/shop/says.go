package main

import (
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// The tones of what is said.
const (
	toneOpen = "open"
	toneWait = "wait"
	toneGood = "good"
	toneBad  = "bad"
)

// said is what an order's page says of its payment.
type said struct{ Tone, Title, Text string }

// Which claim about the customer's money a page makes. The bar compares it with what the service has charged.
const (
	claimPaid    = "paid"
	claimNotPaid = "not paid"
	claimUnknown = "not known"
)

const (
	doNotPay = "Please do not pay again."
	payAgain = "You have not been charged. You can pay again below."
)

// say returns what the page says of a payment, in each state and for each reason.
func say(w durable.Write) said {
	switch w.State {
	case durable.StateQueued:
		return sayQueued(w)
	case durable.StateSending:
		return said{toneWait, "We are asking your bank", "This takes a moment. " + doNotPay}
	case durable.StatePending:
		if w.Reason == durable.ReasonSuspended {
			return said{toneWait, "Your payment is being checked", "It is held for a security check by the payment service. " + doNotPay}
		}
		return said{toneWait, "Your bank has your payment", "It is not finished yet. " + doNotPay}
	case durable.StateUnknown:
		return said{toneWait, "We are finding out", "The answer to your payment did not arrive. You may have been charged. We ask the payment service until we know. " + doNotPay}
	case durable.StateApproved:
		return sayPaid(w)
	case durable.StateDeclined:
		if w.Reason == durable.ReasonRefused {
			return said{toneBad, "Your payment was not accepted", payAgain}
		}
		return said{toneBad, "Your payment was declined", payAgain}
	case durable.StateNotSent:
		return sayNotSent(w)
	case durable.StateVoided:
		return said{toneOpen, "Your payment was cancelled", "The shop has cancelled it, and your money stays with you. You can pay again below."}
	case durable.StateReturned:
		return said{toneBad, "Your payment was returned", "You have the money back, and the order is not paid. You can pay again below."}
	case durable.StateNeedsPerson:
		if w.Reason == durable.ReasonDoubleCharged {
			return said{toneBad, "You were charged twice", "We have seen it, and one of the two payments will be refunded. You need to do nothing."}
		}
	}
	return said{toneWait, "We are looking into your payment", "A person finds out with the payment service what became of it. You may have been charged. " + doNotPay}
}

// sayQueued returns what the page says of a payment that waits to be sent.
func sayQueued(w durable.Write) said {
	switch {
	case w.Sends > 0:
		return said{toneWait, "We are checking your payment", "The payment service was busy. We look before we try again. " + doNotPay}
	case w.Failures > 0:
		return said{toneWait, "Your payment waits", "The payment service cannot be reached. You have not been charged yet. We try again by ourselves. " + doNotPay}
	default:
		return said{toneWait, "Your payment is on its way", "It is about to be sent to the payment service. " + doNotPay}
	}
}

// sayNotSent returns what the page says of a payment that was given up before it was sent.
func sayNotSent(w durable.Write) said {
	switch w.Reason {
	case durable.ReasonOtherPaid:
		return said{toneBad, "This payment was not sent", "Another payment of the order was found. You have not been charged by this one."}
	case durable.ReasonTooLate:
		return said{toneBad, "Your payment was not sent in time", payAgain}
	case durable.ReasonCancelled:
		return said{toneBad, "Your payment was cancelled", "The shop has cancelled it before it was sent. " + payAgain}
	default:
		return said{toneBad, "Your payment was not sent", payAgain}
	}
}

// sayPaid returns what the page says of a payment that took money, and of its refunds.
func sayPaid(w durable.Write) said {
	switch {
	case w.Refunded.IsZero():
		return said{toneGood, "Thank you. It is paid.", "You have been charged " + money(w.Amount) + " once. Your mug is on its way to you soon."}
	case w.Refunded.LessThan(w.Amount):
		return said{toneGood, "Paid, and refunded in part", "You have been charged " + money(w.Amount) + " once, and " + money(w.Refunded) + " was refunded."}
	default:
		return said{toneOpen, "Refunded", "You have been charged " + money(w.Amount) + " once, and all of it was refunded."}
	}
}

// sayAgreement returns what the page says of an unpaid order whose payer was asked for an agreement.
func sayAgreement(a agreement) said {
	switch {
	case a.Status == agreementAsked:
		return said{toneWait, "We are asking your bank", "You have not been charged. You can also pay another way."}
	case a.Waits():
		return said{toneWait, "Confirm it in your banking app", "Your bank has sent you a request of " + money(price()) + ". You have not been charged yet."}
	case a.Status == agreementFailed:
		return said{toneBad, "Your bank could not be asked", "You have not been charged. You can try again below."}
	case a.Status == string(quickstream.AgreementStatusActive):
		return said{toneWait, "Your bank has confirmed", "The payment is about to be made. " + doNotPay}
	default:
		return said{toneBad, "Your bank said no", payAgain}
	}
}

// money is an amount as people write it.
func money(amount decimal.Decimal) string { return "$" + amount.StringFixed(2) }

// account is an order with its payments, the newest first, and what is said of it.
type account struct {
	order
	said

	Claim     string
	Payment   durable.Write // the one that counts; zero if there is none
	Payments  []durable.Write
	FollowUps []durable.Write // refunds and voids
	Agreement agreement       // the newest, if it says more than the payment
	Asked     int             // agreements so far
	MayPay    bool
}

// Attempt is the id of the payment that the order's form makes.
func (a account) Attempt() string { return attemptOf(a.ID, len(a.Payments)) }

// Bank reports whether the payer has to answer in their banking app.
func (a account) Bank() bool { return a.MayPay && a.Agreement.Waits() }

// accountOf judges an order by the writes of the engine, the newest first.
func accountOf(o order, writes []durable.Write, asked []agreement) account {
	a := account{order: o, said: said{toneOpen, "Not paid yet", "You have not been charged."}, Claim: claimNotPaid, MayPay: true, Asked: len(asked)}
	for _, w := range writes {
		if w.IsPayment() {
			a.Payments = append(a.Payments, w)
		} else {
			a.FollowUps = append(a.FollowUps, w)
		}
	}
	if len(a.Payments) > 0 {
		a.Payment = a.Payments[max(0, slices.IndexFunc(a.Payments, counts))]
		a.said, a.MayPay, a.Claim = say(a.Payment), a.Payment.MayPayAgain(), claimUnknown
	}
	moving := slices.ContainsFunc(a.FollowUps, func(w durable.Write) bool { return w.State.InProgress() || w.State == durable.StateNeedsPerson })
	switch {
	case moving && a.Payment.Paid():
		a.Text += " A refund of it is under way."
	case a.Payment.Paid() && a.Payment.State == durable.StateApproved:
		a.Claim = claimPaid
	case a.MayPay && !slices.ContainsFunc(a.Payments, func(w durable.Write) bool { return !w.MayPayAgain() }):
		a.Claim = claimNotPaid
	}
	if len(asked) > 0 {
		a.Agreement = asked[len(asked)-1]
	}
	if current := a.Agreement; current.Order != "" && a.MayPay && (len(a.Payments) == 0 || a.Attempt() == current.Attempt) {
		a.said = sayAgreement(current)
	}
	return a
}

// counts reports whether a payment says how its order stands, as [durable.Engine.PaymentOf] does.
func counts(w durable.Write) bool { return !w.MayPayAgain() }

// label is a state in words.
func label(w durable.Write) string {
	return strings.ReplaceAll(w.Text(), "needs person", "a person looks into it")
}
