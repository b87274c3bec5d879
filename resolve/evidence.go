package resolve

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Evidence is a case for the service's technical support, to be sent as JSON. It has the receipts of
// the merchant's own transaction. What may be another customer's is counted, and shown as a digest.
// A digest is the SHA-256 of the text in hex, so that support can compare it.
type Evidence struct {
	Operation quickstream.Operation `json:"operation"`
	Status    Status                `json:"status"`
	Outcome   quickstream.Outcome   `json:"outcome,omitempty"`
	SentAt    time.Time             `json:"sentAt"`
	// Attempts counts the requests; 0 if unknown.
	Attempts int `json:"attempts"`
	// ReceiptNumbers are those of transactions that match.
	ReceiptNumbers []string `json:"receiptNumbers,omitempty"`
	// Candidates are the digests of other receipts that may be the transaction's.
	Candidates []string `json:"candidateDigests,omitempty"`
	// The digests of what was sent; "" for nothing.
	Reference      string `json:"referenceDigest,omitempty"`
	IdempotencyKey string `json:"idempotencyKeyDigest,omitempty"`
	IntentID       string `json:"intentIdDigest,omitempty"`
	Request        string `json:"requestDigest,omitempty"`
	// Lookups counts what was looked up.
	Lookups []EvidenceLookup `json:"lookups,omitempty"`
}

// EvidenceLookup is one entry of Case.Lookups, without receipts.
type EvidenceLookup struct {
	At           time.Time           `json:"at"`
	Last         time.Time           `json:"last"`
	Count        int                 `json:"count"`
	Result       LookupResult        `json:"result"`
	Outcome      quickstream.Outcome `json:"outcome,omitempty"`
	ResponseCode string              `json:"responseCode,omitempty"`
	Candidates   int                 `json:"candidates,omitempty"`
	Scanned      bool                `json:"scanned,omitempty"`
}

// Evidence returns the case for technical support.
func (c Case) Evidence() Evidence {
	i := c.Intent
	e := Evidence{
		Operation: i.Operation, Status: c.Status, Outcome: c.Outcome, SentAt: i.NotBefore, Attempts: i.Attempts,
		Reference: digest(i.Reference), IdempotencyKey: digest(i.IdempotencyKey), IntentID: digest(i.ID), Request: digest(string(i.Request)),
	}
	own := []string{i.ReceiptNumber, i.Target, c.Seen.ReceiptNumber}
	if i.Operation != quickstream.OperationVoid {
		own[1] = ""
	}
	for _, l := range c.Lookups {
		own = append(append(own, l.ReceiptNumber), l.Matches...)
		e.Lookups = append(e.Lookups, EvidenceLookup{l.At, l.Last, l.Count, l.Result, l.Outcome, l.ResponseCode, len(l.Candidates), l.Scanned})
	}
	for _, receipt := range own {
		if receipt != "" && !slices.Contains(e.ReceiptNumbers, receipt) {
			e.ReceiptNumbers = append(e.ReceiptNumbers, receipt)
		}
	}
	for _, receipt := range c.Receipts() {
		if !slices.Contains(e.ReceiptNumbers, receipt) {
			e.Candidates = append(e.Candidates, digest(receipt))
		}
	}
	return e
}

func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
