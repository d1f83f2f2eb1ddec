package engine

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// ports are the two loopback ports of an engine.
type ports struct{ tcp, http int }

// pickPorts returns the fixed ports of cfg, after a check that nobody has them, and
// free ones for those that are 0. A port picked here may be taken before the engine
// binds it; Start then tries again with other ones.
func pickPorts(cfg Config) (ports, error) {
	tcp, err := claim(cfg.TCPPort)
	if err != nil {
		return ports{}, err
	}
	defer tcp.Close() // open until the other is chosen: they must differ
	http, err := claim(cfg.HTTPPort)
	if err != nil {
		return ports{}, err
	}
	defer http.Close()
	return ports{tcp: portOf(tcp), http: portOf(http)}, nil
}

// claim listens on a loopback port, 0 for any.
func claim(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	switch {
	case err != nil && port != 0 && portInUse(err):
		return nil, portTaken(port)
	case err != nil:
		return nil, fmt.Errorf("choosing an engine port: %w", err)
	}
	return l, nil
}

func portTaken(port int) error {
	return fmt.Errorf("%w: port %d of %s is taken by another process; stop it or configure another engine port", ErrPortTaken, port, loopback)
}

func portInUse(err error) bool { return errors.Is(err, errAddrInUse) }

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
