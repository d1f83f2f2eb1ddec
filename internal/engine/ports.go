package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"syscall"
)

const loopback = "127.0.0.1"

// ports are where the engine itself listens: host is a loopback address, http is 0 for no
// HTTP at all.
type ports struct {
	host      string
	tcp, http int
}

// pickPorts returns a hidden address with a free port of it, and HTTPPort after a check
// that nobody has it there. A port picked here may be taken before the engine binds it;
// Start then tries again with other ones.
func pickPorts(cfg Config) (ports, error) {
	p := ports{host: hiddenHost(), http: cfg.HTTPPort}
	if p.http != 0 {
		http, err := claim(p.host, p.http)
		if err != nil {
			return ports{}, err
		}
		defer http.Close() // open until the other is chosen: they must differ
	}
	tcp, err := claim(p.host, 0)
	if err != nil {
		return ports{}, err
	}
	defer tcp.Close()
	p.tcp = portOf(tcp)
	return p, nil
}

// hiddenHost is a random loopback address: who looks through the ports of 127.0.0.1 does
// not come across the engine there. Elsewhere than on Linux there is only the one.
func hiddenHost() string {
	if runtime.GOOS != "linux" {
		return loopback
	}
	var b [3]byte
	rand.Read(b[:]) // never fails: it ends the process instead
	return net.IPv4(127, 1+b[0]%254, b[1], 1+b[2]%254).String()
}

// claim listens on a port of a loopback address, 0 for any.
func claim(host string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort(host, strconv.Itoa(port)))
	switch {
	case err != nil && port != 0 && portInUse(err):
		return nil, portTaken(port)
	case err != nil:
		return nil, fmt.Errorf("choosing an engine port: %w", err)
	}
	return l, nil
}

func portTaken(port int) error {
	return fmt.Errorf("%w: port %d is taken by another process; stop it or configure another engine port", ErrPortTaken, port)
}

func portInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
