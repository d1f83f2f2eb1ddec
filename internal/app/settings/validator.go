package settings

import (
	"errors"
	"fmt"
	"net"
)

// The values of setting wallet-mode.
const (
	WalletNode    = "node"
	WalletForward = "forward"
	WalletOff     = "off"
)

// ValidatorOff is the value of --validator-listen that turns the validator interface off.
const ValidatorOff = "off"

// ValidatorShares reports whether the interface is on the listener of the scan interface too, below
// /api/validator, which it is unless it has one of its own.
func (c *Config) ValidatorShares() bool { return c.ValidatorListen == "" }

// checkValidator rejects settings of the validator interface and of wallets that contradict each
// other.
func (c *Config) checkValidator() error {
	keys := 0
	for _, given := range []string{c.ValidatorAuthSecret, c.ValidatorAuthJWKS, c.ValidatorAuthCertificate} {
		if given != "" {
			keys++
		}
	}
	switch {
	case keys > 1:
		return errors.New("--validator-auth-secret, --validator-auth-jwks and --validator-auth-certificate are several keys for the same tokens: give only one")
	case c.ValidatorAuthAudience == "":
		return errors.New("--validator-auth-audience must not be empty: tokens must name the server that they are for")
	case sameAddress(c.ValidatorListen, c.Listen) || sameAddress(c.ValidatorListen, c.LedgerListen):
		return errors.New("--validator-listen must differ from --listen, which already has the interface below /api/validator")
	case c.WalletMode != WalletNode && c.WalletMode != WalletForward && c.WalletMode != WalletOff:
		return fmt.Errorf("--wallet-mode must be %s, %s or %s, not %q", WalletNode, WalletForward, WalletOff, c.WalletMode)
	case c.WalletMode == WalletForward && c.ValidatorURL == "":
		return errors.New("--wallet-mode forward needs --validator-url, the validator to which it forwards")
	case c.WalletWait <= 0:
		return fmt.Errorf("--wallet-wait must be positive, it is %s", c.WalletWait)
	}
	return nil
}

// sameAddress reports whether two settings name one address. Port 0 is another one each time.
func sameAddress(a, b string) bool {
	_, port, err := net.SplitHostPort(a)
	return err == nil && a == b && port != "0"
}
