package app

import (
	"errors"
	"net"

	"github.com/ledgerlake/ledgerlake/internal/app/probe"
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
// process.
func (l *listeners) listen(address, setting string) (net.Listener, error) {
	if listener, ok := l.bound[setting]; ok {
		delete(l.bound, setting)
		return listener, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, probe.ExplainListen(address, setting, err)
	}
	l.closeListener(listener)
	return listener, nil
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
