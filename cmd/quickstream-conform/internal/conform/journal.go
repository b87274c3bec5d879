package conform

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// journal says what was made, so that it can be undone. It holds no key.
type journal struct {
	path string

	Format int       `json:"format"`
	Run    string    `json:"run"`
	Host   string    `json:"host"`
	Begun  time.Time `json:"begun"`
	// Made is everything that may exist, by number.
	Made []thing `json:"made"`
}

// thing is something that was to be made. It is written before the request is sent.
type thing struct {
	Kind     string    `json:"kind"`
	Amount   string    `json:"amount,omitempty"`
	Sent     time.Time `json:"sent"`
	Answered time.Time `json:"answered,omitzero"`
	Handle   string    `json:"handle,omitempty"`  // its receipt, token or identifier, if an answer gave it
	Refused  bool      `json:"refused,omitempty"` // perhaps by something in between
	Undone   bool      `json:"undone,omitempty"`
}

// The kinds of things. Verifications and refunds take no money and need no undoing.
const (
	kindPayment   = "payment"
	kindAgreement = "agreement"
	kindCustomer  = "customer"
	kindHarmless  = "harmless"
)

const journalFormat = 3

// openJournal reads the journal at a path, or begins one. An empty path keeps it in memory.
func openJournal(path, host string, now time.Time) (*journal, error) {
	j := &journal{path: path, Format: journalFormat, Run: random(), Host: host, Begun: now}
	if path == "" {
		return j, nil
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the merchant names the file
	switch {
	case errors.Is(err, os.ErrNotExist):
		return j, nil
	case err != nil:
		return nil, fmt.Errorf("conform: journal: %w", err)
	}
	old := &journal{path: path}
	if err := json.Unmarshal(raw, old); err != nil || old.Format != journalFormat {
		return nil, errors.New("conform: the journal cannot be read; move it away to begin again")
	}
	if old.Host != host {
		return nil, errors.New("conform: the journal is of another host; move it away to begin again")
	}
	return old, nil
}

// save replaces the file as a whole, so that a process that is killed leaves the old or the new one.
func (j *journal) save() error {
	if j.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return fmt.Errorf("conform: journal: %w", err)
	}
	return replaceFile(j.path, raw)
}

func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".conform-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("conform: %w", err)
	}
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("conform: %w", err), os.Remove(temporary.Name()))
	}
	return nil
}

// digest is a text that only this run has, of 26 capital letters and digits.
func (j *journal) digest(purpose string, n int) string {
	sum := sha256.Sum256([]byte(j.Run + "/" + purpose + "/" + strconv.Itoa(n)))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}

// reference is the reference by which a thing is found again. No reference is the beginning of
// another.
func (j *journal) reference(n int) string { return j.digest("reference", n) }

// idempotencyKey has the form of a UUID, which every service takes.
func (j *journal) idempotencyKey(purpose string, n int) string {
	sum := sha256.Sum256([]byte(j.Run + "/key " + purpose + "/" + strconv.Itoa(n)))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// open returns the numbers of what may still have to be undone.
func (j *journal) open(kind string) (numbers []int) {
	for n, t := range j.Made {
		if !t.Undone && t.Kind == kind {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// remaining names what is not undone yet by the references that the run gave it, under which a person
// finds it in the portal.
func (j *journal) remaining() (names []string) {
	for _, n := range j.open(kindPayment) {
		names = append(names, "payment with paymentReferenceNumber "+j.reference(n))
	}
	for _, n := range j.open(kindAgreement) {
		names = append(names, "agreement with payeeReference "+j.reference(n))
	}
	return names
}
