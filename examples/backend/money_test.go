package main

import (
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestVoidThatComesLateOrNever(t *testing.T) {
	for name, kind := range map[string]sandbox.FaultKind{
		"late": sandbox.CommitLate(90 * time.Minute), "never": sandbox.ResetBeforeCommit(),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if _, err := f.card("A", sandbox.CardAttempted); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				if err := f.box.Inject(sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: kind, Times: 1}); err != nil {
					t.Fatal(err)
				}
				if _, err := f.GiveBack(t.Context(), "A"); err != nil {
					t.Fatal(err)
				}
				f.nights(7)
				if name == "late" {
					f.expect("A", KindVoid, Done, 0)
				} else {
					f.expect("A", KindVoid, Failed, 1)
					if _, err := f.GiveBack(t.Context(), "A"); err != nil {
						t.Fatal(err)
					}
					f.expect("A", quickstream.TransactionTypeRefund, Done, 1)
				}
				if net := f.box.Ledger().Net("A"); net != 0 {
					t.Errorf("the order cost %d cents in the end", net)
				}
			})
		})
	}
}

func TestMoneyIsGivenBackOnce(t *testing.T) {
	cases := []struct {
		name  string
		after time.Duration
		kind  quickstream.TransactionType
		op    string
	}{
		{"before settlement", time.Minute, KindVoid, "POST /transactions/{receiptNumber}/void"},
		{"after settlement", 48 * time.Hour, quickstream.TransactionTypeRefund, pay},
	}
	for _, c := range cases {
		for _, lost := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, f *fixture) {
					if _, err := f.card("A", sandbox.CardAttempted); err != nil {
						t.Fatal(err)
					}
					<-time.After(c.after)
					if lost {
						if err := f.box.Inject(sandbox.Fault{Operation: c.op, Kind: sandbox.ResetAfterCommit()}); err != nil {
							t.Fatal(err)
						}
					}
					row, err := f.GiveBack(t.Context(), "A")
					if err != nil || (row.Status() == Open) != lost {
						t.Fatal(row.Status(), err)
					}
					f.box.ClearFaults()
					<-time.After(time.Minute)
					if _, err := f.GiveBack(t.Context(), "A"); err == nil {
						t.Error("given back again")
					}
					f.nights(3)
					if _, err := f.GiveBack(t.Context(), "A"); err == nil {
						t.Error("given back again")
					}
					charges := 1
					if c.kind == KindVoid {
						charges = 0
					}
					f.expect("A", c.kind, Done, charges)
					if net := f.box.Ledger().Net("A"); net != 0 {
						t.Errorf("the order cost %d cents in the end", net)
					}
				})
			})
		}
	}
}

func TestReportMatchesTheBooks(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		for _, order := range []string{"A", "B", "C"} {
			if _, err := f.card(order, sandbox.CardAttempted); err != nil {
				t.Fatal(err)
			}
		}
		day := f.Store.Rows()[0].State.Seen.SettlementDate
		<-time.After(time.Minute)
		if _, err := f.GiveBack(t.Context(), "B"); err != nil {
			t.Fatal(err)
		}
		<-time.After(48 * time.Hour)
		refund, err := f.GiveBack(t.Context(), "C")
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(48 * time.Hour)
		for _, day := range []quickstream.Date{day, refund.State.Seen.SettlementDate} {
			differences, err := f.Compare(t.Context(), day)
			if err != nil || len(differences) != 0 {
				t.Error(differences, err)
			}
		}
		f.Store = NewStore()
		if differences, err := f.Compare(t.Context(), day); err != nil || len(differences) != 2 {
			t.Error(differences, err)
		}
	})
}
