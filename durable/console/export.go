package console

import (
	"encoding/csv"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/durable"
)

// export writes a list as CSV page by page, the newest first.
func (c *console[TTx]) export(q request, _ string) {
	f, err := c.filter(searchOf(q))
	if err != nil {
		c.message(q, http.StatusUnprocessableEntity, "Not exported", err.Error())
		return
	}
	f.Limit = 500
	q.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	q.w.Header().Set("Content-Disposition", `attachment; filename="payments-`+time.Now().In(c.sydney).Format(time.DateOnly)+`.csv"`)
	control, out := http.NewResponseController(q.w), csv.NewWriter(q.w)
	_ = out.Write([]string{"written", "changed", "id", "order", "title", "what", "state", "amount", "currency", "receipt", "reference", "follows", "settles on", "business"})
	for more := true; more && out.Error() == nil; more = f.After != "" {
		page, err := c.engine.List(q.Context(), f)
		if err != nil {
			c.opts.Logger.ErrorContext(q.Context(), "console: an export broke off", "error", err)
			panic(http.ErrAbortHandler)
		}
		for _, w := range page.Writes {
			_ = out.Write(c.record(w))
		}
		out.Flush()
		_ = control.SetWriteDeadline(time.Now().Add(time.Minute)) // for the next part; not every writer has one
		_ = control.Flush()
		f.After = page.Next
	}
}

// record returns a line of the file, escaped so that a spreadsheet computes nothing.
func (c *console[TTx]) record(w durable.Write) []string {
	cells := []string{
		w.Written.In(c.sydney).Format(time.RFC3339), w.Changed.In(c.sydney).Format(time.RFC3339), w.ID, w.Order, w.Title, what(w), w.Name(),
		w.Amount.StringFixed(2), string(w.Currency), w.ReceiptNumber, w.Reference, w.Follows, w.SettlementDate.String(), w.SupplierBusinessCode,
	}
	for i, cell := range cells {
		cells[i] = csvreport.EscapeFormulas(cell)
	}
	return cells
}
