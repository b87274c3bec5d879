package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
)

// state is what a restart keeps: how programs reach the sandbox, and where it posts events.
// Identifiers are drawn anew, so that no receipt of an earlier run comes again.
type state struct {
	SecretKey      string         `json:"secretKey"`
	PublishableKey string         `json:"publishableKey"`
	Token          string         `json:"token"`
	Ahead          time.Duration  `json:"clockAheadNanoseconds"` // of real time
	Subscriptions  []subscription `json:"subscriptions"`
}

func stateOf(box *sandbox.Sandbox, clock *liveclock.Clock, token string) state {
	keys := box.Keys()
	s := state{keys.Secret, keys.Publishable, token, clock.Ahead(), []subscription{}}
	for _, sub := range box.Subscriptions() {
		if sub.ID != ofTheFlag {
			s.Subscriptions = append(s.Subscriptions, subscriptionOf(sub))
		}
	}
	return s
}

// store writes the state into a file whenever it has changed. It does nothing without a file.
type store struct {
	file     string
	snapshot func() state

	mu      sync.Mutex
	written []byte
}

// load returns the state of the run before, or of a first run.
func (st *store) load() (kept state, err error) {
	if st.file == "" {
		return kept, nil
	}
	raw, err := os.ReadFile(st.file)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		return kept, fmt.Errorf("-state: %w", err)
	}
	return kept, errors.Join(checkKey("-state", kept.SecretKey, secretPrefix), checkKey("-state", kept.PublishableKey, publishablePrefix))
}

// save replaces the file as a whole: a crash leaves the old one or the new one.
func (st *store) save() error {
	if st.file == "" {
		return nil
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	raw, err := json.MarshalIndent(st.snapshot(), "", "  ")
	if err != nil || bytes.Equal(raw, st.written) {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(st.file), filepath.Base(st.file)+".*") // for its owner only
	if err != nil {
		return fmt.Errorf("-state: %w", err)
	}
	_, err = next.Write(raw)
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), st.file)
	}
	if err != nil {
		_ = os.Remove(next.Name())
		return fmt.Errorf("-state: %w", err)
	}
	st.written = raw
	return nil
}

// after saves after each request, before the last of its answer is sent.
func (st *store) after(h http.Handler, logger *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if err := st.save(); err != nil {
				logger.Error("the state was not saved", "error", err)
			}
		}()
		h.ServeHTTP(w, r)
	})
}
