package app

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// listeners are the addresses that this process listens on.
type listeners struct {
	p *process
	// bound are those that no server has taken yet, by their setting.
	bound map[string]net.Listener
}

// bindQuery listens on the address of the query tier, and bindAll on those of the interfaces that
// have their own as well: an address that can't be had is found before anything long begins. The
// servers take the listeners when they are made.
func (l *listeners) bindQuery() error { return l.bind(l.p.cfg.Listen, "listen") }

func (l *listeners) bindAll() error {
	if err := l.bindQuery(); err != nil {
		return err
	}
	cfg := l.p.cfg
	address, err := cfg.LedgerAddress()
	if err != nil {
		return settings.AsUsage(err)
	}
	if address != "" && !cfg.LedgerShares() {
		if err := l.bind(address, "ledger-listen"); err != nil {
			return err
		}
	}
	if cfg.ValidatorShares() || cfg.ValidatorListen == settings.ValidatorOff {
		return nil
	}
	return l.bind(cfg.ValidatorListen, "validator-listen")
}

func (l *listeners) bind(address, setting string) error {
	listener, err := l.listen(address, setting)
	if err == nil {
		l.bound[setting] = listener
	}
	return err
}

// listen opens the address of a setting, or takes what was bound for it. It is closed with the
// stack.
func (l *listeners) listen(address, setting string) (net.Listener, error) {
	if listener, ok := l.bound[setting]; ok {
		delete(l.bound, setting)
		return listener, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, explainListen(address, setting, err)
	}
	l.closeListener(listener)
	return listener, nil
}

// explainListen says why an address can't be listened on, and what to do.
func explainListen(address, setting string, err error) error {
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

// closeListener closes a listener at the end, unless its server has.
func (l *listeners) closeListener(listener net.Listener) {
	l.p.onClose(func() error {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
}
