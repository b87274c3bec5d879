package signature_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// BenchmarkVerify compares verifying a notification of ordinary size with the
// bare HMAC over it, whose state is reused: the least that it can cost.
func BenchmarkVerify(b *testing.B) {
	payload := bytes.Repeat([]byte("0123456789abcdef"), 160)
	header, err := signature.Sign(signature.AssumedHMAC{}, current, signedAt, payload)
	if err != nil {
		b.Fatal(err)
	}
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{current}, clock(signedAt))
	if err != nil {
		b.Fatal(err)
	}
	headers := []string{header}
	verify := func() {
		if err := v.Verify(headers, payload); err != nil {
			b.Fatal(err)
		}
	}
	mac := hmac.New(sha256.New, []byte(current))
	prefix, sum := []byte(stamp+"."), make([]byte, 0, sha256.Size)
	bare := func() {
		mac.Reset()
		mac.Write(prefix)
		mac.Write(payload)
		sum = mac.Sum(sum[:0])
	}

	b.Run("verify", func(b *testing.B) {
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		for b.Loop() {
			verify()
		}
	})
	b.Run("hmac", func(b *testing.B) {
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		for b.Loop() {
			bare()
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				verify()
			}
		})
	})
	// Slices of both in turn, so that what else the machine does meets both.
	b.Run("ratio", func(b *testing.B) {
		var verifying, hashing time.Duration
		for b.Loop() {
			start := time.Now()
			for range 1000 {
				verify()
			}
			middle := time.Now()
			for range 1000 {
				bare()
			}
			verifying += middle.Sub(start)
			hashing += time.Since(middle)
		}
		b.ReportMetric(float64(verifying)/float64(hashing), "x-hmac")
	})
}
