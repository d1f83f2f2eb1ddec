package scan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// tokens makes and checks page tokens. A token is text for the caller; inside are a
// payload, which says where the next page begins, and a keyed hash over the payload
// and the request it belongs to.
type tokens struct{ key []byte }

// tokenSize is the length of the keyed hash: 128 bits cannot be guessed.
const tokenSize = 16

// maxToken bounds the tokens that are looked at.
const maxToken = 8192

// seal makes a token. request is anything that identifies the request apart from the
// token itself and the page size.
func (t tokens) seal(request, payload []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(t.mac(request, payload), payload...))
}

// open returns the payload of a token that seal made for the same request.
func (t tokens) open(request []byte, token string) ([]byte, error) {
	// Strict, so that one token has one text only.
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(token) > maxToken || len(raw) < tokenSize ||
		!hmac.Equal(raw[:tokenSize], t.mac(request, raw[tokenSize:])) {
		return nil, invalidToken()
	}
	return raw[tokenSize:], nil
}

func (t tokens) mac(request, payload []byte) []byte {
	h := hmac.New(sha256.New, t.key)
	// Lengths keep the two parts apart.
	h.Write(binary.AppendUvarint(nil, uint64(len(request))))
	h.Write(request)
	h.Write(payload)
	return h.Sum(nil)[:tokenSize]
}
