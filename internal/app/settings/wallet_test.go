package settings

import "testing"

func TestSettingsOfAutomations(t *testing.T) {
	good := Config{Wallet: Wallet{WalletAcceptFrom: []string{"bob::12/alice::12", "bob::12/carol::12"}, WalletSweep: []string{"a::1/b::2/100/20.5", "a::1/c::2/100/0/preapproval"}, WalletTopUp: 5}}
	rules, err := good.Automations()
	if err != nil || len(rules.AcceptFrom["bob::12"]) != 2 || len(rules.Sweeps) != 2 || rules.Sweeps[0].ByPreapproval || !rules.Sweeps[1].ByPreapproval ||
		rules.Sweeps[0].Keep.String() != "20.5000000000" || rules.Sweeps[1].Receiver != "c::2" {
		t.Errorf("read %+v, %v", rules, err)
	}
	for name, wrong := range map[string]Wallet{
		"no sender":          {WalletAcceptFrom: []string{"bob::12"}},
		"no amounts":         {WalletSweep: []string{"a::1/b::2"}},
		"an amount of words": {WalletSweep: []string{"a::1/b::2/much/0"}},
		"another ending":     {WalletSweep: []string{"a::1/b::2/1/0/quickly"}},
		"all and more":       {WalletAutomations: []string{"all", "sweep"}},
		"negative traffic":   {WalletTopUp: -1},
	} {
		cfg := Config{Wallet: wrong}
		if cfg.checkAutomations() == nil {
			t.Errorf("%s passes", name)
		}
	}
}
