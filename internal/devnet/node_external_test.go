package devnet

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// testKey is a key that depends on nothing but a number.
func testKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// hashBehind is SHA-256 of four bytes and some texts, written down once more.
func hashBehind(purpose string, contents ...[]byte) []byte {
	h := sha256.Sum256(append([]byte(purpose), bytes.Join(contents, nil)...))
	return h[:]
}

type topologyAnswer struct {
	PartyID      string   `json:"partyId"`
	Fingerprint  string   `json:"publicKeyFingerprint"`
	Transactions [][]byte `json:"topologyTransactions"`
	MultiHash    []byte   `json:"multiHash"`
}

func generateBody(l *ledger.Ledger, hint string, key ed25519.PublicKey, members ...string) string {
	return fmt.Sprintf(`{"synchronizer":%q,"partyHint":%q,"publicKey":{"format":"CRYPTO_KEY_FORMAT_RAW","keyData":%q,"keySpec":"SIGNING_KEY_SPEC_EC_CURVE25519"}%s}`,
		l.Names.Synchronizers[0], hint, base64.StdEncoding.EncodeToString(key), strings.Join(append([]string{""}, members...), ","))
}

// signatureBy is a signature as requests have it.
func signatureBy(key ed25519.PrivateKey, content []byte) string {
	return fmt.Sprintf(`{"format":"SIGNATURE_FORMAT_CONCAT","signature":%q,"signedBy":%q,"signingAlgorithmSpec":"SIGNING_ALGORITHM_SPEC_ED25519"}`,
		base64.StdEncoding.EncodeToString(ed25519.Sign(key, content)), model.Fingerprint(publicOf(key)))
}

// onboardBody is a request for an external party; sign returns the signatures of one of its
// transactions, all those of the whole.
func onboardBody(l *ledger.Ledger, transactions [][]byte, sign func([]byte) string, all string) string {
	list := make([]string, len(transactions))
	for i, t := range transactions {
		signatures := ""
		if sign != nil {
			signatures = sign(t)
		}
		list[i] = fmt.Sprintf(`{"transaction":%q,"signatures":[%s]}`, base64.StdEncoding.EncodeToString(t), signatures)
	}
	return fmt.Sprintf(`{"synchronizer":%q,"onboardingTransactions":[%s],"multiHashSignatures":[%s]}`,
		l.Names.Synchronizers[0], strings.Join(list, ","), all)
}

func TestNodeGeneratesTopology(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	key := testKey(1)
	var raw, der topologyAnswer
	c.call("POST", "/v2/parties/external/generate-topology", generateBody(l, "ada", publicOf(key)), &raw)
	spki, err := x509.MarshalPKIXPublicKey(publicOf(key))
	if err != nil {
		t.Fatal(err)
	}
	asDER := strings.NewReplacer("FORMAT_RAW", "FORMAT_DER_X509_SUBJECT_PUBLIC_KEY_INFO",
		base64.StdEncoding.EncodeToString(publicOf(key)), base64.StdEncoding.EncodeToString(spki))
	c.call("POST", "/v2/parties/external/generate-topology", asDER.Replace(generateBody(l, "ada", publicOf(key))), &der)
	if fmt.Sprint(raw) != fmt.Sprint(der) {
		t.Errorf("by raw key %+v, by DER %+v", raw, der)
	}
	fingerprint := "1220" + hex.EncodeToString(hashBehind("\x00\x00\x00\x0c", publicOf(key)))
	if raw.Fingerprint != fingerprint || raw.PartyID != "ada::"+fingerprint || len(raw.Transactions) != 3 {
		t.Errorf("party %s, fingerprint %s, %d transactions, want fingerprint %s", raw.PartyID, raw.Fingerprint, len(raw.Transactions), fingerprint)
	}
	var hashes [][]byte
	for _, transaction := range raw.Transactions {
		hashes = append(hashes, append([]byte{0x12, 0x20}, hashBehind("\x00\x00\x00\x0b", transaction)...))
	}
	slices.SortFunc(hashes, bytes.Compare)
	content := []byte{0, 0, 0, 3}
	for _, h := range hashes {
		content = append(append(content, 0, 0, 0, 34), h...)
	}
	if want := append([]byte{0x12, 0x20}, hashBehind("\x00\x00\x00\x37", content)...); !bytes.Equal(raw.MultiHash, want) {
		t.Errorf("multi-hash %x, want %x", raw.MultiHash, want)
	}
}

