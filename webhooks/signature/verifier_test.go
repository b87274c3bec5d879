package signature_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The signatures below were computed with openssl dgst -sha256 -hmac, over
// stamp + "." + body.
const (
	current  = "current-secret"
	previous = "previous-secret"

	stamp = "1707312770123"
	body  = `{"id":"8e3c"}`

	hexCurrent    = "c46e76422fce898b9d1fa109d309efe85b008f63bee06a3f9792f4b6bc7f4618"
	base64Current = "xG52Qi/OiYudH6EJ0wnv6FsAj2O+4Go/l5L0trx/Rhg="
	hexPrevious   = "d9a5ce34d0616c72649e3cac607350a5d92f3cc1d676d050dd4f323c8df5182f"
	hexEmptyBody  = "167466de1b5840363d7da7fec5862d7fae9465244f5de4226c8c9b46273f0eeb"
	hexSeconds    = "00abf804d3ed3af23f8b69e6a714b7404ab5545ef5546fce32ba61c5fe730d9a" // stamp in seconds
)

var signedAt = time.UnixMilli(1707312770123)

func clock(at time.Time) signature.Option {
	return signature.WithClock(func() time.Time { return at })
}

func newVerifier(t *testing.T, opts ...signature.Option) *signature.Verifier {
	t.Helper()
	opts = append([]signature.Option{clock(signedAt)}, opts...)
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{current, previous}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVerify(t *testing.T) {
	t.Parallel()
	const genuine = "t=" + stamp + ",v1=" + hexCurrent
	wrong := strings.Repeat("0", len(hexCurrent))
	flipped := "d" + hexCurrent[1:] // c and d differ in one bit

	tests := []struct {
		name   string
		header []string
		body   string
		want   error
	}{
		{"hex", []string{genuine}, body, nil},
		{"upper case hex", []string{"t=" + stamp + ",v1=" + strings.ToUpper(hexCurrent)}, body, nil},
		{"base64", []string{"t=" + stamp + ",v1=" + base64Current}, body, nil},
		{"previous secret", []string{"t=" + stamp + ",v1=" + hexPrevious}, body, nil},
		{"v1 before t", []string{"v1=" + hexCurrent + ",t=" + stamp}, body, nil},
		{"unknown v0", []string{"t=" + stamp + ",v0=" + wrong + ",v1=" + hexCurrent}, body, nil},
		{"unknown element twice", []string{"t=" + stamp + ",x=1,x=2,v1=" + hexCurrent}, body, nil},
		{"right one among five", []string{"t=" + stamp + strings.Repeat(",v1="+wrong, 4) + ",v1=" + hexCurrent}, body, nil},
		{"undecodable beside the right one", []string{"t=" + stamp + ",v1=zz,v1=" + hexCurrent}, body, nil},
		{"empty body", []string{"t=" + stamp + ",v1=" + hexEmptyBody}, "", nil},

		{"no header", nil, body, signature.ErrMissing},
		{"empty header", []string{""}, body, signature.ErrMissing},

		{"sent twice", []string{genuine, genuine}, body, signature.ErrMalformed},
		{"sent twice, once empty", []string{"", genuine}, body, signature.ErrMalformed},
		{"sent twice, joined by a proxy", []string{genuine + ", " + genuine}, body, signature.ErrMalformed},
		{"no t", []string{"v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"no v1", []string{"t=" + stamp}, body, signature.ErrMalformed},
		{"only v0", []string{"t=" + stamp + ",v0=" + hexCurrent}, body, signature.ErrMalformed},
		{"two t", []string{"t=" + stamp + ",t=" + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"two t, one empty", []string{"t=,t=" + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"empty t", []string{"t=,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"empty v1", []string{"t=" + stamp + ",v1="}, body, signature.ErrMalformed},
		{"negative t", []string{"t=-" + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"signed t", []string{"t=+" + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"t in seconds", []string{"t=1707312770,v1=" + hexSeconds}, body, signature.ErrMalformed},
		{"t in microseconds", []string{"t=" + stamp + "000,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"t beyond int64", []string{"t=9223372036854775808,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"t that wraps round to the right one", []string{"t=18446745781022321739,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"float t", []string{"t=" + stamp + ".0,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"exponent t", []string{"t=1.707312770e12,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"hexadecimal t", []string{"t=0x18d83c56c4b,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"letter in t", []string{"t=17073127701x3,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"leading zero", []string{"t=0707312770123,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"other digits", []string{"t=١٧٠٧٣١٢٧٧٠١٢٣,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"space after comma", []string{"t=" + stamp + ", v1=" + hexCurrent}, body, nil},
		{"blanks around a comma", []string{"v1=" + hexCurrent + " \t, \tt=" + stamp}, body, nil},
		{"two t, the second after a blank", []string{genuine + ", t=" + stamp}, body, signature.ErrMalformed},
		{"space before equals", []string{"t =" + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"space inside v1", []string{"t=" + stamp + ",v1=" + hexCurrent[:32] + " " + hexCurrent[32:]}, body, signature.ErrMalformed},
		{"line break", []string{"t=" + stamp + ",\nv1=" + hexCurrent}, body, signature.ErrMalformed},
		{"space before value", []string{"t= " + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"space in front", []string{" " + genuine}, body, nil},
		{"space behind", []string{genuine + " "}, body, nil},
		{"tab", []string{"t=" + stamp + ",\tv1=" + hexCurrent}, body, nil},
		{"NUL", []string{genuine + "\x00"}, body, signature.ErrMalformed},
		{"not ASCII", []string{genuine + ",é=1"}, body, nil},
		{"trailing comma", []string{genuine + ","}, body, nil},
		{"leading comma", []string{"," + genuine}, body, nil},
		{"semicolon", []string{"t=" + stamp + ";v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"element without value", []string{genuine + ",v2"}, body, nil},
		{"element without name", []string{genuine + ",=1"}, body, nil},
		{"upper case names", []string{"T=" + stamp + ",V1=" + hexCurrent}, body, signature.ErrMalformed},
		{"only the signature", []string{hexCurrent}, body, signature.ErrMalformed},
		{"six v1", []string{genuine + strings.Repeat(",v1="+wrong, 5)}, body, signature.ErrMalformed},
		{"10,000 v1", []string{"t=" + stamp + strings.Repeat(",v1="+hexCurrent, 10_000)}, body, signature.ErrMalformed},
		{"10,000 unknown elements", []string{genuine + strings.Repeat(",v0=0", 10_000)}, body, signature.ErrMalformed},

		{"bit flip", []string{"t=" + stamp + ",v1=" + flipped}, body, signature.ErrMismatch},
		{"truncated", []string{"t=" + stamp + ",v1=" + hexCurrent[:62]}, body, signature.ErrMismatch},
		{"odd number of hex digits", []string{"t=" + stamp + ",v1=" + hexCurrent[:63]}, body, signature.ErrMismatch},
		{"extended", []string{"t=" + stamp + ",v1=" + hexCurrent + "00"}, body, signature.ErrMismatch},
		{"very long", []string{"t=" + stamp + ",v1=" + strings.Repeat(hexCurrent, 100)}, body, signature.ErrMismatch},
		{"neither hex nor base64", []string{"t=" + stamp + ",v1=" + strings.Repeat("g", 64)}, body, signature.ErrMismatch},
		{"base64 truncated", []string{"t=" + stamp + ",v1=" + base64Current[:40]}, body, signature.ErrMismatch},
		{"base64 with stray bits", []string{"t=" + stamp + ",v1=" + strings.Replace(base64Current, "hg=", "hh=", 1)}, body, signature.ErrMismatch},
		{"base64 of another alphabet", []string{"t=" + stamp + ",v1=" + strings.NewReplacer("/", "_", "+", "-").Replace(base64Current)}, body, signature.ErrMismatch},
		{"five wrong", []string{"t=" + stamp + strings.Repeat(",v1="+wrong, 5)}, body, signature.ErrMismatch},
		{"right signature under v0", []string{"t=" + stamp + ",v0=" + hexCurrent + ",v1=" + wrong}, body, signature.ErrMismatch},
		{"signature of another time", []string{"t=1707312770124,v1=" + hexCurrent}, body, signature.ErrMismatch},
		{"body changed", []string{genuine}, `{"id":"8e3d"}`, signature.ErrMismatch},
		{"body formatted anew", []string{genuine}, `{"id": "8e3c"}`, signature.ErrMismatch},
		{"body with a line break", []string{genuine}, body + "\n", signature.ErrMismatch},
		{"body gone", []string{genuine}, "", signature.ErrMismatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t)
			var form error // which needs no body
			if errors.Is(test.want, signature.ErrMissing) || errors.Is(test.want, signature.ErrMalformed) {
				form = test.want
			}
			if err := signature.CheckHeader(test.header); !errors.Is(err, form) {
				t.Errorf("the form alone: got %v, want %v", err, form)
			}
			// A second time too, so that nothing of the first stays behind.
			for range 2 {
				if err := v.Verify(test.header, []byte(test.body)); !errors.Is(err, test.want) {
					t.Fatalf("got %v, want %v", err, test.want)
				}
			}
			if err := v.Verify([]string{genuine}, []byte(body)); err != nil {
				t.Fatalf("a genuine notification afterwards: %v", err)
			}
		})
	}
}

func TestVerifyEveryBit(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	sum, err := base64.StdEncoding.DecodeString(base64Current)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(sum) * 8 {
		changed := bytes.Clone(sum)
		changed[bit/8] ^= 1 << (bit % 8)
		header := "t=" + stamp + ",v1=" + base64.StdEncoding.EncodeToString(changed)
		if err := v.Verify([]string{header}, []byte(body)); !errors.Is(err, signature.ErrMismatch) {
			t.Fatalf("bit %d flipped: %v", bit, err)
		}
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	header := []string{"t=" + stamp + ",v1=" + hexCurrent}
	tests := []struct {
		name      string
		tolerance time.Duration // 0: not set
		now       time.Time
		want      error
	}{
		{"same moment", 0, signedAt, nil},
		{"default, exactly at the edge", 0, signedAt.Add(5 * time.Minute), nil},
		{"default, just past the edge", 0, signedAt.Add(5*time.Minute + 1), signature.ErrTooOld},
		{"default, exactly at the far edge", 0, signedAt.Add(-5 * time.Minute), nil},
		{"default, just before the far edge", 0, signedAt.Add(-5*time.Minute - 1), signature.ErrTooNew},
		{"set, exactly at the edge", time.Second, signedAt.Add(time.Second), nil},
		{"set, just past the edge", time.Second, signedAt.Add(time.Second + 1), signature.ErrTooOld},
		{"set, exactly at the far edge", time.Second, signedAt.Add(-5 * time.Minute), nil},
		{"set, just before the far edge", 7 * 24 * time.Hour, signedAt.Add(-5*time.Minute - 1), signature.ErrTooNew},
		{"clock at its zero", 0, time.Time{}, signature.ErrTooNew},
		{"clock far ahead", 0, signedAt.AddDate(5000, 0, 0), signature.ErrTooOld},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			opts := []signature.Option{clock(test.now)}
			if test.tolerance != 0 {
				opts = append(opts, signature.WithTolerance(test.tolerance))
			}
			if err := newVerifier(t, opts...).Verify(header, []byte(body)); !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
		})
	}
}

// What was signed once and is delivered for days is for a receiver that remembers
// longer than that. Ahead of the clock nothing changes.
func TestVerifyWithin(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	header := []string{"t=" + stamp + ",v1=" + hexCurrent}
	for age, want := range map[time.Duration]error{
		week: nil, week + 1: signature.ErrTooOld, -5 * time.Minute: nil, -5*time.Minute - 1: signature.ErrTooNew,
	} {
		signed, err := newVerifier(t, clock(signedAt.Add(age))).VerifyWithin(week, header, []byte(body))
		if !errors.Is(err, want) || err == nil && !signed.Equal(signedAt) || err != nil && !signed.IsZero() {
			t.Errorf("%v old: %v, %v", age, signed, err)
		}
	}
}

// A wrong signature is reported as such whatever its time says, so that
// ErrTooOld and ErrTooNew are always about genuine notifications.
func TestTimeIsJudgedLast(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, clock(signedAt.Add(time.Hour)))
	header := []string{"t=" + stamp + ",v1=" + strings.Repeat("0", 64)}
	if err := v.Verify(header, []byte(body)); !errors.Is(err, signature.ErrMismatch) {
		t.Fatalf("got %v", err)
	}
}

func TestDefaultClock(t *testing.T) {
	t.Parallel()
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{current})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]error{
		time.Now():                 nil,
		time.Now().Add(-time.Hour): signature.ErrTooOld,
		time.Now().Add(time.Hour):  signature.ErrTooNew,
	} {
		header, err := signature.Sign(signature.AssumedHMAC{}, current, at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Verify([]string{header}, []byte(body)); !errors.Is(err, want) {
			t.Errorf("signed %v: got %v, want %v", at, err, want)
		}
	}
}

// Once the old secret is dropped, what it signed is refused.
func TestRotation(t *testing.T) {
	t.Parallel()
	header := []string{"t=" + stamp + ",v1=" + hexPrevious}
	for _, test := range []struct {
		secrets []string
		want    error
	}{
		{[]string{previous}, nil},
		{[]string{current, previous}, nil},
		{[]string{current}, signature.ErrMismatch},
	} {
		v, err := signature.NewVerifier(signature.AssumedHMAC{}, test.secrets, clock(signedAt))
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Verify(header, []byte(body)); !errors.Is(err, test.want) {
			t.Errorf("%d secrets: got %v, want %v", len(test.secrets), err, test.want)
		}
	}
}

// The verifier does not depend on what happens to the slice it was made from.
func TestSecretsAreTakenAtConstruction(t *testing.T) {
	t.Parallel()
	secrets := []string{current}
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, secrets, clock(signedAt))
	if err != nil {
		t.Fatal(err)
	}
	secrets[0] = previous
	if err := v.Verify([]string{"t=" + stamp + ",v1=" + hexCurrent}, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

type refusingScheme struct{ err error }

func (s refusingScheme) Key(string) (signature.Key, error) { return nil, s.err }

func TestNewVerifierRefuses(t *testing.T) {
	t.Parallel()
	assumed := signature.AssumedHMAC{}
	tests := []struct {
		name    string
		scheme  signature.Scheme
		secrets []string
		opts    []signature.Option
		want    string
	}{
		{"no scheme", nil, []string{current}, nil, "no scheme"},
		{"no secrets", assumed, nil, nil, "no secrets"},
		{"no secrets in the list", assumed, []string{}, nil, "no secrets"},
		{"empty secret", assumed, []string{""}, nil, "secret 1 of 1: empty"},
		{"one empty secret", assumed, []string{current, ""}, nil, "secret 2 of 2: empty"},
		{"line break", assumed, []string{current + "\n"}, nil, "white space"},
		{"space in front", assumed, []string{" " + current}, nil, "white space"},
		{"only space", assumed, []string{"\t"}, nil, "white space"},
		{"scheme refuses", refusingScheme{errors.New("too short")}, []string{current}, nil, "too short"},
		{"scheme gives no key", refusingScheme{}, []string{current}, nil, "no key"},
		{"no tolerance", assumed, []string{current}, []signature.Option{signature.WithTolerance(0)}, "tolerance"},
		{"negative tolerance", assumed, []string{current}, []signature.Option{signature.WithTolerance(-1)}, "tolerance"},
		{"no clock", assumed, []string{current}, []signature.Option{signature.WithClock(nil)}, "no clock"},
		{"nil option", assumed, []string{current}, []signature.Option{nil}, "nil option"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v, err := signature.NewVerifier(test.scheme, test.secrets, test.opts...)
			if v != nil || err == nil {
				t.Fatalf("got %v, %v", v, err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not say %q", err, test.want)
			}
			if strings.Contains(err.Error(), current) {
				t.Errorf("error %q shows the secret", err)
			}
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	tests := []struct {
		header string
		want   error
	}{
		{"t=" + stamp + ",v1=" + hexCurrent, nil},
		{"t=" + stamp + ",v1=" + base64Current, nil},
		{"t=" + stamp + ",v1=" + hexPrevious, nil},
		{"t=" + stamp + ",v1=" + hexEmptyBody, signature.ErrMismatch},
		{"t=" + stamp + ",v1=zz,v1=" + hexCurrent, nil},
		{"t=" + stamp, signature.ErrMalformed},
	}
	var wg sync.WaitGroup
	for i := range 48 {
		wg.Go(func() {
			test := tests[i%len(tests)]
			for range 100 {
				if err := v.Verify([]string{test.header}, []byte(body)); !errors.Is(err, test.want) {
					t.Errorf("%s: got %v, want %v", test.header, err, test.want)
					return
				}
			}
		})
	}
	wg.Wait()
}
