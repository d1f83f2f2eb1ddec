package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// The payload of a transfer's summary in protobuf_json; fees in its output list.
const summaryJSON = `{"record":{"fields":[` +
	`{"value":{"numeric":"1.0000000000"}},{"value":{"numeric":"6.0000000000"}},{"value":{"numeric":"3.0000000000"}},{"value":{"numeric":"40.0000000000"}},` +
	`{"value":{"genMap":{"entries":[{"key":{"party":"a\"]}::1220"},"value":{"record":{"fields":[{"value":{"numeric":"-1.0000000000"}},{"value":{"numeric":"0.0000000000"}}]}}}]}}},` +
	`{"value":{"numeric":"0.5000000000"}},{"value":{"list":{"elements":[{"numeric":"0.1000000000"},{"numeric":"0.2000000000"}]}}},` +
	`{"value":{"numeric":"0.2000000000"}},{"value":{"numeric":"35.0000000000"}},{"value":{"numeric":"0.1600000000"}},` +
	`{"value":{"optional":{"value":{"numeric":"4.0000000000"}}}},{"value":{"optional":{}}}]}}`

func TestTransfersAreReadInBothEncodings(t *testing.T) {
	catalog := values.Default()
	resultType := catalog.ChoiceResult("splice-amulet", "pkg:Splice.AmuletRules:AmuletRules", "", "AmuletRules_Transfer")
	argumentType := catalog.ChoiceArgument("splice-amulet", "pkg:Splice.AmuletRules:AmuletRules", "", "AmuletRules_Transfer")
	none := `{"optional":{}}`
	output := `{"record":{"fields":[{"value":{"party":"b::1220"}},{"value":{"numeric":"0.0000000000"}},{"value":{"numeric":"14.0000000000"}},{"value":` + none + `}]}}`
	argument := `{"record":{"fields":[{"value":{"record":{"fields":[{"value":{"party":"a::1220"}},{"value":{"party":"a::1220"}},` +
		`{"value":{"list":{}}},{"value":{"list":{"elements":[` + output + `]}}}]}}},` +
		`{"value":{"record":{"fields":[{"value":{"contractId":"00"}},{"value":{"genMap":{}}},{"value":{"genMap":{}}},{"value":` + none + `}]}}},{"value":` + none + `}]}}`
	result := `{"record":{"fields":[{"value":{"record":{"fields":[{"value":{"int64":"7"}}]}}},{"value":` + summaryJSON + `},{"value":{"list":{}}},{"value":` + none + `}]}}`
	for _, encoding := range []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON} {
		e := schemas.Event{
			EventID: "1220:0", Kind: schemas.Exercised, PackageName: "splice-amulet", TemplateID: "pkg:Splice.AmuletRules:AmuletRules",
			Choice: "AmuletRules_Transfer", Argument: []byte(argument), Result: []byte(result),
		}
		if encoding == schemas.CompactJSON {
			var err error
			if e.Argument, err = values.AppendCompact(nil, e.Argument, argumentType); err != nil {
				t.Fatal(err)
			}
			if e.Result, err = values.AppendCompact(nil, e.Result, resultType); err != nil {
				t.Fatal(err)
			}
		}
		u := &schemas.Update{Kind: schemas.Transaction, UpdateID: "1220", Encoding: encoding, Events: []schemas.Event{e}}
		c, ok := newCoinReader(values.Default(), newCoinKinds()).update(u, make([]audit.EventFacts, 1))
		if !ok || len(c.claims) != 1 || c.round != 7 || c.unknown {
			t.Fatalf("%s: read as %+v", encoding, c)
		}
		if got := fmt.Sprint(c.claims[0].minted, c.claims[0].burned); got != "10.0000000000 1.0000000000" {
			t.Errorf("%s: %s", encoding, got)
		}
		if len(c.findings) != 0 { // 50 in; 14, 35 change and 1 of fees out
			t.Errorf("%s: %v", encoding, c.findings)
		}
		u.Events[0].Result = []byte(strings.Replace(string(u.Events[0].Result), "35.", "36.", 1))
		if c, _ := newCoinReader(values.Default(), newCoinKinds()).update(u, make([]audit.EventFacts, 1)); len(c.findings) != 1 || c.findings[0].What != "a transfer does not add up" {
			t.Errorf("%s: one coin too much gives %v", encoding, c.findings)
		}
	}
}

// What is not the JSON expected must end a walk, not loop or panic.
