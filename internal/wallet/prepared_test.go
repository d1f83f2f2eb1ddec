package wallet

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func varint(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

func TestCreatedInAPreparedTransaction(t *testing.T) {
	create := field(fieldCreate, slices.Concat(field(1, []byte("2.1")), field(fieldContractID, []byte("00abcd"))))
	exercise := field(3, field(1, []byte("2.1")))
	node := func(content []byte) []byte {
		return field(fieldNodes, slices.Concat(field(1, []byte("0")), field(fieldNodeV1, content)))
	}
	transaction := slices.Concat(field(1, []byte("2.1")), field(2, []byte("0")), node(exercise), node(create))
	cases := []struct {
		name     string
		prepared []byte
		want     string
	}{
		{"protobuf", slices.Concat(varint(9, 300), field(fieldTransaction, transaction), field(2, []byte("metadata"))), "00abcd"},
		{"nothing created", field(fieldTransaction, node(exercise)), ""},
		{"cut", field(fieldTransaction, transaction)[:20], ""},
		{"empty", nil, ""},
		{"no message", []byte("hello"), ""},
	}
	for _, c := range cases {
		if got, err := createdIn(c.prepared); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func FuzzCreatedIn(f *testing.F) {
	f.Add(field(fieldTransaction, field(fieldNodes, field(fieldNodeV1, field(fieldCreate, field(fieldContractID, []byte("00")))))))
	f.Fuzz(func(t *testing.T, prepared []byte) {
		if id, err := createdIn(prepared); err == nil && id == "" && len(prepared) == 0 {
			t.Error("an empty message creates a contract")
		}
	})
}
