package probe

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// ExplainListen says why an address can't be listened on, and what to do.
func ExplainListen(address, setting string, err error) error {
	_, port, _ := net.SplitHostPort(address) // it has been checked
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--%s %s: another program listens there: stop it (ss -ltnp 'sport = :%s' names it), or choose another port", setting, address, port)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("--%s %s: this user may not listen on port %s: choose one above 1023", setting, address, port)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("--%s %s: this machine does not have that address: choose 127.0.0.1:%s for itself alone, or 0.0.0.0:%s for others as well", setting, address, port, port)
	}
	return fmt.Errorf("--%s %s: %w; choose another address", setting, address, err)
}
