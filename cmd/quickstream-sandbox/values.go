package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// hosts is a flag that lists host names and IP addresses, without ports.
type hosts []string

// String implements flag.Value.
func (list *hosts) String() string { return strings.Join(*list, ",") }

var hostForm = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

// Set implements flag.Value.
func (list *hosts) Set(text string) error {
	for host := range strings.SplitSeq(strings.ToLower(text), ",") {
		if ip, err := netip.ParseAddr(host); !hostForm.MatchString(host) && (err != nil || ip.Zone() != "") {
			return fmt.Errorf("%q is no host name or IP address; it is given without scheme and port", host)
		}
		*list = append(*list, host)
	}
	return nil
}

// world is a flag that changes assumptions. Every change is known to be possible.
type world []func(*sandbox.Assumptions)

// String implements flag.Value.
func (*world) String() string { return "" }

// Set implements flag.Value.
func (w *world) Set(text string) error {
	tried := sandbox.DefaultAssumptions()
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		switch word {
		case "plain":
		case "unkind":
			*w = append(*w, sandbox.Unkind)
		default:
			if err := tried.Set(name, value); err != nil {
				return err
			}
			*w = append(*w, func(a *sandbox.Assumptions) { _ = a.Set(name, value) }) // it was tried
		}
	}
	return nil
}

func (w *world) change(a *sandbox.Assumptions) {
	for _, change := range *w {
		change(a)
	}
}

// readFacility reads the file of a facility. What -world says comes after it.
func (s *settings) readFacility(path string) error {
	file, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	found, err := sandbox.ReadFacility(bytes.NewReader(file))
	if err == nil {
		s.world = append(world{found}, s.world...)
	}
	return err
}

const (
	secretPrefix      = "SANDBOX_SEC_"
	publishablePrefix = "SANDBOX_PUB_"
)

var (
	keyForm   = regexp.MustCompile(`^SANDBOX_(SEC|PUB)_[A-Za-z0-9_]{1,100}$`)
	tokenForm = regexp.MustCompile(`^[!-9;-~]{16,200}$`)
)

// checkKey refuses keys of the service: they have no business here. It does not repeat them.
func checkKey(where, key, prefix string) error {
	if key != "" && (!strings.HasPrefix(key, prefix) || !keyForm.MatchString(key)) {
		return errors.New(where + ": a key of a sandbox is " + prefix + " with letters, digits and underscores; never use a key of the service here")
	}
	return nil
}

// duration reads a duration, which may be in days.
func duration(text string) (time.Duration, error) {
	number, inDays := strings.CutSuffix(text, "d")
	if !inDays {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(number, 10, 12)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: write 90s, 48h or 2d", text)
	}
	return time.Duration(int(n)) * 24 * time.Hour, nil //nolint:gosec // at most 4095
}

// contains reports whether any of some texts has a part, in any case.
func contains(part string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) })
}
