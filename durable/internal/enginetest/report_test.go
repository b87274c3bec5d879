package enginetest

import (
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// reportColumns are the columns of the sandbox's reports.
func reportColumns() durable.ReportColumns {
	return durable.ReportColumns{
		ReceiptNumber: "Receipt Number", Status: "Status", SummaryCode: "Summary Code",
		PrincipalAmount: "Principal Amount", Currency: "Currency", ResponseCode: "Response Code",
		TransactionType: "Transaction Type", OriginalReceiptNumber: "Original Receipt Number",
		PaymentReferenceNumber: "Payment Reference Number", Intent: "metadata_intentId",
	}
}

func TestCompareReport(t *testing.T) {
	everywhere(t, testCompareReport[*sql.Tx], testCompareReport[pgx.Tx])
}

// The comparison by the merchant's report finds what the one by the list finds, and applies
// the service's word.
func testCompareReport[TTx any](t *testing.T, db store[TTx]) {
	s, told := compared(t, db)
	s.settled(s.pay("agrees", s.card(sandbox.CardAttempted)))
	for name, set := range map[string]string{
		"late": isResolving, "not found": isNotFound, "missing there": "receipt = 'R-2', intent_id = '', reference = ''",
	} {
		s.corrupt(set, s.settled(s.pay(name, s.card(sandbox.CardAttempted))).ID)
	}
	s.corrupt("amount = $2", s.settled(s.pay("amount", s.card(sandbox.CardAttempted))).ID, decimal.New(9999, -2))
	s.lose("missing here")
	day := s.settled(s.pay("last", s.card(sandbox.CardAttempted))).SettlesOn
	s.clock.Advance(time.Minute)
	var report strings.Builder
	params := quickstream.ReportParams{SettlementDate: day, Columns: reportColumns().Names()}
	_, err := s.client.Transactions.DownloadReport(t.Context(), &report, params)
	require.ErrorIs(t, err, quickstream.ErrReportNotReady)
	s.clock.Advance(time.Hour)
	_, err = s.client.Transactions.DownloadReport(t.Context(), &report, params)
	require.NoError(t, err)
	compare := func(report string, columns durable.ReportColumns) error {
		return s.engine.CompareReport(t.Context(), day, strings.NewReader(report), columns)
	}
	damaged := strings.Replace(report.String(), ",12.34,", ",12.3x4,", 1)
	require.NoError(t, compare(damaged, reportColumns()))
	assert.ElementsMatch(t, []string{
		": unreadable", "amount: amount", "late: late", "not found: not_found_but_charged", "missing there: missing_there", "missing there: double_charged", "missing here: missing_here",
	}, told.kinds(), "one record cannot be read, and is not missing: the service has it")
	assert.Equal(t, []string{approved, approved}, s.states("late"))
	last := s.status().Comparison
	assert.Equal(t, []any{day, 7, time.Time{}}, []any{last.Day, last.Differences, last.FailingSince})
	assert.Positive(t, last.Transactions)
	for name, change := range map[string]func(*durable.ReportColumns){
		"absent":     func(c *durable.ReportColumns) { c.Currency = "Währung" },
		"not named":  func(c *durable.ReportColumns) { c.Status = "" },
		"misspelled": func(c *durable.ReportColumns) { c.PrincipalAmount = "principal amount" },
	} {
		columns := reportColumns()
		change(&columns)
		err := compare(report.String(), columns)
		require.Error(t, err, name)
		if name != "not named" {
			require.ErrorIs(t, err, csvreport.KindNoColumn, name)
		}
		failing := s.status().Comparison
		assert.Equal(t, day, failing.Day, "what was compared stays")
		assert.False(t, failing.FailingSince.IsZero(), name)
		assert.Contains(t, failing.Problem, "column", name)
	}
	require.ErrorIs(t, compare(report.String()[:report.Len()-60], reportColumns()), csvreport.KindShortRecord, "it was cut off")
	assert.Empty(t, told.kinds())
}

// The nightly comparison reads the report, where its columns are named.
func TestCompareNightlyReport(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	told, columns := new(differences), reportColumns()
	s := open(t, onFile(t, t.TempDir()+"/shop.db"))
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.corrupt("amount = $2", p.ID, decimal.New(1, 0))
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(t, err)
	s.clock.Advance(p.SettlesOn.AddDays(1).In(sydney).Add(5 * time.Hour).Sub(s.clock.Now()))
	params := quickstream.ReportParams{SettlementDate: p.SettlesOn, Columns: columns.Names()}
	_, err = s.client.Transactions.DownloadReport(t.Context(), io.Discard, params)
	require.ErrorIs(t, err, quickstream.ErrReportNotReady)
	s.clock.Advance(time.Hour)
	nightly := s.start(func(o *durable.Options[*sql.Tx]) {
		o.OnDifference, o.CompareAt, o.Report = told.tell, &resolve.TimeOfDay{Hour: 4}, &columns
	})
	require.Eventually(t, func() bool {
		told.mu.Lock()
		defer told.mu.Unlock()
		return len(told.told) == 1
	}, 2*time.Minute, 50*time.Millisecond)
	assert.Equal(t, []string{"A: amount"}, told.kinds())
	require.NoError(t, nightly.Stop(t.Context()))
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "quickstream-report-*.csv"))
	require.NoError(t, err)
	assert.Empty(t, left, "what was downloaded is removed")
}

// A voided payment agrees with the report, whether that shows its amount or nothing.
func TestCompareReportOfAVoid(t *testing.T) {
	s, told := compared(t, onFile(t, t.TempDir()+"/shop.db"))
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.settled(s.reverse(p.ID))
	for _, amount := range []string{"0.00", "12.34"} {
		report := "Receipt Number,Status,Summary Code,Principal Amount,Currency\r\n" + p.ReceiptNumber + ",Voided,0," + amount + ",AUD"
		columns := durable.ReportColumns{
			ReceiptNumber: "Receipt Number", Status: "Status", SummaryCode: "Summary Code",
			PrincipalAmount: "Principal Amount", Currency: "Currency",
		}
		require.NoError(t, s.engine.CompareReport(t.Context(), p.SettlesOn, strings.NewReader(report), columns))
		assert.Empty(t, told.kinds(), amount)
	}
}
