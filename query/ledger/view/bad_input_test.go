package view_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

const (
	coinTemplate = "ab12:Splice.Amulet:Amulet"
	everyone     = `{"filtersForAnyParty":{}}`
	everything   = `{"includeReassignments":` + everyone + `}`
)

func fewKnown() *view.Known {
	k := view.NewKnown(values.Default())
	k.AddTemplate("splice-amulet", coinTemplate)
	k.AddTemplate("acme", "ee99:Acme.Trade:Order")
	k.AddImplementation("acme", "ee99:Acme.Trade:Order", "dd44:Acme.Api:Tradable")
	k.AddPackageName("acme-known")
	k.AddInterface("ff55:Splice.Api.FeaturedAppRightV1:FeaturedAppRight")
	return k
}

// operation reads the body of a request.
type operation func(body string) error

// begun is a body with beginExclusive, if it is an object without.
func begun(body string) string {
	rest, ok := strings.CutPrefix(body, "{")
	if !ok || strings.Contains(body, `"beginExclusive"`) {
		return body
	}
	if rest != "}" {
		rest = "," + rest
	}
	return `{"beginExclusive":0` + rest
}

func operations(k *view.Known) map[string]operation {
	return map[string]operation{
		"updates": func(b string) error { _, err := view.ParseUpdates([]byte(begun(b)), k, view.Formats); return err },
		"trees":   func(b string) error { _, err := view.ParseUpdates([]byte(begun(b)), k, view.Trees); return err },
		"as sent": func(b string) error { _, err := view.ParseUpdates([]byte(b), k, view.Formats); return err },
		"page":    func(b string) error { _, err := view.ParseUpdatesPage([]byte(b), k); return err },
		"by id":   func(b string) error { _, err := view.ParseUpdateByID([]byte(b), k); return err },
		"by offset": func(b string) error {
			_, err := view.ParseUpdateByOffset([]byte(b), k)
			return err
		},
		"active":         func(b string) error { _, err := view.ParseActive([]byte(b), k); return err },
		"active page":    func(b string) error { _, err := view.ParseActivePage([]byte(b), k); return err },
		"transaction":    func(b string) error { _, err := view.ParseTransactionByID([]byte(b), k); return err },
		"transaction at": func(b string) error { _, err := view.ParseTransactionByOffset([]byte(b), k); return err },
		"contract alone": func(b string) error { _, err := view.ParseContract([]byte(b)); return err },
		"contract":       func(b string) error { _, err := view.ParseContractEvents([]byte(b), k); return err },
	}
}

// withFilter is a request for reassignments with one identifier filter.
func withFilter(filter string) string {
	return `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{"cumulative":[{"identifierFilter":` + filter + `}]}}}}`
}

func withTransactions(format string) string {
	return `{"updateFormat":{"includeTransactions":` + format + `}}`
}

