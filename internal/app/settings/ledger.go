package settings

import (
	"fmt"
	"net"
	"strconv"
)

// LedgerOff is the value of --ledger-listen that turns the ledger interface off.
const LedgerOff = "off"

// LedgerAddress is where the ledger interface listens, "" for nowhere: by itself on loopback,
// at the port after that of the query tier.
func (c *Config) LedgerAddress() (string, error) {
	switch c.LedgerListen {
	case LedgerOff:
		return "", nil
	case "":
	default:
		return c.LedgerListen, nil
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", fmt.Errorf("--listen must be an address such as 127.0.0.1:8080: %w", err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("--listen has the port %q: set --ledger-listen to an address, or to off", port)
	}
	if n > 0 && n < 65535 {
		n++ // a free port stays one
	}
	return net.JoinHostPort("127.0.0.1", strconv.FormatUint(n, 10)), nil
}

// LedgerShares reports whether the ledger interface has the listener of the scan interface.
func (c *Config) LedgerShares() bool { return c.LedgerListen != "" && c.LedgerListen == c.Listen }
