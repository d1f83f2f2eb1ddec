package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/packages/kept"
	"github.com/ledgerlake/ledgerlake/internal/packages/packagestest"
)

// packageFiles writes a .dar file of an application, in two versions, and one of no use.
func packageFiles(t *testing.T) (first, second, bad string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trade := packagestest.Payload(packagestest.Trade("1.9.0"))
	return write("acme-trade-1.9.0.dar", packagestest.DAR(trade, packagestest.Standard())),
		write("acme-trade-1.10.0.dar", packagestest.DAR(packagestest.Payload(packagestest.Trade("1.10.0")), packagestest.Standard())),
		write("cut.dar", packagestest.DAR(trade)[:200])
}

// Packages are added once, listed, shown and dropped. A file that is none changes nothing.
func TestPackages(t *testing.T) {
	t.Parallel()
	store := ownStore(t)
	first, second, bad := packageFiles(t)
	command := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append(append([]string{"package"}, args...), store...), &out, io.Discard)
		return out.String(), err
	}
	expect := func(wants []string, args ...string) string {
		t.Helper()
		out, err := command(args...)
		for _, want := range wants {
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("package %s: %v, %s\nlacks %s", strings.Join(args, " "), err, out, want)
			}
		}
		return out
	}
	expect([]string{"the store keeps no package: add one with"}, "list")
	for name, args := range map[string][]string{
		"cut.dar: it is no zip file, or is cut off":        {"add", first, bad},
		"no such file or directory":                        {"add", filepath.Join(t.TempDir(), "none.dar")},
		"it is no file of at most":                         {"add", t.TempDir()},
		"either .dar files or --packages-from-node":        {"add"},
		"needs --node-url":                                 {"add", "--packages-from-node"},
		`the store has no package "acme-trade": name one`:  {"show", "acme-trade"},
		`the store has no package "acme-trades": name one`: {"drop", "acme-trades"},
		"package show needs one package":                   {"show"},
		"package drop needs packages":                      {"drop"},
	} {
		if out, err := command(args...); err == nil || !strings.Contains(err.Error(), name) || out != "" {
			t.Errorf("package %s: %v, %s, want the error %s", strings.Join(args, " "), err, out, name)
		}
	}
	expect([]string{"the store keeps no package"}, "list") // of the two files of which one is bad, none
	expect([]string{"acme-trade 1.9.0  " + packagestest.ID(packagestest.Payload(packagestest.Trade("1.9.0"))) + "  1 templates, 1 interfaces\n", "2 added, 0 were there, 0 failed\n",
		"t_acme_trade__acme_trade_order  acme-trade:Acme.Trade:Order\n", "c_acme_trade__acme_trade_order__order_fill  acme-trade:Acme.Trade:Order/Order_Fill\n", "3 made, to be filled by the process that ingests\n"}, "add", first)
	expect([]string{"1 added, 3 were there, 0 failed\n"}, "add", "--no-tables", first, second)
	list := expect([]string{"acme-trade  1.10.0   1          1           acme-trade-1.10.0.dar  ", "1 more have neither templates nor interfaces"}, "list")
	if strings.Contains(list, "daml-prim") {
		t.Errorf("the list has libraries:\n%s", list)
	}
	var all []kept.Summary
	if err := json.Unmarshal([]byte(expect(nil, "list", "--all", "--json")), &all); err != nil || len(all) != 3 || all[0].Version != "1.10.0" || all[0].SeenAt == "" {
		t.Errorf("all are %+v, %v", all, err)
	}
	expect([]string{
		"acme-trade 1.10.0, LF 2.1, from acme-trade-1.10.0.dar\n", "\ntemplate Acme.Trade:Order implements Acme.Api:Tradable\n  owner: Party\n  side: Side\n  legs: List<Leg>\n",
		"  pair: DA.Types:Tuple2<Party, Int64>\n", "  note: optional Text\n", "  choice Order_Fill: Order_Fill -> Order_FillResult\n",
		"\ninterface Acme.Api:Tradable\n  view TradableView\n", "\nvariant Acme.Trade:Leg\n  Cash: Leg.Cash\n  Coin: ContractId<Order>\n  Nothing: Unit\n",
		"\nenum Acme.Trade:Side\n  Buy\n  Sell\n", "  amount: Numeric<10>\n", "  run: (no data)\n",
	}, "show", "acme-trade")
	var details kept.Details
	if err := json.Unmarshal([]byte(expect(nil, "show", "acme-trade-1.9.0", "--json")), &details); err != nil || details.Version != "1.9.0" || len(details.Modules) != 2 || details.Modules[1].Templates[0].Choices[1].Argument != "Order_Fill" {
		t.Errorf("details are %+v, %v", details, err)
	}
	expect([]string{"acme-trade 1.10.0"}, "show", all[0].ID[:8])
	expect([]string{"dropped acme-trade 1.9.0  "}, "drop", "acme-trade-1.9.0")
	expect([]string{"1 added, 1 were there", "0 made"}, "add", first)
	expect([]string{"dropped acme-trade 1.10.0  ", "dropped acme-trade 1.9.0  ", "dropped t_acme_trade__acme_trade_order\n"}, "drop", "acme-trade")
}

