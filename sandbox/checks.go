package sandbox

import (
	"fmt"
	"net/netip"
	"regexp"
	"time"
	"unicode/utf8"
)

func atMost(n int) check {
	return func(s string) string {
		if utf8.RuneCountInString(s) > n {
			return fmt.Sprintf("must be at most %d characters", n)
		}
		return ""
	}
}

func filled(s string) string {
	if s == "" {
		return "must not be empty"
	}
	return ""
}

func digits(least, most int) check {
	return func(s string) string {
		if allDigits(s) && len(s) >= least && len(s) <= most {
			return ""
		}
		if least == most {
			return fmt.Sprintf("must be %d digits", least)
		}
		return fmt.Sprintf("must be %d to %d digits", least, most)
	}
}

func digitsOnly(s string) string {
	if !allDigits(s) {
		return "must consist of digits"
	}
	return ""
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func monthNumber(s string) string {
	if len(s) == 2 && allDigits(s) && s >= "01" && s <= "12" {
		return ""
	}
	return "must be a month from 01 to 12"
}

func ascii(s string) string {
	for i := range len(s) {
		if s[i] > 0x7f {
			return "must be ASCII"
		}
	}
	return ""
}

func matching(pattern *regexp.Regexp, message string) check {
	return func(s string) string {
		if pattern.MatchString(s) {
			return ""
		}
		return message
	}
}

// publicIP accepts addresses that a customer on the Internet can have.
func publicIP(s string) string {
	ip, err := netip.ParseAddr(s)
	switch {
	case err != nil || ip.Zone() != "":
		return "must be an IP address"
	case !ip.IsGlobalUnicast() || ip.IsPrivate() || sharedAddress(ip):
		return "must be the public IP address of the customer"
	}
	return ""
}

// sharedAddress reports an address of carrier-grade NAT, which a server never sees.
func sharedAddress(ip netip.Addr) bool {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10).Contains(ip.Unmap())
}

const monthLayout = "2006-01"

func dateForm(s string) string    { return inLayout(s, time.DateOnly, "a date in the form YYYY-MM-DD") }
func compactDate(s string) string { return inLayout(s, "20060102", "a date in the form YYYYMMDD") }
func monthForm(s string) string   { return inLayout(s, monthLayout, "a month in the form YYYY-MM") }

func inLayout(s, layout, what string) string {
	if _, err := time.Parse(layout, s); err != nil {
		return "must be " + what
	}
	return ""
}
