package wire

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var (
	statusCode = regexp.MustCompile(`\b[1-5]\d\d\b`)
	verb       = regexp.MustCompile(`^(?i:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$`)
)

// IsAbout reports whether an error body is about a request and its status: it names no other
// status, requestMethod or requestUrl. A text that is none of these names nothing. Of the address
// only the end of its path counts, because host and prefix may be a proxy's.
func IsAbout(data []byte, status int, method, path string) bool {
	var said struct {
		Status string `json:"status" wire:"decides"`
		Method string `json:"requestMethod" wire:"decides"`
		URL    string `json:"requestUrl" wire:"decides"`
	}
	if Decode(data, &said) != nil {
		return false
	}
	if code := statusCode.FindString(said.Status); code != "" && code != strconv.Itoa(status) {
		return false
	}
	if named := strings.TrimSpace(said.Method); verb.MatchString(named) && !strings.EqualFold(named, method) {
		return false
	}
	address := said.URL
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	if !strings.Contains(address, "/") {
		return true
	}
	address = strings.TrimRight(address, "/ ")
	return len(address) >= len(path) && strings.EqualFold(address[len(address)-len(path):], path)
}
