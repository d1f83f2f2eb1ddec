package settings

import (
	"errors"
	"fmt"
	"strings"

	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// AllAutomations stands for all of them in setting wallet-automations.
const AllAutomations = "all"

// Automations reads the settings of automations.
func (c *Config) Automations() (automations.Config, error) {
	settings := automations.Config{AcceptFrom: map[string][]string{}, TopUp: automations.TopUpRule{Throughput: c.WalletTopUp, MinInterval: c.WalletTopUpInterval}}
	for _, rule := range c.WalletAcceptFrom {
		receiver, sender, ok := strings.Cut(rule, "/")
		if !ok || receiver == "" || sender == "" {
			return settings, fmt.Errorf("--wallet-accept-from must be RECEIVER/SENDER, two parties, not %q", rule)
		}
		settings.AcceptFrom[receiver] = append(settings.AcceptFrom[receiver], sender)
	}
	for _, rule := range c.WalletSweep {
		sweep, err := parseSweep(rule)
		if err != nil {
			return settings, err
		}
		settings.Sweeps = append(settings.Sweeps, sweep)
	}
	return settings, nil
}

// parseSweep reads SENDER/RECEIVER/ABOVE/KEEP or SENDER/RECEIVER/ABOVE/KEEP/preapproval.
func parseSweep(rule string) (automations.Sweep, error) {
	fail := func() (automations.Sweep, error) {
		return automations.Sweep{}, fmt.Errorf("--wallet-sweep must be SENDER/RECEIVER/ABOVE/KEEP, two parties and two amounts in dollars, optionally followed by /preapproval, not %q", rule)
	}
	parts := strings.Split(rule, "/")
	if len(parts) == 5 && parts[4] == "preapproval" {
		parts = parts[:4]
	}
	if len(parts) != 4 || parts[0] == "" || parts[1] == "" {
		return fail()
	}
	above, err := decimal.Parse(parts[2])
	if err != nil {
		return fail()
	}
	keep, err := decimal.Parse(parts[3])
	if err != nil {
		return fail()
	}
	return automations.Sweep{Sender: parts[0], Receiver: parts[1], Above: above, Keep: keep, ByPreapproval: strings.Count(rule, "/") == 4}, nil
}

// checkAutomations rejects settings of automations that make no sense.
func (c *Config) checkAutomations() error {
	for _, name := range c.WalletAutomations {
		if name == AllAutomations && len(c.WalletAutomations) > 1 {
			return errors.New("--wallet-automations all includes the others: give it alone")
		}
	}
	if c.WalletTopUp < 0 || c.WalletTopUpInterval < 0 {
		return errors.New("--wallet-top-up and --wallet-top-up-interval must not be negative")
	}
	_, err := c.Automations()
	return err
}
