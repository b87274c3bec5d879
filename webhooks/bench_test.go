package webhooks_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// BenchmarkReceive is all the work for a notification: verifying, decoding the
// envelope and decoding the model.
func BenchmarkReceive(b *testing.B) {
	v := newVerifier(b)
	body := []byte(confirmedBody)
	header := http.Header{}
	header.Set(signature.Header, signed(b, confirmedBody).Header.Get(signature.Header))

	b.Run("verify and parse", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.VerifyBody(header, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("with agreement", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			n, err := v.VerifyBody(header, body)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := n.Agreement(); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The least that decoding once with encoding/json costs.
	b.Run("encoding/json alone", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			var n struct {
				ID   string          `json:"id"`
				Type string          `json:"eventType"`
				Data json.RawMessage `json:"data"`
			}
			if err := json.Unmarshal(body, &n); err != nil {
				b.Fatal(err)
			}
			var a quickstream.Agreement
			if err := json.Unmarshal(n.Data, &a); err != nil {
				b.Fatal(err)
			}
		}
	})
}
