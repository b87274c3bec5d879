package csvreport_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
)

// decoded is all that Decode comes to.
func decoded[T any](t *testing.T, report string) (records []T, errs []error) {
	t.Helper()
	for record, err := range csvreport.Decode[T](open(t, report)) {
		records, errs = append(records, record), append(errs, err)
	}
	return records, errs
}

type place struct {
	Business string `csv:"Supplier Business Code"`
	Untagged string
}

type record struct {
	place
	Status   quickstream.TransactionStatus `csv:"Status"`
	Total    decimal.Decimal               `csv:"Total Amount"`
	Fee      *decimal.Decimal              `csv:"Fee"`
	Settled  quickstream.Date              `csv:"Settled"`
	At       quickstream.Timestamp         `csv:"At"`
	Voidable bool                          `csv:"Voidable"`
	Comment  *string                       `csv:"Comment"`
	Order    string                        `csv:"metadata_order"`
	Metadata map[string]string             `csv:"metadata_*"`
	unseen   int
}

func TestDecode(t *testing.T) {
	const header = "metadata_order,Comment,Voidable,At,Settled,Fee,Total Amount,Status,Supplier Business Code,New,metadata_shop\r\n"
	got, errs := decoded[record](t, header+
		"A-1,\"two\r\nlines\",yes,2024-02-02T23:11:12Z,03 Feb 2024,0.50,12.50,Approved,BUSINESSONE,?,Perth\r\n"+
		"A-2,,no,2024-02-02T23:11:13Z,2024-02-04,,-1,Declined,BUSINESSTWO,,")
	fee, comment := decimal.RequireFromString("0.50"), "two\r\nlines"
	at := time.Date(2024, 2, 2, 23, 11, 12, 0, time.UTC)
	want := []record{{
		place{Business: "BUSINESSONE"},
		"Approved", decimal.RequireFromString("12.50"), &fee, quickstream.NewDate(2024, 2, 3),
		quickstream.Timestamp{Time: at},
		true,
		&comment, "A-1",
		map[string]string{"order": "A-1", "shop": "Perth"},
		0,
	}, {
		place{Business: "BUSINESSTWO"},
		"Declined", decimal.RequireFromString("-1"), nil, quickstream.NewDate(2024, 2, 4),
		quickstream.Timestamp{Time: at.Add(time.Second)},
		false,
		nil, "A-2",
		map[string]string{"order": "A-2"},
		0,
	}}
	if err := errors.Join(errs...); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// Nothing of one record is left in the next, and a cell that cannot be read takes
// its record, not the report.
func TestDecodeGoesOnBehindABadCell(t *testing.T) {
	type line struct {
		Receipt string          `csv:"R"`
		Total   decimal.Decimal `csv:"T"`
	}
	got, errs := decoded[line](t, "R,T\r\nR1,1\r\nR2,"+canary+"\r\nR3,\r\nR4,4\r\nR5,\"5")
	var kinds []string
	for i, err := range errs {
		if err != nil {
			kinds = append(kinds, err.Error())
			secret(t, err)
			assert.Equal(t, line{}, got[i])
		}
	}
	want := []string{
		`csv report: record 2, line 3, column 2 "T": not an amount (1 records read before it)`,
		`csv report: record 3, line 4, column 2 "T": empty (2 records read before it)`,
		`csv report: record 5, line 6, column 2: the closing quote is missing (4 records read before it)`,
	}
	if !reflect.DeepEqual(kinds, want) || got[0].Receipt != "R1" || got[3].Receipt != "R4" || len(got) != 5 {
		t.Errorf("got %+v, %q", got, kinds)
	}
}

type refusing struct{ text string }

func (r *refusing) UnmarshalText(text []byte) error {
	r.text = string(text)
	return fmt.Errorf("cannot read %s", text)
}

// What an UnmarshalText of others says may show the cell, and is not repeated.
func TestDecodeKeepsCellsOutOfErrors(t *testing.T) {
	got, errs := decoded[struct {
		A refusing  `csv:"a"`
		B *refusing `csv:"b"`
	}](t, "b,a\r\n,"+canary+"\r\n"+canary+",")
	for _, err := range errs {
		assert.ErrorIs(t, err, csvreport.KindValue)
		secret(t, err)
	}
	if len(got) != 2 || got[0].A.text != "" || got[1].B != nil {
		t.Errorf("got %+v", got)
	}
}

// A struct that does not fit the report is refused before the first record.
func TestDecodeRefusesStructs(t *testing.T) {
	const report = "a,b,twice,twice,metadata_k\r\n" + canary + "," + canary + ",,,"
	refuse[int](t, report, "int is not a struct")
	refuse[struct{}](t, report, "no field of struct {} has a csv tag")
	refuse[struct {
		a string `csv:"a"`
	}](t, report, "the field a of")
	refuse[struct {
		A int `csv:"a"`
	}](t, report, "has a type that no cell is read into")
	refuse[struct {
		A string `csv:"metadata_*"`
	}](t, report, `column "metadata_*": no such column in the header`)
	refuse[struct {
		A string `csv:"twice"`
	}](t, report, `csv report: header, column "twice": several columns of this name in the header`)
}

func refuse[T any](t *testing.T, report, want string) {
	t.Helper()
	got, errs := decoded[T](t, report)
	if len(errs) != 1 || !reflect.ValueOf(&got[0]).Elem().IsZero() || !strings.Contains(fmt.Sprint(errs[0]), want) {
		t.Errorf("got %+v, %v, want %q", got, errs, want)
	}
}
