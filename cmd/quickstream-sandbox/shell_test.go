package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shell carries out what the help prints as a shell with curl does: as much of both
// as the help uses, so that the help cannot rot where there is no curl.
type shell struct {
	t       *testing.T
	vars    map[string]string
	aliases map[string]string // functions that call curl with more arguments
	printed []string          // by openssl and echo
	stop    func() (logged string)
}

func newShell(t *testing.T, exports string) *shell {
	s := &shell{t: t, vars: map[string]string{}, aliases: map[string]string{"curl": "curl"}}
	for _, line := range strings.Split(exports, "\n") {
		if name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "="); ok && !strings.HasPrefix(line, "#") {
			s.vars[name] = value
		}
	}
	return s
}

var (
	function   = regexp.MustCompile(`(?s)^(\w+)\(\) \{ (curl .*) "\$@"; \}$`)
	assignment = regexp.MustCompile(`(?s)^(\w+)=\$\((.*) \| field (\w+)( \| tail -1)?\)$`)
	partOf     = regexp.MustCompile(`^(\w+)=\$\(echo "\$(\w+)" \| sed 's/(.*)/\\1/'\)$`)
	digest     = regexp.MustCompile(`^\{ printf '%s\.' "\$(\w+)"; (curl .*); \} \| openssl dgst -sha256 -hmac (\w+)$`)
)

// run carries out a script.
func (s *shell) run(script string) {
	s.t.Helper()
	for _, statement := range statements(script) {
		m, a := function.FindStringSubmatch(statement), assignment.FindStringSubmatch(statement)
		part, mac := partOf.FindStringSubmatch(statement), digest.FindStringSubmatch(statement)
		switch {
		case m != nil:
			s.aliases[m[1]] = m[2]
		case strings.HasPrefix(statement, "field() "): // what assignments do
		case a != nil:
			found := regexp.MustCompile(`.*"`+a[3]+`" *: *"([^"]*)"`).FindAllStringSubmatch(s.curl(a[2]), -1)
			require.NotEmpty(s.t, found, statement)
			require.True(s.t, len(found) == 1 || a[4] != "", statement)
			s.vars[a[1]] = found[len(found)-1][1]
		case part != nil:
			whole := strings.NewReplacer(`\(`, "(", `\)`, ")").Replace(part[3]) // as sed writes groups
			found := regexp.MustCompile("^" + whole + "$").FindStringSubmatch(s.vars[part[2]])
			require.NotNil(s.t, found, statement)
			s.vars[part[1]] = found[1]
		case mac != nil:
			sum := hmac.New(sha256.New, []byte(mac[3]))
			_, _ = io.WriteString(sum, s.vars[mac[1]]+"."+s.curl(mac[2]))
			s.printed = append(s.printed, hex.EncodeToString(sum.Sum(nil)))
		case strings.HasPrefix(statement, "echo "):
			s.printed = append(s.printed, s.words(statement)[1])
		default:
			command, mayFail := strings.CutSuffix(statement, " || echo 'no answer'")
			answer := s.curl(command)
			require.Equal(s.t, mayFail, answer == "", statement)
		}
	}
}

// statements are the lines of a script that do something; a quoted text may go over
// several.
func statements(script string) (list []string) {
	var sb strings.Builder
	for line := range strings.Lines(script) {
		if sb.Len() == 0 && (strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "") {
			continue
		}
		sb.WriteString(line)
		if strings.Count(sb.String(), "'")%2 == 0 {
			list = append(list, strings.TrimSpace(sb.String()))
			sb.Reset()
		}
	}
	return list
}

// words are those of a command, with the variables filled in.
func (s *shell) words(command string) (list []string) {
	pieces := regexp.MustCompile(`'[^']*'|"[^"]*"|\$\w+|\s+|[^'"$\s]+`).FindAllString(command, -1)
	require.Equal(s.t, command, strings.Join(pieces, ""), "more of a shell than is known here")
	word, open := "", false
	for _, p := range append(pieces, " ") {
		switch {
		case strings.TrimSpace(p) == "":
			if open {
				list = append(list, word)
			}
			word, open = "", false
			continue
		case p[0] == '\'':
			word += p[1 : len(p)-1]
		default:
			word += regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(strings.Trim(p, `"`), func(name string) string {
				require.Contains(s.t, s.vars, name[1:], command)
				return s.vars[name[1:]]
			})
		}
		open = true
	}
	return list
}

// curl makes a request and returns the answer, which is empty where there was none.
func (s *shell) curl(command string) string {
	s.t.Helper()
	name, rest, _ := strings.Cut(command, " ")
	require.Contains(s.t, s.aliases, name, command)
	words := s.words(s.aliases[name] + " " + rest)[1:]
	method, body, target, header := http.MethodGet, "", "", http.Header{}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "-s" {
			continue
		}
		if !strings.HasPrefix(word, "-") {
			target = word
			continue
		}
		value := words[0]
		words = words[1:]
		switch word {
		case "-X":
			method = value
		case "-u":
			user, password, _ := strings.Cut(value, ":")
			r := http.Request{Header: header}
			r.SetBasicAuth(user, password)
		case "-H":
			name, text, _ := strings.Cut(value, ": ")
			header.Set(name, text)
		case "-d":
			method, body = http.MethodPost, strings.ReplaceAll(value, "\n", "")
		default:
			s.t.Fatalf("curl %s: not known here", word)
		}
	}
	return s.send(method, target, body, header)
}

func (s *shell) send(method, target, body string, header http.Header) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header = header
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		delete(r.Header, "Idempotency-Key")
		r.Header["idempotency-key"] = []string{key} // spelt so, net/http sends it once, as curl does
	}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Less(s.t, resp.StatusCode, 300, "%s %s: %s", method, target, raw)
	return string(raw)
}
