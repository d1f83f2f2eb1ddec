package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filled are the settings of wallets that a file sets.
func filled(t *testing.T, text string) (c *Config, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c = &Config{}
	all := c.Flags().All()
	return c, Fill(all, all, file)
}

func TestKeysOfTheNetworkInTheFile(t *testing.T) {
	const alice, bob = "alice::1220", "bob::1220"
	c, err := filled(t, `
validatorWalletUser: administrator
topup: {enabled: true, targetThroughput: 20000, minTopupInterval: 1m}
walletSweep:
  "alice::1220": {maxBalanceUSD: 1000, minBalanceUSD: 10.5, receiver: "bob::1220"}
  "zoe::1220": {maxBalanceUSD: 7, minBalanceUSD: 0, receiver: "bob::1220", useTransferPreapproval: true}
autoAcceptTransfers:
  "alice::1220": {fromParties: ["bob::1220", "zoe::1220"]}
`)
	if err != nil {
		t.Fatal(err)
	}
	sweep, accept := strings.Join(c.WalletSweep, " "), strings.Join(c.WalletAcceptFrom, " ")
	if c.ValidatorUser != "administrator" || c.WalletTopUp != 20000 || c.WalletTopUpInterval.String() != "1m0s" ||
		sweep != alice+"/"+bob+"/1000/10.5 zoe::1220/"+bob+"/7/0/preapproval" || accept != alice+"/"+bob+" "+alice+"/zoe::1220" {
		t.Errorf("user %q, top-up %v every %s, sweep %q, accept %q", c.ValidatorUser, c.WalletTopUp, c.WalletTopUpInterval, sweep, accept)
	}
	if c, err := filled(t, "topup: {enabled: false, targetThroughput: 20000}\ntargetThroughput: 3"); err != nil || c.WalletTopUp != 3 {
		t.Errorf("a group that is off: %v, %v", c.WalletTopUp, err)
	}
	for text, want := range map[string]string{
		"topup: {targetThroughput: many}":                                "config.yaml:1: targetThroughput must be",
		"topup: {target: 1}":                                             "config.yaml:1: topup cannot be read: line 1: field target not found",
		"topup: 5":                                                       `unknown key "topup"`,
		"topup: {targetThroughput: {a: 1}}":                              "config.yaml:1: targetThroughput must be one plain value",
		"listen: x\nwallet_top_up: 1\ntargetThroughput: 2":               "config.yaml:3: targetThroughput is already set in line 2",
		"walletSweep: {a: {maxBalanceUSD: 1, receiver: b}}":              "walletSweep of a needs maxBalanceUSD, minBalanceUSD and receiver",
		"walletSweep: [a]":                                               "walletSweep cannot be read",
		"autoAcceptTransfers: {a: {fromParties: b}}":                     "autoAcceptTransfers cannot be read",
		"autoAcceptTransfers: {a: {fromParties: [b]}, a: {}}":            "already defined",
		"validatorWalletUser: [a, b]":                                    "validatorWalletUser must be one plain value",
		"walletSweep: {a: {maxBalanceUSD: 1, max: 2, receiver: b, x: }}": "walletSweep cannot be read",
	} {
		if _, err := filled(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
