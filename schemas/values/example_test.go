package values_test

import (
	"fmt"
	"testing/fstest"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// A coin as a node delivers it, without labels, and as a client wants it.
func ExampleAppendCompact() {
	coin := values.Default().Template("splice-amulet", "67fac2f8:Splice.Amulet:Amulet")
	stored := []byte(`{"record":{"fields":[{"value":{"party":"DSO::1220"}},{"value":{"party":"alice::1220"}},` +
		`{"value":{"record":{"fields":[{"value":{"numeric":"50.0"}},` +
		`{"value":{"record":{"fields":[{"value":{"int64":"12345"}}]}}},` +
		`{"value":{"record":{"fields":[{"value":{"numeric":"0.0001902590"}}]}}}]}}}]}}`)
	compact, err := values.AppendCompact(nil, stored, coin)
	if err != nil {
		compact = values.Fallback(nil, stored, err)
	}
	fmt.Printf("%s\n", compact)
	// Output:
	// {"amount":{"createdAt":{"number":"12345"},"initialAmount":"50.0000000000","ratePerRound":{"rate":"0.0001902590"}},"dso":"DSO::1220","owner":"alice::1220"}
}

// The argument of a choice of another package than the network's.
func ExampleLoad() {
	catalog, err := values.Load(fstest.MapFS{"acme-trade.yaml": {Data: []byte(`
package: acme-trade
templates:
  Acme.Trade:Order:
    fields: {owner: Party}
    choices:
      Order_Fill: {argument: {at: Timestamp, price: optional Numeric}, result: ContractId<Order>}
`)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fill := catalog.ChoiceArgument("acme-trade", "0a1b:Acme.Trade:Order", "", "Order_Fill")
	protobuf, err := values.AppendProtobuf(nil, []byte(`{"at":"2026-07-01T00:00:00Z","price":"1.5"}`), fill)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", protobuf)
	// Output:
	// {"record":{"fields":[{"value":{"timestamp":"1782864000000000"}},{"value":{"optional":{"value":{"numeric":"1.5000000000"}}}}]}}
}

// What cannot be converted is served as it is stored, with the reason.
func ExampleFallback() {
	stored := []byte(`{"record":{"fields":[{"value":{"text":"x"}}]}}`)
	_, err := values.AppendCompact(nil, stored, nil)
	fmt.Printf("%s\n", values.Fallback(nil, stored, err))
	// Output:
	// {"error":"type not in the catalogue: field 0 has no label","value":{"record":{"fields":[{"value":{"text":"x"}}]}}}
}
