package conformance

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// formats are the values of fields that take no free text, by field, by type and
// field, or by the name of a parameter of the path. A verb in them stands for a number that differs from field to field.
var formats = map[string]string{
	"CardNumber":                         "4242424242424242",
	"firstSixDigits":                     "424242",
	"firstSix":                           "424242",
	"lastThree":                          "242",
	"bsb":                                "032-002",
	"accountNumber":                      "0034141",
	"bankCode":                           "03",
	"branchCode":                         "0123",
	"CVN":                                "123",
	"BSB":                                "032-002",
	"AgreementPayerParams.BSB":           "650000",
	"AccountNumber":                      "123465",
	"NZBankAccountDetails.AccountNumber": "0034141",
	"NZBankAccountDetails.BankCode":      "03",
	"NZBankAccountDetails.BranchCode":    "0123",
	"NZBankAccountDetails.AccountSuffix": "01",
	"PayID":                              "payer@example.com",
	"Language":                           "en-AU",
	"HomePhone":                          "+61200000001",
	"MobilePhone":                        "+61400000002",
	"WorkPhone":                          "+61200000003",
	"Email":                              "sam@example.com",
	"DeliveryEmail":                      "gift@example.com",
	"GiftCardCurrency":                   "840",
	"ThreeDSAddress.State":               "S%d",
	"ThreeDSAddress.Country":             "0%d",
}

// numbers are the values of fields that take a whole number outside 10 to 99.
var numbers = map[string]int64{
	"ScreenHeight": 1080,
	"ScreenWidth":  1920,
	"ColorDepth":   24,
	"TZ":           -600,
	"PointInTime":  5,
}

// values fills parameters, and remembers what it filled them with.
type values struct {
	constants map[string][]string // of enumerations
	next      int
	// from says which field a value is from. It is begun again with every call.
	from map[string]string
	// problems are fields that nothing here knows a value for.
	problems []string
}

// place is where a value stands: the path from the parameters, and the type and
// name of the field.
type place struct{ path, owner, field string }

// fill returns parameters with a valid value in every field that is not an
// interface; edits then choose between what excludes each other.
func fill[T any](v *values, edits ...func(*T)) T {
	var params T
	refill(v, &params, edits...)
	return params
}

// refill is fill for parameters that are made by something else.
func refill[T any](v *values, params *T, edits ...func(*T)) {
	root := reflect.ValueOf(params).Elem()
	v.set(root, place{path: root.Type().Name()})
	for _, edit := range edits {
		edit(params)
	}
}

func (v *values) set(at reflect.Value, p place) {
	v.next++
	switch to := at.Addr().Interface().(type) {
	case *quickstream.Secret:
		*to = quickstream.NewSecret(v.text(p))
		return
	case *decimal.Decimal:
		*to = decimal.New(int64(1000+v.next), -2)
		v.from[to.StringFixed(2)] = p.path
		return
	case *quickstream.Date:
		*to = quickstream.NewDate(2027, time.January, v.next)
		v.from[to.String()], v.from[strings.ReplaceAll(to.String(), "-", "")] = p.path, p.path
		return
	case *quickstream.YearMonth:
		*to = quickstream.YearMonth{Year: 2031, Month: time.February}
		return
	case *netip.Addr:
		*to = netip.MustParseAddr("203.0.113.7")
		return
	}
	switch at.Kind() {
	case reflect.Struct:
		for i := range at.NumField() {
			if f := at.Type().Field(i); f.IsExported() {
				v.set(at.Field(i), place{p.path + "." + f.Name, at.Type().Name(), f.Name})
			}
		}
	case reflect.Pointer:
		if isModel(at.Type()) {
			return // an object as it was read, which the call provides
		}
		at.Set(reflect.New(at.Type().Elem()))
		v.set(at.Elem(), p)
	case reflect.Slice:
		at.Set(reflect.MakeSlice(at.Type(), 1, 1))
		v.set(at.Index(0), p)
	case reflect.Map:
		at.Set(reflect.MakeMap(at.Type()))
		at.SetMapIndex(reflect.ValueOf(p.field), reflect.ValueOf(v.text(p)))
	case reflect.Bool:
		at.SetBool(true)
	case reflect.Int, reflect.Int64:
		at.SetInt(cmp.Or(numbers[p.field], int64(10+v.next%90)))
		v.from[fmt.Sprint(at.Int())] = p.path
	case reflect.String:
		if (p.owner == "ThreeDSOrder" || p.owner == "ThreeDSAccount") && codes[p.field] {
			at.SetString("01")
		} else if at.Type() == reflect.TypeFor[string]() {
			at.SetString(v.text(p))
		} else if known := v.constants[at.Type().Name()]; len(known) > 0 {
			at.SetString(known[0])
		} else {
			v.problems = append(v.problems, p.path+" is a "+at.Type().Name()+", which has no constants")
		}
	case reflect.Interface, reflect.Func:
	default:
		v.problems = append(v.problems, p.path+" is a "+at.Type().String())
	}
}

// codes are the members of 3D Secure that hold a code of two digits.
var codes = map[string]bool{
	"Delivery": true, "Availability": true, "Reorder": true, "Shipping": true, "Age": true, "ChangeAge": true, "PasswordAge": true,
	"PaymentAccountAge": true, "ShippingAddressAge": true, "ShippingName": true, "Suspicion": true,
}

// isModel reports a pointer to a response.
func isModel(t reflect.Type) bool {
	_, ok := t.MethodByName("Extra")
	return ok
}

func (v *values) text(p place) string {
	text := cmp.Or(formats[p.owner+"."+p.field], formats[p.field], p.field+"-%d")
	if strings.Contains(text, "%d") {
		text = fmt.Sprintf(text, 10+v.next%90)
	}
	v.from[text] = p.path
	return text
}
