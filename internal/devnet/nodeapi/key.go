package nodeapi

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Purposes keep hashes of different things apart: each is hashed behind its number.
const (
	purposeTopology     = 11
	purposeManyTopology = 55
	multihashSHA256     = "\x12\x20"
	signingAlgorithm    = "SIGNING_ALGORITHM_SPEC_ED25519"
	keySpecEd25519      = "SIGNING_KEY_SPEC_EC_CURVE25519"
	keyFormatRaw        = "CRYPTO_KEY_FORMAT_RAW"
	keyFormatDER        = "CRYPTO_KEY_FORMAT_DER_X509_SUBJECT_PUBLIC_KEY_INFO"
	signatureFormatRaw  = "SIGNATURE_FORMAT_RAW"
	signatureFormatRS   = "SIGNATURE_FORMAT_CONCAT"
)

// purposeHash returns SHA-256 of the purpose, as four bytes, and the content.
func purposeHash(purpose uint32, content []byte) []byte {
	hash := sha256.Sum256(append(binary.BigEndian.AppendUint32(nil, purpose), content...))
	return hash[:]
}

// multihash marks a SHA-256 hash as one: 0x12, 0x20 and the hash.
func multihash(hash []byte) []byte { return append([]byte(multihashSHA256), hash...) }

// multiHash is the hash of several topology transactions, by which one signature
// authorizes them all: their number and, in the order of their hex texts, their hashes,
// each behind its length.
func multiHash(transactions [][]byte) []byte {
	hashes := make([]string, len(transactions))
	for i, t := range transactions {
		hashes[i] = string(TopologyHash(t))
	}
	slices.Sort(hashes)
	content := binary.BigEndian.AppendUint32(nil, uint32(len(hashes)))
	for _, h := range hashes {
		content = append(binary.BigEndian.AppendUint32(content, uint32(len(h))), h...)
	}
	return multihash(purposeHash(purposeManyTopology, content))
}

// TopologyHash is what a signature of one topology transaction is about.
func TopologyHash(transaction []byte) []byte {
	return multihash(purposeHash(purposeTopology, transaction))
}

// wireKey is a public key as requests have it.
type wireKey struct {
	Format string `json:"format"`
	Data   []byte `json:"keyData"`
	Spec   string `json:"keySpec"`
}

// decode returns the key, which is one for Ed25519.
func (w *wireKey) decode() (ed25519.PublicKey, error) {
	if w.Spec != keySpecEd25519 {
		return nil, invalidField("public_key.key_spec", "%q is not %s, the only one this node has", w.Spec, keySpecEd25519)
	}
	key, err := w.parse()
	if err != nil {
		return nil, invalidField("public_key.key_data", "%v", err)
	}
	return key, nil
}

func (w *wireKey) parse() (ed25519.PublicKey, error) {
	switch w.Format {
	case keyFormatRaw:
		if len(w.Data) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("a key of %d bytes, want %d", len(w.Data), ed25519.PublicKeySize)
		}
		return ed25519.PublicKey(w.Data), nil
	case keyFormatDER:
		parsed, err := x509.ParsePKIXPublicKey(w.Data)
		if err != nil {
			return nil, err
		}
		if key, ok := parsed.(ed25519.PublicKey); ok {
			return key, nil
		}
		return nil, errors.New("the key is not one of Ed25519")
	}
	return nil, fmt.Errorf("format %q is not %s or %s", w.Format, keyFormatRaw, keyFormatDER)
}

// wireSignature is a signature as requests have it.
type wireSignature struct {
	Format    string `json:"format"`
	Signature []byte `json:"signature"`
	SignedBy  string `json:"signedBy"`
	Algorithm string `json:"signingAlgorithmSpec"`
}

// verify checks that a key signed a hash.
func (w *wireSignature) verify(key ed25519.PublicKey, hash []byte) error {
	switch {
	case w.Algorithm != signingAlgorithm:
		return invalidArgument("signing_algorithm_spec %q is not %s", w.Algorithm, signingAlgorithm)
	case w.Format != signatureFormatRaw && w.Format != signatureFormatRS:
		return invalidArgument("format %q is not %s or %s", w.Format, signatureFormatRS, signatureFormatRaw)
	case w.SignedBy != model.Fingerprint(key):
		return invalidArgument("signature by key %q, want one by %s", w.SignedBy, model.Fingerprint(key))
	case !ed25519.Verify(key, hash, w.Signature):
		return invalidArgument("the signature by key %s does not match hash %x", w.SignedBy, hash)
	}
	return nil
}
