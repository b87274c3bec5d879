package sandbox

import (
	"crypto/sha256"
	"net/http"
	"regexp"
	"slices"
	"time"
)

const keyInFlightStatus = http.StatusConflict

// replayStore keeps the answers to POSTs by their Idempotency-Key.
type replayStore struct {
	entries map[replayID]*replayEntry
	expiry  []*replayEntry // by expiry
}

// replayID includes the path, because a key belongs to one operation on one object.
type replayID struct{ operation, path, key string }

type replayEntry struct {
	id      replayID
	body    [sha256.Size]byte // digest
	done    bool
	answer  answer
	expires time.Time
}

type keyUse int

const (
	keyIsFree keyUse = iota
	keyReplays
	keyRefused
)

var uuidForm = regexp.MustCompile(`^(?i:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

func newReplayStore() replayStore { return replayStore{entries: make(map[replayID]*replayEntry)} }

func (c *call) replayID() (replayID, bool) {
	if c.method != http.MethodPost || c.idempotencyKey == "" || c.box.assume.KeyLifetime <= 0 {
		return replayID{}, false
	}
	return replayID{c.op.id, c.url.EscapedPath(), c.idempotencyKey}, true
}

// claim reserves the idempotency key of a call, or returns the result of its first use.
func (s *replayStore) claim(c *call) (answer, keyUse) {
	if c.box.assume.KeyForm == "uuid" && c.method == http.MethodPost && c.idempotencyKey != "" && !uuidForm.MatchString(c.idempotencyKey) {
		return c.problem(http.StatusUnprocessableEntity, "The Idempotency-Key is not a UUID."), keyRefused
	}
	id, keyed := c.replayID()
	if !keyed {
		return answer{}, keyIsFree
	}
	now := c.box.clock.Now()
	for len(s.expiry) > 0 && !now.Before(s.expiry[0].expires) {
		s.drop(s.expiry[0])
		s.expiry = slices.Delete(s.expiry, 0, 1)
	}
	first, used := s.entries[id]
	switch {
	case !used:
		s.entries[id] = &replayEntry{id: id, body: sha256.Sum256(c.body)}
		return answer{}, keyIsFree
	case !first.done:
		return c.problem(keyInFlightStatus, "A request with this Idempotency-Key is being processed."), keyRefused
	case first.body != sha256.Sum256(c.body) && c.box.assume.KeyMismatch != "replay":
		status := http.StatusUnprocessableEntity
		if c.box.assume.KeyMismatch == "409" {
			status = http.StatusConflict
		}
		return c.problem(status, "This Idempotency-Key was used with another body."), keyRefused
	}
	a := first.answer
	if name := c.box.assume.ReplayHeader; name != "" {
		a = a.with(name, "true")
	}
	return a, keyReplays
}

// store ends the reservation of a call. It keeps the answer, or frees the key.
func (s *replayStore) store(c *call, a answer) {
	id, keyed := c.replayID()
	if !keyed {
		return
	}
	if !slices.Contains(c.box.assume.ReplayedStatuses, a.status) {
		delete(s.entries, id)
		return
	}
	s.keep(c, id, a)
}

func (s *replayStore) keep(c *call, id replayID, a answer) {
	e := &replayEntry{id: id, body: sha256.Sum256(c.body), done: true, answer: a, expires: c.box.clock.Now().Add(c.box.assume.KeyLifetime)}
	s.entries[id] = e
	s.expiry = append(s.expiry, e)
}

// spend repeats an answer for its idempotency key, although the operation was not carried
// out.
func (s *replayStore) spend(c *call, a answer) {
	if id, keyed := c.replayID(); keyed && c.box.assume.UnavailableSpendsKey {
		if _, used := s.entries[id]; !used {
			s.keep(c, id, a)
		}
	}
}

// drop deletes an entry, unless a later one has the same key.
func (s *replayStore) drop(e *replayEntry) {
	if s.entries[e.id] == e {
		delete(s.entries, e.id)
	}
}