func TestBadInput(t *testing.T) {
	const text, fine = "text", ""
	template := func(id string) string {
		return withFilter(fmt.Sprintf(`{"TemplateFilter":{"value":{"templateId":%q}}}`, id))
	}
	iface := func(id string) string {
		return withFilter(fmt.Sprintf(`{"InterfaceFilter":{"value":{"interfaceId":%q}}}`, id))
	}
	party := func(p string) string {
		return fmt.Sprintf(`{"updateFormat":{"includeReassignments":{"filtersByParty":{%q:{}}}}}`, p)
	}
	topology := func(v string) string {
		return `{"updateFormat":{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":` + v + `}}}`
	}
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	for _, c := range []struct {
		name, operation, body string
		// code is that of the JsLedgerError, or text, or fine.
		code string
		// says is a part of the message.
		says string
	}{
		{"nothing", "updates", ``, text, ""},
		{"a list", "updates", `[]`, text, "the request must be an object"},
		{"two texts", "updates", `{} {}`, text, ""},
		{"no UTF-8", "updates", "{\"x\":\"\xff\"}", text, ""},
		{"a member twice", "updates", `{"beginExclusive":1,"beginExclusive":2}`, text, ""},
		{"too deep", "updates", deep, text, ""},
		{"unknown members", "updates", `{"novel":[{"a":1}],"updateFormat":` + everything + `}`, fine, ""},
		{"null members", "updates", `{"beginExclusive":0,"endInclusive":null,"descendingOrder":null,"filter":null,"verbose":null,"updateFormat":` + everything + `}`, fine, ""},

		{"beginExclusive as text", "updates", `{"beginExclusive":"1"}`, text, "beginExclusive must be a whole number"},
		{"beginExclusive with a fraction", "updates", `{"beginExclusive":1.0}`, text, "beginExclusive"},
		{"beginExclusive too large", "updates", `{"beginExclusive":9223372036854775808}`, text, "beginExclusive"},
		{"beginExclusive largest", "updates", `{"beginExclusive":9223372036854775807,"updateFormat":` + everything + `}`, fine, ""},
		{"beginExclusive negative", "updates", `{"beginExclusive":-1,"updateFormat":` + everything + `}`, view.InvalidArgument, "negative"},
		{"beginExclusive left out", "as sent", `{"updateFormat":` + everything + `}`, text, "beginExclusive is required"},
		{"beginExclusive null", "as sent", `{"beginExclusive":null,"updateFormat":` + everything + `}`, text, "beginExclusive is required"},
		{"endInclusive as a truth", "updates", `{"endInclusive":true}`, text, "endInclusive"},
		{"endInclusive below the beginning", "updates", `{"beginExclusive":5,"endInclusive":4,"updateFormat":` + everything + `}`, view.InvalidArgument, "before"},
		{"endInclusive at the beginning", "updates", `{"beginExclusive":5,"endInclusive":5,"updateFormat":` + everything + `}`, fine, ""},
		{"descendingOrder as text", "updates", `{"descendingOrder":"true"}`, text, "descendingOrder must be true or false"},
		{"descendingOrder without an end", "updates", `{"descendingOrder":true,"updateFormat":` + everything + `}`, view.InvalidArgument, "end_inclusive"},
		{"updateFormat as a list", "updates", `{"updateFormat":[]}`, text, "updateFormat must be an object"},
		{"updateFormat left out", "updates", `{}`, view.InvalidArgument, "required"},
		{"updateFormat for nothing", "updates", `{"updateFormat":{}}`, fine, ""},
		{"filter and updateFormat", "updates", `{"filter":` + everyone + `,"updateFormat":` + everything + `}`, view.InvalidArgument, "both"},
		{"verbose and updateFormat", "updates", `{"verbose":true,"updateFormat":` + everything + `}`, view.InvalidArgument, "both"},
		{"verbose false beside updateFormat", "updates", `{"verbose":false,"updateFormat":` + everything + `}`, fine, ""},
		{"verbose false beside updateFormat alone", "updates", `{"verbose":false,"updateFormat":` + everything + `}`, fine, ""},
		{"trees by updateFormat", "trees", `{"updateFormat":` + everything + `}`, view.InvalidArgument, "not update_format"},
		{"trees by filter", "trees", `{"filter":{"filtersForAnyParty":{}},"verbose":true}`, fine, ""},
		{"a transaction by parties", "transaction", `{"updateId":"12","requestingParties":["a::b"]}`, fine, ""},
		{"a transaction by a format", "transaction", `{"updateId":"12","transactionFormat":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":{"filtersForAnyParty":{}}}}`, fine, ""},
		{"a transaction by both", "transaction", `{"updateId":"12","requestingParties":["a::b"],"transactionFormat":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":{"filtersForAnyParty":{}}}}`, view.InvalidArgument, "both"},
		{"a transaction by neither", "transaction", `{"updateId":"12"}`, view.InvalidArgument, "either requesting_parties or"},
		{"a transaction for nobody", "transaction", `{"updateId":"12","requestingParties":["nobody"]}`, view.InvalidArgument, "is not a party"},
		{"a transaction without id", "transaction", `{"requestingParties":["a::b"]}`, view.MissingField, "update_id"},
		{"a transaction at no offset", "transaction at", `{"requestingParties":["a::b"]}`, view.MissingField, "offset"},
		{"a transaction at offset 0", "transaction at", `{"offset":0,"requestingParties":["a::b"]}`, view.InvalidArgument, "positive"},
		{"a transaction at an offset", "transaction at", `{"offset":1,"requestingParties":["a::b"]}`, fine, ""},
		{"a contract for parties", "contract alone", `{"contractId":"00","queryingParties":["a::b"]}`, fine, ""},
		{"a contract for anybody", "contract alone", `{"contractId":"00"}`, fine, ""},
		{"a contract for nobody", "contract alone", `{"contractId":"00","queryingParties":[1]}`, text, "queryingParties"},
		{"no contract", "contract alone", `{}`, view.MissingField, "contract_id"},
		{"verbose alone", "updates", `{"verbose":true}`, view.InvalidArgument, "required"},
		{"verbose as a number", "updates", `{"verbose":1,"filter":` + everyone + `}`, text, "verbose"},
		{"filter as text", "updates", `{"filter":"x"}`, text, "filter must be an object"},
		{"filter for nobody", "updates", `{"filter":{}}`, view.InvalidArgument, "simultaneously"},
		{"filter", "updates", `{"filter":` + everyone + `}`, fine, ""},

		{"includeTransactions as text", "updates", withTransactions(`"all"`), text, "includeTransactions must be an object"},
		{"eventFormat left out", "updates", withTransactions(`{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA"}`), view.MissingField, "event_format"},
		{"eventFormat as a number", "updates", withTransactions(`{"eventFormat":1}`), text, "eventFormat"},
		{"transactionShape left out", "updates", withTransactions(`{"eventFormat":` + everyone + `}`), view.MissingField, "transaction_shape"},
		{"transactionShape unspecified", "updates", withTransactions(`{"eventFormat":` + everyone + `,"transactionShape":"TRANSACTION_SHAPE_UNSPECIFIED"}`), view.MissingField, "transaction_shape"},
		{"transactionShape unknown", "updates", withTransactions(`{"eventFormat":` + everyone + `,"transactionShape":"ROUND"}`), text, "ROUND"},
		{"transactionShape as a number", "updates", withTransactions(`{"eventFormat":` + everyone + `,"transactionShape":2}`), text, "transactionShape must be a text"},
		{"includeReassignments for nobody", "updates", `{"updateFormat":{"includeReassignments":{"filtersByParty":{}}}}`, view.InvalidArgument, "simultaneously"},
		{"verbose of a format as text", "updates", `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{},"verbose":"yes"}}}`, text, "verbose"},
		{"filtersForAnyParty as a list", "updates", `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":[]}}}`, text, "filtersForAnyParty must be an object"},
		{"filtersByParty as a list", "updates", `{"updateFormat":{"includeReassignments":{"filtersByParty":[]}}}`, text, "filtersByParty must be an object"},
		{"filters of a party null", "updates", `{"updateFormat":{"includeReassignments":{"filtersByParty":{"a::b":null}}}}`, fine, ""},
		{"filters of a party as text", "updates", `{"updateFormat":{"includeReassignments":{"filtersByParty":{"a::b":"x"}}}}`, text, "filtersByParty must be an object"},
		{"a party without fingerprint", "updates", party("alice"), view.InvalidArgument, `"alice" is not a party`},
		{"a party without name", "updates", party("::1220"), view.InvalidArgument, "is not a party"},
		{"a party of strange letters", "updates", party("ålice::1220"), view.InvalidArgument, "is not a party"},
		{"a party too long", "updates", party("a::" + strings.Repeat("b", 253)), view.InvalidArgument, "is not a party"},
		{"an unknown party", "updates", party("nobody-here::1220ff"), fine, ""},
		{"includeTopologyEvents as text", "updates", `{"updateFormat":{"includeTopologyEvents":"x"}}`, text, "includeTopologyEvents"},
		{"includeParticipantAuthorizationEvents as text", "updates", topology(`"x"`), text, "includeParticipantAuthorizationEvents"},
		{"topology parties as an object", "updates", topology(`{"parties":{}}`), text, "parties must be a list"},
		{"a topology party as a number", "updates", topology(`{"parties":[1]}`), text, "each of"},
		{"a topology party that is none", "updates", topology(`{"parties":["alice"]}`), view.InvalidArgument, "is not a party"},
		{"no topology parties", "updates", topology(`{"parties":[]}`), fine, ""},

		{"cumulative as an object", "updates", `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{"cumulative":{}}}}}`, text, "cumulative must be a list"},
		{"an entry as text", "updates", `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{"cumulative":["x"]}}}}`, text, "each of"},
		{"an entry without filter", "updates", `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{"cumulative":[{}]}}}}`, fine, ""},
		{"identifierFilter as text", "updates", withFilter(`"x"`), text, "identifierFilter must be an object"},
		{"identifierFilter without kind", "updates", withFilter(`{}`), text, "must have a member"},
		{"identifierFilter of two kinds", "updates", withFilter(`{"Empty":{},"WildcardFilter":{"value":{}}}`), text, "one member only"},
		{"identifierFilter of an unknown kind", "updates", withFilter(`{"ColourFilter":{}}`), text, "ColourFilter is unknown"},
		{"the same filter twice", "updates", `{"updateFormat":{"includeReassignments":{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"WildcardFilter":{"value":{}}}},{"identifierFilter":{"WildcardFilter":{"value":{}}}}]}}}}`, fine, ""},
		{"wildcard as text", "updates", withFilter(`{"WildcardFilter":{"value":"x"}}`), text, "value must be an object"},
		{"includeCreatedEventBlob as text", "updates", withFilter(`{"WildcardFilter":{"value":{"includeCreatedEventBlob":"x"}}}`), text, "includeCreatedEventBlob"},
		{"includeInterfaceView as text", "updates", withFilter(`{"InterfaceFilter":{"value":{"interfaceId":"dd44:Acme.Api:Tradable","includeInterfaceView":1}}}`), text, "includeInterfaceView"},
		{"templateId as a number", "updates", withFilter(`{"TemplateFilter":{"value":{"templateId":1}}}`), text, "templateId must be a text"},
		{"templateId left out", "updates", withFilter(`{"TemplateFilter":{"value":{}}}`), view.MissingField, "template_id"},
		{"templateId of two parts", "updates", template("Splice.Amulet:Amulet"), view.InvalidArgument, "templateId"},
		{"templateId of four parts", "updates", template("a:b:c:d"), view.InvalidArgument, "templateId"},
		{"templateId with an empty part", "updates", template("#splice-amulet::Amulet"), view.InvalidArgument, "templateId"},
		{"templateId with an empty name", "updates", template("#:Splice.Amulet:Amulet"), view.InvalidArgument, "templateId"},
		{"templateId with a space", "updates", template("#splice-amulet:Splice.Amulet: Amulet"), view.InvalidArgument, "templateId"},
		{"templateId too long", "updates", template("#splice-amulet:A:" + strings.Repeat("b", 1000)), view.InvalidArgument, "too long"},
		{"templateId of an unknown package", "updates", template("#nothing:A:B"), view.UnknownPackageName, "nothing"},
		{"templateId of an unknown name", "updates", template("#splice-amulet:Splice.Amulet:Coin"), view.UnknownTemplateName, "Coin"},
		{"templateId of an unknown id", "updates", template("00:Splice.Amulet:Amulet"), view.UnknownTemplate, "00:"},
		{"templateId that is an interface", "updates", template("#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"), view.UnknownTemplateName, "Holding"},
		{"templateId by name", "updates", template("#splice-amulet:Splice.Amulet:Amulet"), fine, ""},
		{"templateId by neutral name", "updates", template("#app-coin:App.Coin:Coin"), fine, ""},
		{"templateId by neutral id", "updates", template("ab12:App.Coin:Coin"), fine, ""},
		{"templateId that only the catalogue knows", "updates", template("#splice-amulet:Splice.Amulet:LockedAmulet"), fine, ""},
		{"interfaceId left out", "updates", withFilter(`{"InterfaceFilter":{"value":{}}}`), view.MissingField, "interface_id"},
		{"interfaceId of one part", "updates", iface("Holding"), view.InvalidArgument, "interfaceId"},
		{"interfaceId of an unknown package", "updates", iface("#nothing:A:B"), view.UnknownPackageName, "nothing"},
		{"interfaceId of an unknown name", "updates", iface("#acme-known:Acme.Api:Other"), view.UnknownTemplate, "Other"},
		{"interfaceId that is a template", "updates", iface("#splice-amulet:Splice.Amulet:Amulet"), view.UnknownTemplate, "Amulet"},
		{"interfaceId by name", "updates", iface("#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"), fine, ""},
		{"interfaceId by neutral name", "updates", iface("#app-api-token-holding-v1:App.Api.Token.HoldingV1:Holding"), fine, ""},
		{"interfaceId by the name of a package that nobody told", "updates", iface("#acme-api:Acme.Api:Tradable"), fine, ""},
		{"interfaceId by an id that nobody told", "updates", iface("9999:Splice.Api.Token.HoldingV1:Holding"), fine, ""},
		{"interfaceId by another id than was told", "updates", iface("9999:Splice.Api.FeaturedAppRightV1:FeaturedAppRight"), view.UnknownTemplate, "9999"},
		{"interfaceId by the id that was told", "updates", iface("ff55:Splice.Api.FeaturedAppRightV1:FeaturedAppRight"), fine, ""},
		{"interfaceId by id", "updates", iface("dd44:Acme.Api:Tradable"), fine, ""},

		{"page beginOffsetExclusive negative", "page", `{"beginOffsetExclusive":-1,"updateFormat":{}}`, view.InvalidArgument, "negative"},
		{"page beginOffsetExclusive as text", "page", `{"beginOffsetExclusive":"x"}`, text, "beginOffsetExclusive"},
		{"page endOffsetInclusive before", "page", `{"beginOffsetExclusive":3,"endOffsetInclusive":2,"updateFormat":{}}`, view.InvalidArgument, "before"},
		{"page descending without an end", "page", `{"descendingOrder":true,"updateFormat":{}}`, fine, ""},
		{"page maxPageSize negative", "page", `{"maxPageSize":-1,"updateFormat":{}}`, view.InvalidArgument, "maxPageSize"},
		{"page maxPageSize too large", "page", `{"maxPageSize":2147483648,"updateFormat":{}}`, text, "maxPageSize"},
		{"page pageToken as a number", "page", `{"pageToken":1}`, text, "pageToken"},
		{"page updateFormat left out", "page", `{}`, view.MissingField, "update_format"},
		{"by id without id", "by id", `{"updateFormat":{}}`, view.MissingField, "update_id"},
		{"by id with a number", "by id", `{"updateId":1,"updateFormat":{}}`, text, "updateId"},
		{"by id with a long id", "by id", `{"updateId":"` + strings.Repeat("a", 5000) + `","updateFormat":{}}`, view.InvalidArgument, "longer"},
		{"by id without format", "by id", `{"updateId":"1220"}`, view.MissingField, "update_format"},
		{"by offset without offset", "by offset", `{"updateFormat":{}}`, view.MissingField, "offset"},
		{"by offset zero", "by offset", `{"offset":0,"updateFormat":{}}`, view.InvalidArgument, "positive"},
		{"by offset without format", "by offset", `{"offset":1}`, view.MissingField, "update_format"},
		{"activeAtOffset left out", "active", `{"eventFormat":` + everyone + `}`, text, "activeAtOffset is required"},
		{"activeAtOffset negative", "active", `{"activeAtOffset":-1,"eventFormat":` + everyone + `}`, view.InvalidArgument, "negative"},
		{"activeAtOffset as text", "active", `{"activeAtOffset":"1"}`, text, "activeAtOffset"},
		{"active without format", "active", `{"activeAtOffset":1}`, view.InvalidArgument, "required"},
		{"active with both formats", "active", `{"activeAtOffset":1,"filter":` + everyone + `,"eventFormat":` + everyone + `}`, view.InvalidArgument, "both"},
		{"active with verbose and a format", "active", `{"activeAtOffset":1,"verbose":true,"eventFormat":` + everyone + `}`, view.InvalidArgument, "both"},
		{"active by filter", "active", `{"activeAtOffset":1,"verbose":true,"filter":` + everyone + `}`, fine, ""},
		{"active token as a number", "active", `{"activeAtOffset":1,"streamContinuationToken":1}`, text, "streamContinuationToken"},
		{"active page without format", "active page", `{}`, view.MissingField, "event_format"},
		{"active page at a negative offset", "active page", `{"activeAtOffset":-1,"eventFormat":` + everyone + `}`, view.InvalidArgument, "negative"},
		{"active page maxPageSize as text", "active page", `{"maxPageSize":"1"}`, text, "maxPageSize"},
		{"active page", "active page", `{"maxPageSize":1,"pageToken":"x","eventFormat":` + everyone + `}`, fine, ""},
		{"contractId left out", "contract", `{"eventFormat":` + everyone + `}`, view.MissingField, "contract_id"},
		{"contractId as a list", "contract", `{"contractId":[]}`, text, "contractId"},
		{"contractId too long", "contract", `{"contractId":"` + strings.Repeat("0", 5000) + `","eventFormat":` + everyone + `}`, view.InvalidArgument, "longer"},
		{"contract without format", "contract", `{"contractId":"00"}`, view.MissingField, "event_format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := operations(fewKnown())[c.operation](c.body)
			var invalid *view.Invalid
			var undecodable *view.Undecodable
			got := fine
			switch {
			case errors.As(err, &invalid):
				if got = invalid.Code; strings.HasSuffix(got, "NOT_FOUND") != (len(invalid.Resources) > 0) && got != view.UnknownTemplateName {
					t.Errorf("resources %v with code %s", invalid.Resources, got)
				}
			case errors.As(err, &undecodable):
				got = text
			case err != nil:
				got = fmt.Sprintf("%T", err)
			}
			if got != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%.300s: %q, %v; want %q, saying %q", c.body, got, err, c.code, c.says)
			}
			if err != nil && len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// Whatever a body is, reading it ends with a format or with one of the two errors.
func FuzzParse(f *testing.F) {
	f.Add(`{"updateFormat":` + everything + `}`)
	f.Add(withFilter(`{"TemplateFilter":{"value":{"templateId":"#splice-amulet:Splice.Amulet:Amulet"}}}`))
	f.Add(`{"activeAtOffset":1,"filter":{"filtersByParty":{"a::b":{"cumulative":[]}}}}`)
	k := fewKnown()
	f.Fuzz(func(t *testing.T, body string) {
		for name, parse := range operations(k) {
			err := parse(body)
			var invalid *view.Invalid
			var undecodable *view.Undecodable
			if err != nil && !errors.As(err, &invalid) && !errors.As(err, &undecodable) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
