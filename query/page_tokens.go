package query

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// PageTokens makes and checks page tokens. A token is text for the caller; inside are a
// payload, which says where the next page begins, and a keyed hash over the payload
// and the request it belongs to.
type PageTokens struct{ Key []byte }

// tokenSize is the length of the keyed hash: 128 bits cannot be guessed.
const tokenSize = 16

// maxToken bounds the tokens that are looked at.
const maxToken = 8192

// Seal makes a token. request is anything that identifies the request apart from the
// token itself and the page size.
func (t PageTokens) Seal(request, payload []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(t.MAC(request, payload), payload...))
}

// Open returns the payload of a token that Seal made for the same request; ok is false for
// any other text.
func (t PageTokens) Open(request []byte, token string) (payload []byte, ok bool) {
	if len(token) > maxToken {
		return nil, false
	}
	// Strict, so that one token has one text only.
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < tokenSize || !hmac.Equal(raw[:tokenSize], t.MAC(request, raw[tokenSize:])) {
		return nil, false
	}
	return raw[tokenSize:], true
}

// MAC is the keyed hash of a token.
func (t PageTokens) MAC(request, payload []byte) []byte {
	h := hmac.New(sha256.New, t.Key)
	// Lengths keep the two parts apart.
	h.Write(binary.AppendUvarint(nil, uint64(len(request))))
	h.Write(request)
	h.Write(payload)
	return h.Sum(nil)[:tokenSize]
}
