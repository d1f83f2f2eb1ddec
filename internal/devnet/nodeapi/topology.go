package nodeapi

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Kinds of topology transactions that bring an external party about.
const (
	namespaceDelegation = "NAMESPACE_DELEGATION"
	partyToParticipant  = "PARTY_TO_PARTICIPANT"
	partyToKey          = "PARTY_TO_KEY"
)

// topologyMapping is a topology transaction: JSON with sorted members and no white space,
// so that equal ones have equal bytes and hashes.
type topologyMapping struct {
	Mapping      string `json:"mapping"`
	Namespace    string `json:"namespace"` // fingerprint of the party's key
	Participant  string `json:"participant,omitempty"`
	Party        string `json:"party,omitempty"`
	Permission   string `json:"permission,omitempty"`
	PublicKey    string `json:"publicKey"` // 32 bytes in hex
	Serial       int    `json:"serial"`
	Synchronizer string `json:"synchronizer"`
	Threshold    int    `json:"threshold"`
}

// externalParty is a party that signs for itself.
type externalParty struct {
	hint string
	key  ed25519.PublicKey
}

func (p externalParty) id() string {
	return p.hint + model.PartyNamespaceMark + model.Fingerprint(p.key)
}

// transactions returns what brings the party about on a node: the key speaks for its
// namespace, the node hosts the party, the key signs its transactions.
func (p externalParty) transactions(participant, synchronizer string) ([][]byte, error) {
	base := topologyMapping{Namespace: model.Fingerprint(p.key), PublicKey: hex.EncodeToString(p.key),
		Serial: 1, Synchronizer: synchronizer, Threshold: 1}
	delegation, hosting, signing := base, base, base
	delegation.Mapping = namespaceDelegation
	hosting.Mapping, hosting.Party, hosting.Participant, hosting.Permission = partyToParticipant, p.id(), participant, "CONFIRMATION"
	signing.Mapping, signing.Party = partyToKey, p.id()
	var list [][]byte
	for _, m := range []topologyMapping{delegation, hosting, signing} {
		b, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encoding topology of party %s: %w", p.id(), err)
		}
		list = append(list, b)
	}
	return list, nil
}

// partyOf finds out which party some topology transactions bring about: they must be all
// that transactions returns, in any order, to the byte.
func partyOf(transactions [][]byte, participant, synchronizer string) (externalParty, error) {
	var p externalParty
	for _, t := range transactions {
		var m topologyMapping
		if err := json.Unmarshal(t, &m); err != nil {
			return p, invalidArgument("an onboarding transaction cannot be decoded: %v", err)
		}
		if m.Mapping != partyToParticipant {
			continue
		}
		key, err := hex.DecodeString(m.PublicKey)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return p, invalidArgument("an onboarding transaction has no key of %d bytes", ed25519.PublicKeySize)
		}
		p = externalParty{model.Hint(m.Party), key}
	}
	if p.key == nil {
		return p, invalidArgument("the onboarding transactions have no %s mapping", partyToParticipant)
	}
	if err := checkPartyHint(p.hint); err != nil {
		return p, err
	}
	want, err := p.transactions(participant, synchronizer)
	if err != nil {
		return p, err
	}
	if !slices.Equal(sortedTexts(transactions), sortedTexts(want)) {
		return p, invalidArgument("the onboarding transactions are not the %d that host party %s on %s only", len(want), p.id(), participant)
	}
	return p, nil
}

func sortedTexts(list [][]byte) []string {
	texts := make([]string, len(list))
	for i, b := range list {
		texts[i] = string(b)
	}
	slices.Sort(texts)
	return texts
}

func checkPartyHint(hint string) error {
	if !ledger.ValidHint(hint) {
		return invalidField("party_id_hint", "%.200q has not 1 to %d letters, digits, - or _", hint, ledger.MaxHint)
	}
	return nil
}
