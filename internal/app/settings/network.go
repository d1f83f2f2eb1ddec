package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// networkKey is a key of the network's own configuration of validators that the file may have, too.
type networkKey struct {
	setting string
	value   func(*yaml.Node) (string, error)
}

var networkKeys = map[string]networkKey{
	"validatorWalletUser": {"validator-user", plainValue},
	"targetThroughput":    {"wallet-top-up", plainValue},
	"minTopupInterval":    {"wallet-top-up-interval", plainValue},
	"walletSweep":         {"wallet-sweep", sweeps},
	"autoAcceptTransfers": {"wallet-accept-from", acceptances},
}

// topUpKey has the keys of top-ups below it.
const topUpKey = "topup"

// networkKeysOf replaces a group of the network's keys by its members, and returns others as they are,
// key and value in turns.
func networkKeysOf(key, value *yaml.Node) ([]*yaml.Node, error) {
	if key.Value != topUpKey || value.Kind != yaml.MappingNode {
		return []*yaml.Node{key, value}, nil
	}
	var members struct {
		Enabled *bool     `yaml:"enabled"`
		Target  yaml.Node `yaml:"targetThroughput"`
		Least   yaml.Node `yaml:"minTopupInterval"`
	}
	if err := decodeStrictly(value, &members); err != nil {
		return nil, err
	}
	if members.Enabled != nil && !*members.Enabled {
		return nil, nil
	}
	var kept []*yaml.Node
	for pair := range slices.Chunk(value.Content, 2) {
		if pair[0].Value != "enabled" {
			kept = append(kept, pair...)
		}
	}
	return kept, nil
}

func plainValue(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", errors.New("must be one plain value")
	}
	return n.Value, nil
}

// sweeps are those of --wallet-sweep.
func sweeps(n *yaml.Node) (string, error) {
	var bySender map[string]struct {
		Above       string `yaml:"maxBalanceUSD"`
		Keep        string `yaml:"minBalanceUSD"`
		Receiver    string `yaml:"receiver"`
		Preapproval bool   `yaml:"useTransferPreapproval"`
	}
	if err := decodeStrictly(n, &bySender); err != nil {
		return "", err
	}
	var list []string
	for sender, s := range bySender {
		if s.Above == "" || s.Keep == "" || s.Receiver == "" {
			return "", fmt.Errorf("of %s needs maxBalanceUSD, minBalanceUSD and receiver", sender)
		}
		sweep := strings.Join([]string{sender, s.Receiver, s.Above, s.Keep}, "/")
		if s.Preapproval {
			sweep += "/preapproval"
		}
		list = append(list, sweep)
	}
	return joined(list), nil
}

// acceptances are those of --wallet-accept-from.
func acceptances(n *yaml.Node) (string, error) {
	var byReceiver map[string]struct {
		From []string `yaml:"fromParties"`
	}
	if err := decodeStrictly(n, &byReceiver); err != nil {
		return "", err
	}
	var list []string
	for receiver, a := range byReceiver {
		for _, sender := range a.From {
			list = append(list, receiver+"/"+sender)
		}
	}
	return joined(list), nil
}

func joined(list []string) string {
	slices.Sort(list)
	return strings.Join(list, ",")
}

// decodeStrictly decodes a node and refuses members that the target does not have.
func decodeStrictly(n *yaml.Node, into any) error {
	raw, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(strings.NewReader(string(raw)))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		var mistyped *yaml.TypeError
		if errors.As(err, &mistyped) {
			return fmt.Errorf("cannot be read: %s", strings.Join(mistyped.Errors, "; "))
		}
		return err
	}
	return nil
}
