package devnet

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestZZCatalog(t *testing.T) {
	_, c := startLedger(t, Config{Updates: 12000, Seed: 77})
	cat := values.Default()
	com, pro := c.allUpdates("/v2/updates", "compact_json", 1000), c.allUpdates("/v2/updates", "protobuf_json", 1000)
	bad := map[string]int{}
	good := map[string]int{}
	ex := map[string]string{}
	check := func(name string, ty *values.Type, p, want []byte) {
		if ty == nil {
			bad["untyped "+name]++
			return
		}
		got, err := values.AppendCompact(nil, p, ty)
		if err != nil || string(got) != string(want) {
			bad["compact "+name]++
			ex["compact "+name] = fmt.Sprintf("%v\n   got  %s\n   want %s\n   from %s", err, got, want, p)
		} else {
			good[name]++
		}
		back, err := values.AppendProtobuf(nil, want, ty)
		if err != nil || string(back) != string(p) {
			bad["protobuf "+name]++
			ex["protobuf "+name] = fmt.Sprintf("%v\n   got  %s\n   want %s", err, back, p)
		}
	}
	for i := range com {
		for id := range com[i].EventsByID {
			a, b := decodeEvent(t, com[i].EventsByID[id]), decodeEvent(t, pro[i].EventsByID[id])
			if a.PackageName == "harbor-logistics" {
				continue
			}
			if a.Choice == "" {
				check("create "+a.TemplateID[65:], cat.Template(a.PackageName, a.TemplateID), b.CreateArguments, a.CreateArguments)
				continue
			}
			var iface struct {
				InterfaceID string `json:"interface_id"`
			}
			json.Unmarshal(a.raw, &iface)
			check("arg "+a.TemplateID[65:]+" "+a.Choice, cat.ChoiceArgument(a.PackageName, a.TemplateID, iface.InterfaceID, a.Choice), b.Argument, a.Argument)
			check("res "+a.TemplateID[65:]+" "+a.Choice, cat.ChoiceResult(a.PackageName, a.TemplateID, iface.InterfaceID, a.Choice), b.Result, a.Result)
		}
	}
	for k, n := range bad {
		fmt.Println("BAD", k, n, ex[k])
	}
	fmt.Println(len(good), "kinds good")
}
