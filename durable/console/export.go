package console

import (
	"encoding/csv"
	"net/http"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/durable"
)

// mayTake is how long a part of a stream or of an export may take to be written.
const mayTake = time.Minute

// export writes a list as CSV page by page, the newest first.
func (c *console[TTx]) export(q request, _ string) {
	s := searchOf(q)
	g, err := c.glance(q.Context())
	if err != nil {
		c.fail(q, err)
		return
	}
	f, _, err := c.filter(s, g.now())
	if err != nil {
		c.message(q, http.StatusUnprocessableEntity, "Not exported", err.Error())
		return
	}
	f.Limit = 500
	q.w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	q.w.Header().Set("Content-Disposition", `attachment; filename="payments-`+g.now().In(c.sydney).Format(time.DateOnly)+`.csv"`)
	control, out := http.NewResponseController(q.w), csv.NewWriter(q.w)
	_ = out.Write([]string{"written", "changed", "id", "order", "what", "state", "amount", "currency", "receipt", "reference", "follows", "settles on", "business", "response code"})
	for asked := time.Now(); ; {
		if time.Since(asked) >= time.Minute {
			if p, err := c.opts.Authorize(q.Request); err != nil || !mayExport(p) {
				panic(http.ErrAbortHandler) // the file is not whole, and the browser has to say so
			}
			asked = time.Now()
		}
		page, err := c.engine.List(q.Context(), f)
		if err != nil {
			c.opts.Logger.ErrorContext(q.Context(), "console: an export broke off", "error", err)
			panic(http.ErrAbortHandler)
		}
		for _, w := range page.Writes {
			_ = out.Write(c.record(w))
		}
		out.Flush()
		_ = control.SetWriteDeadline(time.Now().Add(mayTake)) // not every writer has one
		_ = control.Flush()
		if f.After = page.Next; out.Error() != nil || page.Next == "" {
			return
		}
	}
}

// record is a line of the file.
func (c *console[TTx]) record(w durable.Write) []string {
	r := w
	settles := ""
	if !r.SettlesOn.IsZero() {
		settles = r.SettlesOn.String()
	}
	cells := []string{
		r.Written.In(c.sydney).Format(time.RFC3339), r.Changed.In(c.sydney).Format(time.RFC3339), r.ID, r.Order, what(r), r.Name(),
		r.Amount.StringFixed(2), string(r.Currency), receipt(r), r.Reference, follows(w), settles, r.Business, seenOf(r).ResponseCode,
	}
	for i, cell := range cells {
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) { // a spreadsheet would compute it
			cells[i] = "'" + cell
		}
	}
	return cells
}
