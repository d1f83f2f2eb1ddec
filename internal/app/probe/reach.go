// Package probe finds out whether what settings name can be used, such as folders, addresses and
// services, and says how to mend it, before anything long begins.
package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// reachTimeout bounds the first contact with a service.
const reachTimeout = 5 * time.Second

// Reach connects to the service of a setting and hangs up: whether anything listens is known
// before anything long begins.
func Reach(ctx context.Context, setting, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return settings.CheckURL(setting, raw)
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	conn, err := (&net.Dialer{Timeout: reachTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return explainDial(setting, settings.MaskURL(raw), u.Hostname(), err)
	}
	return conn.Close()
}

// explainDial says why a service can't be connected to, and what to do.
func explainDial(setting, shown, host string, err error) error {
	var name *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &name):
		return fmt.Errorf("--%s %s: there is no host %s: correct the name", setting, shown, host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("--%s %s: nothing listens there: start it, or correct the address", setting, shown)
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return fmt.Errorf("--%s %s: the host does not answer: correct the address, or let connections through to it", setting, shown)
	}
	return fmt.Errorf("--%s %s: %w", setting, shown, err)
}

// ExplainListen says why an address can't be listened on, and what to do.
func ExplainListen(address, setting string, err error) error {
	_, port, _ := net.SplitHostPort(address) // it has been checked
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--%s %s: another program listens there: stop it (ss -ltnp 'sport = :%s' names it), or choose another port", setting, address, port)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("--%s %s: this user may not listen on port %s: choose one above 1023", setting, address, port)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("--%s %s: this machine does not have that address: choose 127.0.0.1:%s to serve this machine only, or 0.0.0.0:%s to serve others as well", setting, address, port, port)
	}
	return fmt.Errorf("--%s %s: %w; choose another address", setting, address, err)
}
