package app

import (
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

func TestWhereAutomationsRun(t *testing.T) {
	cases := []struct {
		name string
		cfg  settings.Config
		dev  string
		tick bool
		want []string
		ok   bool
	}{
		{"nowhere by default", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletNode}, Upstream: settings.Upstream{NodeURL: "http://x"}}, "", false, nil, false},
		{"on the simulated network", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletNode}}, "http://x", false, nil, false},
		{"where it lives by the wall clock", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletNode}}, "http://x", true, nil, true},
		{"all", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletNode, WalletAutomations: []string{"all"}}, Upstream: settings.Upstream{NodeURL: "http://x"}}, "", false, nil, true},
		{"some", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletNode, WalletAutomations: []string{"sweep"}}, Upstream: settings.Upstream{NodeURL: "http://x"}}, "", false, []string{"sweep"}, true},
		{"without a node", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletNode, WalletAutomations: []string{"all"}}}, "", false, nil, false},
		{"when forwarding", settings.Config{Wallet: settings.Wallet{WalletMode: settings.WalletForward, WalletAutomations: []string{"all"}}, Upstream: settings.Upstream{NodeURL: "http://x"}}, "", false, nil, false},
	}
	for _, c := range cases {
		s := &wallets{p: &process{cfg: &c.cfg, devnetNode: c.dev, devnetClock: c.tick}}
		if names, ok := s.automationNames(); ok != c.ok || !slices.Equal(names, c.want) {
			t.Errorf("%s: %q, %v", c.name, names, ok)
		}
	}
}
