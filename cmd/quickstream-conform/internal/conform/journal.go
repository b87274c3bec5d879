package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// journal lists the things that runs have made, so that they can be undone. It holds no API key.
type journal struct {
	path string

	Host string   `json:"host"`
	Made []*thing `json:"made"`
}

// thing is an object that a run makes. The journal has it before the request is sent.
type thing struct {
	Kind      string    `json:"kind"`
	Reference string    `json:"reference"` // the run's own, to find it again
	Key       string    `json:"key"`       // its idempotency key
	Amount    string    `json:"amount,omitempty"`
	Sent      time.Time `json:"sent"`
	Answered  time.Time `json:"answered,omitzero"`
	Handle    string    `json:"handle,omitempty"`  // its receipt, token or identifier, if an answer gave it
	Refused   bool      `json:"refused,omitempty"` // perhaps by a proxy or gateway
	Undone    bool      `json:"undone,omitempty"`

	answer value // in the process that made it
}

// The kinds of things. Verifications and refunds take no money and need no undoing.
const (
	kindPayment   = "payment"
	kindAgreement = "agreement"
	kindCustomer  = "customer"
	kindHarmless  = "harmless"
)

// members are the names of the reference that a thing is given, and of the handle that it gets.
func members(kind string) (reference, handle string) {
	switch kind {
	case kindAgreement:
		return "payeeReference", "agreementToken"
	case kindCustomer:
		return "customerNumber", "customerId"
	default:
		return "paymentReferenceNumber", "receiptNumber"
	}
}

// openJournal reads the journal at a path, or begins one.
func openJournal(path, host string) (*journal, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the merchant names the file
	if errors.Is(err, os.ErrNotExist) {
		return &journal{path: path, Host: host}, nil
	}
	old := &journal{path: path}
	if err = errors.Join(err, json.Unmarshal(raw, old)); err != nil || old.Host != host {
		return nil, fmt.Errorf("conform: %s cannot be read, or is of another host: move it away to begin again", path)
	}
	return old, nil
}

// save replaces the file as a whole, so that a process that is killed leaves the old or the new one.
func (j *journal) save() error { return writeJSON(j.path, j) }

func writeJSON(path string, content any) error {
	raw, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".conform-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(append(raw, '\n'))
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// open returns the things of a kind that may still have to be undone.
func (j *journal) open(kind string) (things []*thing) {
	for _, t := range j.Made {
		if !t.Undone && t.Kind == kind {
			things = append(things, t)
		}
	}
	return things
}

// remaining names the payments and agreements that are not undone yet, by their references, under which
// a person finds them in the portal.
func (j *journal) remaining() (names []string) {
	for _, kind := range []string{kindPayment, kindAgreement} {
		for _, t := range j.open(kind) {
			reference, _ := members(kind)
			names = append(names, kind+" with "+reference+" "+t.Reference)
		}
	}
	return names
}
