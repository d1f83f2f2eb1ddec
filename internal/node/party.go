package node

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const (
	partiesOperation      = "/v2/parties"
	partyOperation        = "/v2/parties/{party}"
	participantOperation  = "/v2/parties/participant-id"
	topologyOperation     = "/v2/parties/external/generate-topology"
	allocateOperation     = "/v2/parties/external/allocate"
	synchronizerOperation = "/v2/state/connected-synchronizers"
)

// Formats and schemes of keys and signatures that external parties use here.
const (
	keyRaw          = "CRYPTO_KEY_FORMAT_RAW"
	keyEd25519      = "SIGNING_KEY_SPEC_EC_CURVE25519"
	signatureConcat = "SIGNATURE_FORMAT_CONCAT"
	ed25519Spec     = "SIGNING_ALGORITHM_SPEC_ED25519"
)

// Party is a party that the node knows.
type Party struct {
	ID    string `json:"party"`
	Local bool   `json:"isLocal"`
}

// Party returns a party; ok is false if the node does not know it.
func (c *Client) Party(ctx context.Context, id string) (p Party, ok bool, err error) {
	var answer struct {
		Details []Party `json:"partyDetails"`
	}
	k := &call{method: "GET", operation: partyOperation, path: partiesOperation + "/" + url.PathEscape(id)}
	if err := c.do(ctx, k, &answer); err != nil {
		return Party{}, false, err
	}
	for _, p := range answer.Details {
		if p.ID == id {
			return p, true, nil
		}
	}
	return Party{}, false, nil
}

// AllocateParty makes a party of the node's own namespace, whose name begins with the hint.
func (c *Client) AllocateParty(ctx context.Context, hint string) (string, error) {
	var answer struct {
		Details Party `json:"partyDetails"`
	}
	if err := c.post(ctx, partiesOperation, map[string]any{"partyIdHint": hint, "identityProviderId": ""}, &answer); err != nil {
		return "", err
	}
	if answer.Details.ID == "" {
		return "", fmt.Errorf("the node's answer does not name the party that it allocated for hint %q", hint)
	}
	return answer.Details.ID, nil
}

// ParticipantID returns the id of the node.
func (c *Client) ParticipantID(ctx context.Context) (string, error) {
	var answer struct {
		ID string `json:"participantId"`
	}
	err := c.get(ctx, participantOperation, nil, &answer)
	return answer.ID, err
}

// Synchronizer is one that the node is connected to.
type Synchronizer struct {
	Alias string `json:"synchronizerAlias"`
	ID    string `json:"synchronizerId"`
}

// Synchronizers returns those that the node is connected to.
func (c *Client) Synchronizers(ctx context.Context) ([]Synchronizer, error) {
	var answer struct {
		Connected []Synchronizer `json:"connectedSynchronizers"`
	}
	err := c.get(ctx, synchronizerOperation, nil, &answer)
	return answer.Connected, err
}

// Topology is what must be signed for the node to host an external party.
type Topology struct {
	Party       string `json:"partyId"`
	Fingerprint string `json:"publicKeyFingerprint"` // of its key
	// Transactions are the topology transactions.
	Transactions [][]byte `json:"topologyTransactions"`
	// MultiHash is a hash of all of them, which may be signed in place of each.
	MultiHash []byte `json:"multiHash"`
}

// GenerateTopology asks the node for the topology of an external party with a key (Ed25519,
// 32 bytes).
func (c *Client) GenerateTopology(ctx context.Context, synchronizer, hint string, publicKey []byte) (answer Topology, err error) {
	request := map[string]any{
		"synchronizer": synchronizer, "partyHint": hint,
		"publicKey": map[string]string{"format": keyRaw, "keyData": base64.StdEncoding.EncodeToString(publicKey), "keySpec": keyEd25519},
	}
	if err := c.post(ctx, topologyOperation, request, &answer); err != nil {
		return Topology{}, err
	}
	if answer.Party == "" || len(answer.Transactions) == 0 {
		return Topology{}, errors.New("the node's answer has no party or no topology transaction")
	}
	return answer, nil
}

// signature is one in the node's JSON.
type signature struct {
	Format    string `json:"format"`
	Signature []byte `json:"signature"`
	SignedBy  string `json:"signedBy"`
	Algorithm string `json:"signingAlgorithmSpec"`
}

// signatureBy is an Ed25519 signature of the key with a fingerprint.
func signatureBy(fingerprint string, text []byte) signature {
	return signature{Format: signatureConcat, Signature: text, SignedBy: fingerprint, Algorithm: ed25519Spec}
}

// SignedTransaction is a topology transaction with a signature (Ed25519) of its own.
type SignedTransaction struct {
	Transaction, Signature []byte
}

// AllocateExternal has the node host an external party whose key has a fingerprint. It waits
// until the node knows the party.
func (c *Client) AllocateExternal(ctx context.Context, synchronizer, fingerprint string, signed []SignedTransaction) (party string, err error) {
	type onboarding struct {
		Transaction []byte      `json:"transaction"`
		Signatures  []signature `json:"signatures"`
	}
	transactions := make([]onboarding, len(signed))
	for i, s := range signed {
		transactions[i] = onboarding{s.Transaction, []signature{signatureBy(fingerprint, s.Signature)}}
	}
	var answer struct {
		Party string `json:"partyId"`
	}
	request := map[string]any{"synchronizer": synchronizer, "onboardingTransactions": transactions, "identityProviderId": "", "waitForAllocation": true}
	if err := c.post(ctx, allocateOperation, request, &answer); err != nil {
		return "", err
	}
	if answer.Party == "" {
		return "", errors.New("the node's answer does not name the external party that it now hosts")
	}
	return answer.Party, nil
}

// Fingerprint is the part of a party id that names its key, "" if it has none.
func Fingerprint(party string) string {
	_, fingerprint, _ := strings.Cut(party, "::")
	return fingerprint
}

// HexFingerprint reports whether a fingerprint has the form of one: a multihash (SHA-256).
func HexFingerprint(fingerprint string) bool {
	raw, err := hex.DecodeString(fingerprint)
	return err == nil && len(raw) == 34 && raw[0] == 0x12 && raw[1] == 0x20
}