func TestNodeExternalPartyRefusals(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	key, other := testKey(2), testKey(3)
	const generate, allocate = "/v2/parties/external/generate-topology", "/v2/parties/external/allocate"
	good := generateBody(l, "ada", publicOf(key))
	replaced := func(old, changed string) string { return strings.Replace(good, old, changed, 1) }
	var a, b topologyAnswer
	c.call("POST", generate, good, &a)
	c.call("POST", generate, generateBody(l, "ada", publicOf(other)), &b)
	each := func(k ed25519.PrivateKey) func([]byte) string {
		return func(transaction []byte) string { return signatureBy(k, nodeapi.TopologyHash(transaction)) }
	}
	changed := bytes.Replace(a.Transactions[1], []byte(`"threshold":1`), []byte(`"threshold":2`), 1)
	for _, tc := range []refusal{
		{"no JSON", "POST", generate, `{`, 400, ""},
		{"no key", "POST", generate, `{"synchronizer":"x"}`, 400, ""},
		{"a key that is no base64", "POST", generate, replaced(`"keyData":"`, `"keyData":"%`), 400, ""},
		{"no synchronizer", "POST", generate, replaced(`"synchronizer":`, `"x":`), 400, "MISSING_FIELD"},
		{"an unknown synchronizer", "POST", generate, replaced(l.Names.Synchronizers[0], "x::y"), 400, "INVALID_ARGUMENT"},
		{"no hint", "POST", generate, replaced(`"ada"`, `""`), 400, "INVALID_FIELD"},
		{"a hint with a fingerprint", "POST", generate, replaced(`"ada"`, `"ada::1220"`), 400, "INVALID_FIELD"},
		{"a hint too long", "POST", generate, replaced(`"ada"`, `"`+strings.Repeat("a", ledger.MaxHint+1)+`"`), 400, "INVALID_FIELD"},
		{"a short key", "POST", generate, generateBody(l, "ada", publicOf(key)[:31]), 400, "INVALID_FIELD"},
		{"a key of another kind", "POST", generate, replaced("CURVE25519", "P256"), 400, "INVALID_FIELD"},
		{"a key in another format", "POST", generate, replaced("FORMAT_RAW", "FORMAT_SYMBOLIC"), 400, "INVALID_FIELD"},
		{"a raw key as DER", "POST", generate, replaced("FORMAT_RAW", "FORMAT_DER_X509_SUBJECT_PUBLIC_KEY_INFO"), 400, "INVALID_FIELD"},
		{"another participant", "POST", generate, generateBody(l, "ada", publicOf(key), `"otherConfirmingParticipantUids":["PAR::x::y"]`), 400, "INVALID_ARGUMENT"},
		{"a high threshold", "POST", generate, generateBody(l, "ada", publicOf(key), `"confirmationThreshold":2`), 400, "INVALID_ARGUMENT"},
		{"nothing to allocate", "POST", allocate, `{"synchronizer":"x"}`, 400, "MISSING_FIELD"},
		{"no signature", "POST", allocate, onboardBody(l, a.Transactions, nil, ""), 400, "INVALID_ARGUMENT"},
		{"one transaction unsigned", "POST", allocate, strings.Replace(onboardBody(l, a.Transactions, each(key), ""), each(key)(a.Transactions[2]), "", 1), 400, "INVALID_ARGUMENT"},
		{"signed by another", "POST", allocate, onboardBody(l, a.Transactions, each(other), ""), 400, "INVALID_ARGUMENT"},
		{"in the name of another", "POST", allocate, onboardBody(l, a.Transactions, nil, strings.Replace(signatureBy(other, a.MultiHash), model.Fingerprint(publicOf(other)), model.Fingerprint(publicOf(key)), 1)), 400, "INVALID_ARGUMENT"},
		{"the text of a hash signed", "POST", allocate, onboardBody(l, a.Transactions, nil, signatureBy(key, []byte(hex.EncodeToString(a.MultiHash)))), 400, "INVALID_ARGUMENT"},
		{"another algorithm", "POST", allocate, onboardBody(l, a.Transactions, nil, strings.Replace(signatureBy(key, a.MultiHash), "ED25519", "EC_DSA_SHA_256", 1)), 400, "INVALID_ARGUMENT"},
		{"another signature format", "POST", allocate, onboardBody(l, a.Transactions, nil, strings.Replace(signatureBy(key, a.MultiHash), "CONCAT", "DER", 1)), 400, "INVALID_ARGUMENT"},
		{"no hosting", "POST", allocate, onboardBody(l, [][]byte{a.Transactions[0], a.Transactions[2]}, each(key), ""), 400, "INVALID_ARGUMENT"},
		{"no delegation", "POST", allocate, onboardBody(l, a.Transactions[1:], each(key), ""), 400, "INVALID_ARGUMENT"},
		{"one twice", "POST", allocate, onboardBody(l, append(slices.Clone(a.Transactions), a.Transactions[0]), each(key), ""), 400, "INVALID_ARGUMENT"},
		{"of two parties", "POST", allocate, onboardBody(l, [][]byte{b.Transactions[0], a.Transactions[1], a.Transactions[2]}, each(key), ""), 400, "INVALID_ARGUMENT"},
		{"something else in them", "POST", allocate, onboardBody(l, [][]byte{a.Transactions[0], changed, a.Transactions[2]}, each(key), ""), 400, "INVALID_ARGUMENT"},
		{"no topology", "POST", allocate, onboardBody(l, [][]byte{{1, 2, 3}}, each(key), ""), 400, "INVALID_ARGUMENT"},
	} {
		c.refuses(tc)
	}
	if c.ledgerEnd() != l.NodeDigests().LedgerEnd || slices.Contains(allNames(l), a.PartyID) {
		t.Error("a refused party is there")
	}
}

// allNames are the ids of all parties.
func allNames(l *ledger.Ledger) []string {
	ids := make([]string, l.Names.Count())
	for p := range ids {
		ids[p] = l.Names.Name(model.Party(p))
	}
	return ids
}
