package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// hosts are host names and IP addresses, without ports.
type hosts []string

var hostForm = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

// add takes names that are separated by commas.
func (list *hosts) add(text string) error {
	for host := range strings.SplitSeq(strings.ToLower(text), ",") {
		if ip, err := netip.ParseAddr(host); !hostForm.MatchString(host) && (err != nil || ip.Zone() != "") {
			return fmt.Errorf("%q is no host name or IP address; it is given without scheme and port", host)
		}
		*list = append(*list, host)
	}
	return nil
}

// readWorld sets the assumptions of a world.
func (s *settings) readWorld(text string) error {
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		switch word {
		case "plain":
			s.assumptions = sandbox.DefaultAssumptions()
		case "unkind":
			sandbox.Unkind(&s.assumptions)
		default:
			if err := s.assumptions.Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// readFacility reads the file of a facility.
func (s *settings) readFacility(path string) error {
	file, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	found, err := sandbox.ReadFacility(bytes.NewReader(file))
	if err == nil {
		found(&s.assumptions)
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

// checkKey refuses keys of the real service. Its error does not contain the key.
func checkKey(where, key, prefix string) error {
	if key != "" && (!strings.HasPrefix(key, prefix) || !keyForm.MatchString(key)) {
		return errors.New(where + ": a key of a sandbox is " + prefix + " with letters, digits and underscores; never use a key of the service here")
	}
	return nil
}

// duration is a duration in a request, which may be in days.
type duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	number, inDays := bytes.CutSuffix(text, []byte("d"))
	if !inDays {
		parsed, err := time.ParseDuration(string(text))
		*d = duration(parsed)
		return err
	}
	n, err := strconv.ParseUint(string(number), 10, 12)
	if err != nil {
		return fmt.Errorf("%q is no duration: write 90s, 48h or 2d", text)
	}
	*d = duration(time.Duration(n) * 24 * time.Hour)
	return nil
}
