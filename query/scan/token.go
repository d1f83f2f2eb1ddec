package scan

import "github.com/ledgerlake/ledgerlake/query"

// tokens are page tokens with the error of this interface.
type tokens struct{ query.PageTokens }

// open returns the payload of a token that Seal made for the same request.
func (t tokens) open(request []byte, token string) ([]byte, error) {
	payload, ok := t.Open(request, token)
	if !ok {
		return nil, invalidToken()
	}
	return payload, nil
}
