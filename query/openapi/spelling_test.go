package openapi_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
)

func TestNetworkSpelling(t *testing.T) {
	const neutral = `
paths:
  /coins/{id}:
    post:
      x-aliases: ['/amulets/{id}']
      parameters:
        - {name: coin_id, x-network-name: amulet_id, in: query}
        - {name: id, in: path}
      requestBody:
        schema:
          required: [coin, size]
          properties:
            coin: {$ref: '#/coin', x-network-name: amulet}
            size: {type: integer}
        example: {coin: 1, size: 2}
`
	const network = `
paths:
  /amulets/{id}:
    post:
      x-aliases: ['/coins/{id}']
      parameters:
        - {name: amulet_id, x-neutral-name: coin_id, in: query}
        - {name: id, in: path}
      requestBody:
        schema:
          required: [amulet, size]
          properties:
            amulet: {$ref: '#/coin', x-neutral-name: coin}
            size: {type: integer}
        example: {amulet: 1, size: 2}
`
	got, err := openapi.NetworkSpelling([]byte(neutral))
	if err != nil {
		t.Fatal(err)
	}
	if want := plain(t, []byte(network)); plain(t, got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := openapi.NetworkSpelling([]byte("a: [")); err == nil {
		t.Error("no error for what is no YAML")
	}
}

// plain gives YAML in one form.
func plain(t *testing.T, text []byte) string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// No name of the neutral spelling is left but as the other name.
func TestScanInTheNetworksSpelling(t *testing.T) {
	text := documents(t, query.Network)[0].YAML
	for _, want := range []string{"/v0/amulet-rules:", "amulet_rules_update:", "name: daml_value_encoding", "amulet_name:"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s", want)
		}
	}
	for _, left := range []string{" coin_rules_update:", " name: contract_value_encoding", " coin_name:", "x-network-name:"} {
		if strings.Contains(string(text), left) {
			t.Errorf("there is still %s", left)
		}
	}
}
