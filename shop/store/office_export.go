package store

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/csvreport"
)

// export writes all payments as a table for a spreadsheet. It reads them first, so that a
// slow browser does not keep the database.
func (s *server) export(w http.ResponseWriter, r *http.Request) {
	rows, err := s.db.QueryContext(r.Context(), paidOrders)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	payments, err := all(rows, scanPaid)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="payments.csv"`)
	out := csv.NewWriter(w)
	out.UseCRLF = true
	line := func(cells ...string) {
		for i, cell := range cells {
			cells[i] = csvreport.Safe(cell) // no formula, whoever has typed it
		}
		_ = out.Write(cells) // Flush writes them
	}
	line("Order", "Placed", "Item", "Amount AUD", "State", "Given back AUD", "Receipt")
	for _, p := range payments {
		line(p.ID, time.UnixMicro(p.Created).UTC().Format(time.RFC3339), p.Item, plain(p.Amount), p.State, plain(p.Returned), p.Receipt)
	}
	out.Flush() // the browser may have gone
}

// plain shows an amount of cents as spreadsheets read it.
func plain(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
