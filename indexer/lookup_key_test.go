package indexer

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestLookupKeys(t *testing.T) {
	const entryFields = `{"record":{"fields":[{"value":{"party":"alice::1220aa"}},{"value":{"party":"DSO::1220bb"}},` +
		`{"value":{"text":"alice.unverified.cns"}},{"value":{"text":""}},{"value":{"text":""}},{"value":{"timestamp":"1"}}]}}`
	for name, c := range map[string]struct {
		pkg, template string
		encoding      schemas.Encoding
		argument      string
		want          string
	}{
		"name of an entry":          {"splice-amulet-name-service", "aa:Splice.Ans:AnsEntry", schemas.CompactJSON, `{"name":"bob.cns"}`, "bob.cns"},
		"of typed values":           {"splice-amulet-name-service", "aa:Splice.Ans:AnsEntry", schemas.ProtobufJSON, entryFields, "alice.unverified.cns"},
		"in the neutral spelling":   {"app-coin-name-service", "aa:App.Ans:AnsEntry", schemas.CompactJSON, `{"name":"bob.cns"}`, "bob.cns"},
		"several fields":            {"splice-amulet", "aa:Splice.ExternalPartyAmuletRules:TransferCommand", schemas.CompactJSON, `{"sender":"s::1220","nonce":"7"}`, "s::1220 7"},
		"a template without a key":  {"splice-amulet", "aa:Splice.Amulet:Amulet", schemas.CompactJSON, `{"owner":"bob"}`, ""},
		"same entity elsewhere":     {"other", "aa:Splice.Ans:AnsEntry", schemas.CompactJSON, `{"name":"bob.cns"}`, ""},
		"a field that is missing":   {"splice-amulet-name-service", "aa:Splice.Ans:AnsEntry", schemas.CompactJSON, `{"user":"bob"}`, ""},
		"a field of another type":   {"splice-amulet-name-service", "aa:Splice.Ans:AnsEntry", schemas.CompactJSON, `{"name":7}`, ""},
		"an argument of other type": {"splice-amulet-name-service", "aa:Splice.Ans:AnsEntry", schemas.ProtobufJSON, `{"text":"x"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := &store.Lifetime{ContractRow: store.ContractRow{Encoding: c.encoding, Event: schemas.Event{
				PackageName: c.pkg, TemplateID: c.template, Argument: []byte(c.argument),
			}}}
			if got := (lookupKeys{}).of(l); got != c.want {
				t.Errorf("key %q, want %q", got, c.want)
			}
		})
	}
}
