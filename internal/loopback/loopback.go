// Package loopback decides whether an address is on this machine.
package loopback

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// ErrElsewhere means that a name resolved to an address of another machine.
var ErrElsewhere = errors.New("the address is not a loopback address")

// IsHost reports whether the text of a host is localhost or a loopback address without a zone. A name
// below localhost is neither: DNS decides where it leads.
func IsHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.ToLower(host) == "localhost" || err == nil && addr.IsLoopback() && addr.Zone() == ""
}

// Control is the Control of a [net.Dialer] that connects to loopback addresses only. It is called
// with the address that the name resolved to, so localhost must be this machine too.
func Control(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !IsHost(host) {
		return ErrElsewhere
	}
	return nil
}
