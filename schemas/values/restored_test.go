package values

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestRestoreUpdate restores what the network would publish of the documented payloads.
func TestRestoreUpdate(t *testing.T) {
	c := Default()
	golden := readExamples(t, "testdata/examples_protobuf.json")
	noneAtTheEnd := func(text []byte) string { // of records, as a node stores them
		for s := string(text); ; {
			less := strings.ReplaceAll(s, `,{"value":{"optional":{}}}]`, "]")
			less = strings.ReplaceAll(less, `{"record":{"fields":[{"value":{"optional":{}}}]}}`, `{"record":{}}`)
			if less == s {
				return s
			}
			s = less
		}
	}
	for i, e := range readExamples(t, "testdata/examples.json") {
		pkg, _, _ := strings.Cut(e.Template, ":")
		event := schemas.Event{Kind: schemas.Created, PackageName: pkg, TemplateID: e.Template, EventID: "x:0"}
		if e.Choice != "" {
			event.Kind, event.Choice = schemas.Exercised, e.Choice
		}
		protobuf := canonical(t, golden[i].Protobuf)
		var err error
		if event.Argument, err = AppendPublished(nil, protobuf, e.typ(t, c)); err != nil {
			t.Fatal(err)
		}
		u := schemas.Update{Encoding: schemas.CompactJSON, Events: []schemas.Event{event}}
		if err := c.RestoreUpdate(&u); err != nil {
			t.Errorf("%s %s: %v", e.Template, e.Choice, err)
			continue
		}
		if want := noneAtTheEnd(protobuf); string(u.Events[0].Argument) != want || u.Encoding != schemas.ProtobufJSON {
			t.Errorf("%s %s is restored in %s as\n%s, want\n%s", e.Template, e.Choice, u.Encoding, u.Events[0].Argument, want)
		}
	}
}

func TestRestoreUpdateOfUnknownTypes(t *testing.T) {
	const record = `{"record":{"fields":[{"value":{"text":"x"}}]}}`
	for _, tt := range []struct{ argument, want string }{
		{`{"a":"x"}`, ""},
		{`{"error":"type not in the catalogue","value":` + record + `}`, record},
		{`{"error":"Could not find template companion for M:T","value":["x"]}`, ""},
	} {
		u := schemas.Update{Encoding: schemas.CompactJSON, Events: []schemas.Event{
			{Kind: schemas.Created, PackageName: "p", TemplateID: "p:M:T", EventID: "x:7", Argument: []byte(tt.argument)},
		}}
		before := u.Events[0].Argument
		err := Default().RestoreUpdate(&u)
		if tt.want != "" && (err != nil || string(u.Events[0].Argument) != tt.want) {
			t.Errorf("%s is restored as %s, %v", tt.argument, u.Events[0].Argument, err)
		}
		if tt.want == "" && (!errors.Is(err, ErrUnknownType) || !strings.Contains(err.Error(), "x:7") || !bytes.Equal(before, u.Events[0].Argument) || u.Encoding != schemas.CompactJSON) {
			t.Errorf("%s is restored as %s in %s, %v", tt.argument, u.Events[0].Argument, u.Encoding, err)
		}
	}
}

func TestIsProtobuf(t *testing.T) {
	for value, want := range map[string]bool{
		`{"record":{}}`: true, `{"party":"a"}`: true, `{"unit":{}}`: true, `{}`: false, `{"`: false, `{"record`: false, `{"":1}`: false,
		`{"owner":"a"}`: false, `"record"`: false, `["record"]`: false, `null`: false, ``: false,
	} {
		if got := IsProtobuf([]byte(value)); got != want {
			t.Errorf("IsProtobuf(%s) = %v", value, got)
		}
	}
}
