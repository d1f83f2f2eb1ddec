package prepared_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/prepared"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

const madeAt = 1_780_000_000_000_000 // µs

// everything is a contract with values of all kinds.
type everything struct{ at int64 }

func (e everything) Arguments(a *model.Arena, _ uint8) model.Value {
	shape := model.NewShape("unit", "yes", "no", "less", "amount", "who", "note", "contract", "at", "day", "color", "tagged", "list", "none", "some", "nothing", "nested", "texts", "pairs", "noPairs", "record")
	return a.Record(shape, model.Unit(), model.Boolean(true), model.Boolean(false), model.Int64Value(-42), model.Numeric(model.Coins(3)), model.PartyValue(2),
		model.Text("näher"), model.ContractID(9), model.Timestamp(e.at), model.Date(20_000), model.Enum("Red"), a.Variant("Tag", model.Int64Value(1)),
		a.List(model.Text("a"), model.Text("")), model.None(), a.Some(model.Text("x")), a.Some(model.None()), a.Some(a.Some(model.Int64Value(7))),
		a.TextMap(model.Text("k"), model.Boolean(true)), a.GenMap(model.PartyValue(1), model.Int64Value(2)), a.GenMap(), a.Record(model.NewShape("empty"), a.List()))
}

func (everything) Stakeholders(sig, obs []model.Party) ([]model.Party, []model.Party) {
	return append(sig, 3, 1), append(obs, 2)
}

// tiny is a contract that says when it was made.
type tiny struct{ at int64 }

func (t tiny) Arguments(a *model.Arena, _ uint8) model.Value {
	return a.Record(model.NewShape("at"), model.Timestamp(t.at))
}

func (tiny) Stakeholders(sig, obs []model.Party) ([]model.Party, []model.Party) {
	return append(sig, 1), obs
}

// drafted is a prepared transaction in which a contract with values of all kinds has a choice
// exercised that creates another, and then a third is created.
func drafted(names *model.Names, at int64) []byte {
	contract := func(n uint64, p model.Payload) *model.Contract {
		return &model.Contract{Number: n, Template: model.AmuletTemplate, CreatedAt: madeAt + 1, Payload: p, Version: 1}
	}
	var a model.Arena
	input := contract(1, everything{madeAt})
	d := prepared.Draft{
		Names:          names,
		Submission:     &choices.Submission{CommandID: "c", ActAs: []string{names.Name(3), names.Name(1)}, Reserved: 77, MinLedgerTime: time.UnixMicro(5), MaxRecordTime: time.UnixMicro(6)},
		SynchronizerID: names.Synchronizers[0],
		Update: &sim.Update{Version: 1, Nodes: []sim.Node{
			{Contract: input, Choice: "Do", Iface: names.Interfaces[model.HoldingInterface], Argument: a.Record(model.NewShape("to"), model.PartyValue(1)),
				Result: a.List(model.Timestamp(at)), Consuming: true, Actors: []model.Party{3}, Observers: []model.Party{2}, End: 2},
			{Contract: contract(2, tiny{at}), End: 2},
			{Contract: contract(3, tiny{at}), End: 3},
		}},
		Inputs:     []*model.Contract{input},
		PreparedAt: madeAt + 2,
	}
	return d.Encode()
}

