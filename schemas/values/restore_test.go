package values

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// What a writer made of values is restored, also where it could not convert them; what it
// cannot know is an error or a value that differs.
func TestWritersRestoreWhatTheyWrote(t *testing.T) {
	const known, unknown = "p:Splice.DecentralizedSynchronizer:MemberTraffic", "p:Some.Module:Unknown"
	for _, c := range []struct {
		name, template, stored string
		same                   bool
		err                    error
	}{
		{"of a known type", known, `{"record":{"fields":[{"value":{"party":"d::1"}},{"value":{"text":"PAR::p::1"}},{"value":{"text":"s::1"}},{"value":{"int64":"1"}},` +
			`{"value":{"int64":"200"}},{"value":{"int64":"1"}},{"value":{"numeric":"1.0000000000"}},{"value":{"numeric":"2.0000000000"}}]}}`, true, nil},
		{"that is not of its type", known, `{"record":{"fields":[{"value":{"int64":"1"}}]}}`, true, nil},
		{"of an unknown type", unknown, `{"record":{"fields":[{"value":{"text":"a"}}]}}`, true, nil},
		{"of an unknown type that needs none", unknown, `{"text":"a"}`, false, ErrUnknownType},
		{"with a number that is written otherwise", known, `{"record":{"fields":[{"value":{"party":"d::1"}},{"value":{"text":"PAR::p::1"}},{"value":{"text":"s::1"}},{"value":{"int64":"1"}},` +
			`{"value":{"int64":"200"}},{"value":{"int64":"1"}},{"value":{"numeric":"1.0"}},{"value":{"numeric":"2.0"}}]}}`, false, nil},
		{"that is nothing", known, "", true, nil},
	} {
		w := Writer{Catalog: Default(), Want: schemas.CompactJSON}
		e := schemas.Event{Kind: schemas.Created, PackageName: "splice-amulet", TemplateID: c.template, Argument: []byte(c.stored)}
		if c.stored != "" {
			e.Argument = w.AppendCreateArguments(nil, &e)
		}
		got, err := w.RestoreArgument(&e)
		if !errors.Is(err, c.err) || (string(got) == c.stored) != c.same {
			t.Errorf("a value %s is restored as %s: %v; it was %s, %s in compact JSON", c.name, got, err, c.stored, e.Argument)
		}
	}
}

// A catalogue has another fingerprint with other files, or with the same in another order.
func TestFingerprintsTellCataloguesApart(t *testing.T) {
	one := fstest.MapFS{"one.yaml": {Data: []byte("package: one\nrecords: {A: {a: Text}}\n")}}
	two := fstest.MapFS{"one.yaml": {Data: []byte("package: one\nrecords: {A: {a: Party}}\n")}}
	seen := map[uint64]int{Default().Fingerprint(): -1}
	for i, extra := range [][]fs.FS{{one}, {two}, {one, two}, {two, one}} {
		c, err := Load(extra...)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[c.Fingerprint()]; ok {
			t.Errorf("catalogues %d and %d have one fingerprint", i, other)
		}
		seen[c.Fingerprint()] = i
	}
	if again, err := Load(); err != nil || again.Fingerprint() != Default().Fingerprint() {
		t.Errorf("the same files have another fingerprint: %v", err)
	}
}

func TestOnlyFallbacksAreUnwrapped(t *testing.T) {
	for text, want := range map[string]string{
		string(Fallback(nil, []byte(`{"a":[1]}`), ErrUnknownType)): `{"a":[1]}`,
		`{"error":"a","value":1,"with":2}`:                         "",
		`{"error":1,"value":1}`:                                    "",
		`{"error":"a"}`:                                            "",
		`{"error":"a","value":`:                                    "",
		`{"value":1}`:                                              "",
		`{"error":"\"}","value":{"error":"a"}}`:                    `{"error":"a"}`,
	} {
		if got, ok := unwrapped([]byte(text)); ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s holds %s, %t, want %q", text, got, ok, want)
		}
	}
}
