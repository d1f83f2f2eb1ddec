package rewards

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

var number = decimal.Must

// example is a configuration with round numbers: a million coins a year in a thousand rounds.
func example() Config {
	return Config{IssuedPerYear: number("1000000"), FundShare: number("0.05"), AppShare: number("0.5"), Cap: number("100"),
		TickMicros: 365 * 24 * 3600 * 1000, CoinPrice: number("0.5"), TrafficPrice: number("20"), Threshold: number("0"), BatchSize: 2}
}

func TestActivity(t *testing.T) {
	featured := map[string]decimal.Decimal{"a": number("1"), "b": number("1.5"), "c": number("0")}
	for _, c := range []struct {
		name      string
		envelopes []Envelope
		total     int64
		want      map[string]int64
	}{
		{"nothing", nil, 100, nil},
		{"nobody is featured", []Envelope{{50, []string{"x", "y"}}}, 100, nil},
		{"one app has all of the cost", []Envelope{{50, []string{"x", "a"}}, {30, []string{"x"}}}, 100, map[string]int64{"a": 100}},
		{"two share an envelope, one has a larger weight", []Envelope{{50, []string{"a", "b"}}}, 100, map[string]int64{"a": 50, "b": 75}},
		{"by the cost of envelopes", []Envelope{{60, []string{"a"}}, {20, []string{"a", "b"}}}, 100, map[string]int64{"a": 87, "b": 18}},
		{"shares are rounded down each", []Envelope{{1, []string{"a", "b"}}, {1, []string{"a", "b"}}}, 3, map[string]int64{"a": 1, "b": 1}},
		{"a weight of nothing", []Envelope{{50, []string{"c"}}}, 100, nil},
		{"envelopes that cost nothing", []Envelope{{0, []string{"a"}}}, 100, nil},
		{"the largest cost", []Envelope{{MaxTrafficCost, []string{"a"}}}, MaxTrafficCost, map[string]int64{"a": MaxTrafficCost}},
	} {
		if got := Activity(c.envelopes, c.total, featured); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// In the example, apps get 475 coins a round, and a megabyte is 40 coupons.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		name                            string
		change                          func(*Config)
		weights                         map[string]int64
		want                            string
		minting, unclaimed, thresholded string
	}{
		{"nobody was active", nil, nil, "", "0", "475", "0"},
		{"below the cap all is minted", nil, map[string]int64{"b": 300_000, "a": 100_000}, "a 118.75 b 356.25", "475", "0", "0"},
		{"the cap leaves some unclaimed", nil, map[string]int64{"a": 50_000, "b": 25_000}, "a 200.0 b 100.0", "300", "175", "0"},
		{"no cap, no reward", func(c *Config) { c.Cap = number("0") }, map[string]int64{"a": 50_000}, "a 0.0", "0", "475", "0"},
		{"the threshold exactly met", func(c *Config) { c.Threshold = number("50") }, map[string]int64{"a": 50_000, "b": 25_000}, "a 200.0 b 100.0", "300", "175", "0"},
		{"one below the threshold", func(c *Config) { c.Threshold = number("50.0000000001") }, map[string]int64{"a": 50_000, "b": 25_000}, "a 200.0", "200", "175", "100"},
		{"all below the threshold", func(c *Config) { c.Threshold = number("1000") }, map[string]int64{"a": 50_000, "b": 25_000}, "", "0", "175", "300"},
		// A megabyte is worth 0.0000000005 coins, so a would have 0.0000000008 once it is rounded.
		{"compared with the threshold before rounding, and halves away from zero", func(c *Config) {
			c.Cap, c.CoinPrice, c.TrafficPrice, c.Threshold = number("1"), number("1"), number("0.0000000005"), number("0.0000000008")
		}, map[string]int64{"a": 1_500_000, "b": 1_590_000, "c": 1_700_000}, "c 0.0000000009", "0.0000000009", "474.9999999976", "0.0000000015"},
	} {
		cfg := example()
		if c.change != nil {
			c.change(&cfg)
		}
		o, err := cfg.Divide(c.weights)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range o.Allowances {
			got = append(got, a.Provider, a.Amount.Short())
		}
		if text := strings.Join(got, " "); text != c.want || o.Minting != number(c.minting) || o.Unclaimed != number(c.unclaimed) || o.Thresholded != number(c.thresholded) {
			t.Errorf("%s: %q, minting %s, unclaimed %s, thresholded %s; want %q, %s, %s, %s", c.name, text, o.Minting, o.Unclaimed, o.Thresholded, c.want, c.minting, c.unclaimed, c.thresholded)
		}
	}
}

func TestImpossibleConfigurations(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"tick": func(c *Config) { c.TickMicros = 0 }, "price": func(c *Config) { c.CoinPrice = number("0") },
		"batches": func(c *Config) { c.BatchSize = 1 }, "traffic price": func(c *Config) { c.TrafficPrice = number("-1") },
	} {
		cfg := example()
		change(&cfg)
		if _, err := cfg.Divide(nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// sha is the hash of a text in the notation of the specification.
func sha(format string, parts ...any) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, format, parts...)))
}

func TestTree(t *testing.T) {
	one := func(party, amount string) string { return sha("2|%s|%s", sha("%s", party), sha("%s", amount)) }
	leaf := func(hashes ...string) string {
		return sha("BatchOfMintingAllowances|1|%s", sha("%s", strings.Join(append([]string{fmt.Sprint(len(hashes))}, hashes...), "|")))
	}
	node := func(hashes ...string) string {
		return sha("BatchOfBatches|1|%s", sha("%s", strings.Join(append([]string{fmt.Sprint(len(hashes))}, hashes...), "|")))
	}
	a, b, c, d, e := one("a", "1.5"), one("b", "2.0"), one("c", "0.0000000001"), one("d", "10.0"), one("e", "7.25")
	all := []Allowance{{"a", number("1.5")}, {"b", number("2")}, {"c", number("0.0000000001")}, {"d", number("10")}, {"e", number("7.2500")}}
	for _, tc := range []struct {
		name      string
		kept      int
		batchSize int64
		want      string
	}{
		{"nobody", 0, 2, leaf()},
		{"one", 1, 2, leaf(a)},
		{"a full leaf", 2, 2, leaf(a, b)},
		{"two leaves", 3, 2, node(leaf(a, b), leaf(c))},
		{"three levels", 5, 2, node(node(leaf(a, b), leaf(c, d)), node(leaf(e)))},
		{"two leaves of three", 5, 3, node(leaf(a, b, c), leaf(d, e))},
		{"all in one leaf", 5, 100, leaf(a, b, c, d, e)},
	} {
		if got := Root(all[:tc.kept], tc.batchSize); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestByDictionary(t *testing.T) {
	want := []string{"app one::1220", "app_one::1220", "app-one::1220", "app::1220", "App::1220", "app1::1220", "apple::1220", "Apple::1221", "b::1220", "Zebra::1220"}
	got := slices.Clone(want)
	slices.Sort(got)
	if slices.Equal(got, want) {
		t.Fatal("the example does not differ from byte order")
	}
	slices.SortFunc(got, ByDictionary)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