func mustDecode(t testing.TB, b []byte) *prepared.Transaction {
	t.Helper()
	p, err := prepared.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestHashIsThatOfClients compares with what @canton-network/core-tx-visualizer 1.7.0
// computed of these bytes: as published for V2, with the documented differences for V3.
func TestHashIsThatOfClients(t *testing.T) {
	p := mustDecode(t, drafted(model.NewNames(7, 100, 1), madeAt))
	for scheme, want := range map[prepared.Scheme]string{
		prepared.V2: "7e4d79554f8f99b528f9b7495ba47e2bdc2744c4675865335f331166b61a1ebc",
		prepared.V3: "4818cad4c6f18607961fd3105c25d9b4a611f9592e8dbd78cbdce2c258edb6b7",
	} {
		if got := hex.EncodeToString(p.Hash(scheme).Signed); got != want {
			t.Errorf("scheme %d: hash %s, want %s", scheme, got, want)
		}
	}
}

func TestChangedBytesAreNoticed(t *testing.T) {
	names := model.NewNames(7, 100, 1)
	good := drafted(names, madeAt)
	p := mustDecode(t, good)
	if !p.Same(mustDecode(t, drafted(names, 5))) {
		t.Error("at another time it would do something else")
	}
	hash := p.Hash(prepared.V3).Signed
	for i := 0; i < len(good); i += 3 { // every byte takes a second
		changed := slices.Clone(good)
		changed[i] ^= 1
		if got, err := prepared.Decode(changed); err == nil && bytes.Equal(got.Hash(prepared.V3).Signed, hash) && got.Same(p) {
			t.Errorf("byte %d of %d may be %#x as well as %#x", i, len(good), changed[i], good[i])
		}
	}
}

func TestCommandsAreThoseOfTheRoots(t *testing.T) {
	names := model.NewNames(7, 100, 1)
	s, err := mustDecode(t, drafted(names, madeAt)).Submission(names)
	if err != nil {
		t.Fatal(err)
	}
	if s.Reserved != 77 || s.CommandID != "c" || !slices.Equal(s.ActAs, []string{names.Name(3), names.Name(1)}) || !s.External ||
		s.MinLedgerTime.UnixMicro() != 5 || s.MaxRecordTime.UnixMicro() != 6 || s.SynchronizerID != names.Synchronizers[0] {
		t.Errorf("submission is %+v", s)
	}
	id := func(n uint64) string { return string(names.IDs.AppendContractID(nil, n)) }
	template := names.TemplateIDs[model.AmuletTemplate.Number][1]
	want := []choices.Command{
		{TemplateID: names.Interfaces[model.HoldingInterface], ContractID: id(1), Choice: "Do", Argument: json.RawMessage(`{"to":"` + names.Name(1) + `"}`)},
		{TemplateID: template, CreateArguments: json.RawMessage(`{"at":"2026-05-28T20:26:40Z"}`)},
	}
	if !reflect.DeepEqual(s.Commands, want) {
		t.Errorf("commands are %s\nwant %s", s.Commands, want)
	}
	if len(s.Disclosed) != 1 || s.Disclosed[0].ContractID != id(1) || s.Disclosed[0].Blob != string(model.AppendBlob(nil, &names.IDs, 1)) {
		t.Errorf("disclosed are %+v", s.Disclosed)
	}
	if _, err := mustDecode(t, drafted(names, madeAt)).Submission(model.NewNames(8, 100, 1)); err == nil {
		t.Error("another network knows the transaction")
	}
}

// TestValuesOfAllKindsAreExecutedAgain has a root create what has values of all kinds.
func TestValuesOfAllKindsAreExecutedAgain(t *testing.T) {
	names := model.NewNames(7, 100, 1)
	c := model.Contract{Template: model.AmuletTemplate, Payload: everything{madeAt}}
	d := prepared.Draft{Names: names, Submission: &choices.Submission{}, Update: &sim.Update{Nodes: []sim.Node{{Contract: &c, End: 1}}}}
	s, err := mustDecode(t, d.Encode()).Submission(names)
	if err != nil {
		t.Fatal(err)
	}
	v := c.Payload.Arguments(&model.Arena{}, 0)
	got, err := jsonscan.AppendCanonical(nil, s.Commands[0].CreateArguments)
	if want := model.AppendCompact(nil, names, &v); err != nil || !bytes.Equal(got, want) {
		t.Errorf("arguments are %s, %v\nwant %s", got, err, want)
	}
}

// message is a message of one field for each content.
func message(n protowire.Number, contents ...[]byte) (b []byte) {
	for _, c := range contents {
		b = protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), c)
	}
	return b
}

func TestNoPreparedTransaction(t *testing.T) {
	seed := slices.Concat(message(2, make([]byte, 32)))
	node := func(id string, kind protowire.Number, content []byte) []byte {
		return message(3, slices.Concat(message(1, []byte(id)), message(1000, message(kind, content))))
	}
	whole := func(parts ...[]byte) []byte {
		return slices.Concat(message(1, slices.Concat(parts...)), message(2, message(3, []byte("s"))))
	}
	unit := message(1, nil)
	deep := unit
	for range 200 {
		deep = message(10, message(1, deep))
	}
	create := message(5, unit)
	root, seeds := message(2, []byte("0")), message(4, seed)
	if _, err := prepared.Decode(whole(root, node("0", 1, create), seeds)); err != nil {
		t.Fatalf("a transaction that is none of the following: %v", err)
	}
	for name, b := range map[string][]byte{
		"nothing":                nil,
		"no message":             []byte("hello"),
		"no metadata":            message(1, slices.Concat(root, node("0", 1, create), seeds)),
		"no node":                whole(root, seeds),
		"no seed":                whole(root, node("0", 1, create)),
		"a short seed":           whole(root, node("0", 1, create), message(4, message(2, []byte("seed")))),
		"a fetch":                whole(root, node("0", 2, create), seeds),
		"a node twice":           whole(root, node("0", 1, create), node("0", 1, create), seeds),
		"a root twice":           whole(root, root, node("0", 1, create), seeds),
		"a node below itself":    whole(root, node("0", 3, slices.Concat(message(10, unit), message(12, []byte("0")))), seeds),
		"a node below nothing":   whole(root, node("0", 1, create), node("1", 1, create), seeds),
		"no value":               whole(root, node("0", 1, nil), seeds),
		"a value of two kinds":   whole(root, node("0", 1, message(5, slices.Concat(unit, message(8, nil)))), seeds),
		"a value of no kind":     whole(root, node("0", 1, message(5, message(17, nil))), seeds),
		"a value nested deep":    whole(root, node("0", 1, message(5, deep)), seeds),
		"a contract without hex": whole(root, node("0", 1, slices.Concat(create, message(2, []byte("xy")))), seeds),
		"a message cut":          whole(root, node("0", 1, create), seeds)[:40],
	} {
		if _, err := prepared.Decode(b); err == nil {
			t.Errorf("%s is decoded", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	names := model.NewNames(7, 100, 1)
	f.Add(drafted(names, madeAt))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := prepared.Decode(b)
		if err != nil {
			return
		}
		// What is inside may be anything, as a client can send anything.
		if s, err := p.Submission(names); err == nil && names.IDs.UUID(s.Reserved).String() == "" {
			t.Errorf("%x has no number", b)
		}
		if !p.Same(p) {
			t.Errorf("%x is not what it is", b)
		}
	})
}