// Typed tables are made by name, listed and dropped.
func TestTypedTables(t *testing.T) {
	t.Parallel()
	store := ownStore(t)
	for _, c := range []struct{ command, want string }{
		{"list", "the store has no typed table: make one with"},
		{"add splice-amulet:Splice.Amulet:Amulet/Amulet_Expire", "c_splice_amulet__splice_amulet_amulet__amulet_expire  splice-amulet:Splice.Amulet:Amulet/Amulet_Expire\n1 made, to be filled by"},
		{"list", "c_splice_amulet__splice_amulet_amulet__amulet_expire  splice-amulet:Splice.Amulet:Amulet/Amulet_Expire  "},
		{"add price_votes", "price_votes  Prices that super-validators have voted for\n2 made, "},
		{"list", "price_votes "},
		{"drop price_votes", "dropped price_votes\n"},
		{"drop splice-amulet:Splice.Amulet:Amulet", "dropped c_splice_amulet__splice_amulet_amulet__amulet_expire\n"},
		{"add splice-amulet:Splice.Amulet:Nothing", `there is no package, template or choice "splice-amulet:Splice.Amulet:Nothing" in the catalogue`},
		{"add", "table add needs a name"},
		{"drop t_none", `there is no typed table "t_none"`},
	} {
		var out bytes.Buffer
		err := run(t.Context(), append(append([]string{"table"}, strings.Fields(c.command)...), store...), &out, io.Discard)
		if text := out.String() + fmt.Sprint(err); !strings.Contains(text, c.want) {
			t.Errorf("table %s: %s\nlacks %s", c.command, text, c.want)
		}
	}
}

// Packages of a node are fetched one by one; one that it does not serve, or serves otherwise, holds up
// no other.
func TestPackagesOfANode(t *testing.T) {
	t.Parallel()
	store := ownStore(t)
	trade, standard := packagestest.Payload(packagestest.Trade("1.0.0")), packagestest.Standard()
	served := map[string][]byte{packagestest.ID(trade): trade, packagestest.ID(standard): standard, strings.Repeat("ab", 32): trade}
	gone := strings.Repeat("cd", 32)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch payload, id := served[filepath.Base(r.URL.Path)], filepath.Base(r.URL.Path); {
		case r.URL.Path == "/v2/packages":
			_ = json.NewEncoder(w).Encode(map[string][]string{"packageIds": {gone, strings.Repeat("ab", 32), packagestest.ID(standard), packagestest.ID(trade)}})
		case payload == nil:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Canton-Package-Hash", id)
			_, _ = w.Write(payload)
		}
	}))
	t.Cleanup(node.Close)
	args := append([]string{"package", "add", "--packages-from-node", "--json", "--node-url", node.URL}, store...)
	for _, want := range []struct{ added, known int }{{2, 0}, {0, 2}} {
		var out bytes.Buffer
		err := run(t.Context(), args, &out, io.Discard)
		report := parse[kept.Added](t, out.Bytes())
		if err == nil || len(report.Added) != want.added || report.Known != want.known || len(report.Failed) != 2 || report.Failed[0].ID != gone ||
			!strings.Contains(report.Failed[1].Error, "its bytes have the hash "+packagestest.ID(trade)) {
			t.Errorf("%v, %+v", err, report)
		}
	}
}

// The simulated node is given a .dar file, whose packages are then fetched from it.
func TestPackagesOfTheSimulatedNode(t *testing.T) {
	t.Parallel()
	store := ownStore(t)
	_, _, nodeURL := networkWithNode(t, 60)
	first, _, _ := packageFiles(t)
	file, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(nodeURL+"/v2/packages", "application/octet-stream", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the upload has status %d, %v", response.StatusCode, err)
	}
	var out bytes.Buffer
	err = run(t.Context(), append([]string{"package", "add", "--packages-from-node", "--json", "--node-url", nodeURL}, store...), &out, io.Discard)
	report := parse[kept.Added](t, out.Bytes())
	// Of its own packages the simulated network has no bytes.
	if err == nil || len(report.Added) != 2 || len(report.Failed) == 0 || !strings.Contains(report.Failed[0].Error, "PACKAGE_NOT_FOUND") {
		t.Errorf("%v, %+v", err, report)
	}
}
