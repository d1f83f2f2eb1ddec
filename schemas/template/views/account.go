package views

import (
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Version 2 of the token standard has accounts where version 1 has parties. Contracts of version 1 keep
// what they cannot say otherwise in metadata.
const (
	standardKeys      = "cip-112/"
	extraExecutorsKey = standardKeys + "extra-executors"
)

// account is the account of an owner, by the metadata about the field that names it.
func account(owner jsonscan.Value, m metadata, field string) jsonscan.Value {
	id, provider := m.At(idKey(field)), m.At(providerKey(field))
	if id == nil {
		id = jsonscan.Value(`""`)
	}
	if provider.Text() == "" {
		provider = none
	}
	return fill(nil, `{"id":$,"owner":$,"provider":$}`, id, owner, provider)
}

func idKey(field string) string       { return standardKeys + field + ".id" }
func providerKey(field string) string { return standardKeys + field + ".provider" }

// withoutAccounts is the metadata of a transfer without what is about its two accounts.
func (m metadata) withoutAccounts() jsonscan.Value {
	return m.without(idKey("sender"), providerKey("sender"), idKey("receiver"), providerKey("receiver"))
}

// parties reads a list of parties that stands in metadata, with commas between them.
func (m metadata) parties(key string) []string {
	text := m.At(key).Text()
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// appendParties appends a list of parties.
func appendParties(dst []byte, parties []string) []byte {
	dst = append(dst, '[')
	for i, p := range parties {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, []byte(p))
	}
	return append(dst, ']')
}
