package sandbox

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCents(t *testing.T) {
	for in, want := range map[string]cents{"0": 0, "10": 1000, "10.5": 1050, "10.05": 1005, "-0.01": -1, "999999999999.99": 99999999999999} {
		got, err := parseCents(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "-", ".5", "5.", "1e2", "+1", "1.005", "1,000", "1 ", "1000000000000", "--1"} {
		_, err := parseCents(in)
		require.Error(t, err, in)
	}
	assert.Equal(t, "-12.03", cents(-1203).String())
	assert.Equal(t, []string{"$0.00", "$999.99", "$1,000.00", "-$1,234,567.89"},
		[]string{cents(0).display(), cents(99999).display(), cents(100000).display(), cents(-123456789).display()})
	assert.Equal(t, []cents{1, 0, 110}, []cents{cents(50).share(100), cents(49).share(100), cents(10000).share(110)})
	assert.Equal(t, "1.05", percentage(105))
}

func TestMaskCards(t *testing.T) {
	spaced := realPAN[:4] + " " + realPAN[4:8] + "-" + realPAN[8:]
	for in, want := range map[string]string{
		`{"cardNumber":"` + goodCard + `","cvn":"123"}`:           `{"cardNumber":"` + goodCard + `","cvn":"123"}`,
		`{"cvn": "123","cardNumber" : "` + realPAN + `"}`:         `{"cvn": "xxx","cardNumber" : "xxxxxxxxxxxxxxxx"}`,
		`{"cardNumber":1234,"cvn":123}`:                           `{"cardNumber":xxxx,"cvn":xxx}`,
		`card=` + spaced + `&x`:                                   `card=xxxx xxxx-xxxxxxxx&x`,
		`{"reference":"20260101120000123"}`:                       `{"reference":"20260101120000123"}`,
		`{"cardNumber":"` + goodCard + `","c":"` + realPAN + `"}`: `{"cardNumber":"` + goodCard + `","c":"xxxxxxxxxxxxxxxx"}`,
	} {
		assert.Equal(t, want, string(maskCards([]byte(in))))
	}
	assert.Nil(t, maskCards(nil))
}

func TestEveryAssumptionIsDescribed(t *testing.T) {
	for _, a := range DefaultAssumptions().List() {
		assert.NotEmpty(t, a.Known, a.Name)
		assert.NotEmpty(t, a.Why, a.Name)
	}
	box := New()
	defer box.Close()
	assert.Equal(t, DefaultAssumptions(), box.Assumptions())
}

// Every value of the table can be read, and prints as it was written.
func TestEveryValueOfEveryDimensionCanBeSet(t *testing.T) {
	for _, a := range DefaultAssumptions().List() {
		assert.Equal(t, len(a.Worlds), len(slices.Compact(slices.Sorted(slices.Values(a.Worlds)))), a.Name)
		for _, value := range a.Worlds {
			changed := DefaultAssumptions()
			require.NoError(t, changed.Set(a.Name, value))
			i := slices.IndexFunc(changed.List(), func(b Assumption) bool { return b.Name == a.Name })
			assert.Equal(t, value, changed.List()[i].Value, a.Name)
			assert.NotContains(t, value, " ", a.Name)
		}
	}
	changed := DefaultAssumptions()
	assert.ErrorContains(t, changed.Set("PageSize", "many"), "assumption PageSize")
	assert.ErrorContains(t, changed.Set("Colour", "red"), "no assumption")
}

// without takes out the members that answers have in addition.
func without(v any) any {
	switch v := v.(type) {
	case object:
		delete(v, "addedLater")
		for k := range v {
			v[k] = without(v[k])
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}
