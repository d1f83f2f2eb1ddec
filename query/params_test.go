package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestBodyProblems(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`"a",`, MaxListItems+1), ",")
	cases := []struct {
		name, body string
		read       func(*Params)
		want       string // part of the error, "" for none
	}{
		{"empty", ``, nil, "not well-formed JSON"},
		{"cut off", `{"a":1`, nil, "not well-formed JSON"},
		{"text behind", `{} {}`, nil, "not well-formed JSON"},
		{"doubled member", `{"a":1,"a":2}`, nil, "duplicate"},
		{"not UTF-8", "{\"a\":\"\xff\"}", nil, "UTF-8"},
		{"array", `[]`, nil, "must be a JSON object"},
		{"null", `null`, nil, "must be a JSON object"},
		{"unknown members", `{"z":1}`, nil, ""},
		{"missing integer", `{}`, func(p *Params) { p.Int64("n") }, "Member n is required."},
		{"null counts as missing", `{"n":null}`, func(p *Params) { p.Int64("n") }, "Member n is required."},
		{"integer as text", `{"n":"1"}`, func(p *Params) { p.Int64("n") }, "Member n must be an integer of 64 bits."},
		{"fraction", `{"n":1.5}`, func(p *Params) { p.Int64("n") }, "must be an integer"},
		{"beyond 64 bits", `{"n":9223372036854775808}`, func(p *Params) { p.Int64("n") }, "64 bits"},
		{"beyond 32 bits", `{"n":2147483648}`, func(p *Params) { p.Int32("n") }, "32 bits"},
		{"largest integer", `{"n":9223372036854775807}`, func(p *Params) { p.Int64("n") }, ""},
		{"limit too high", `{"n":2000}`, func(p *Params) { p.Limit("n", 1000) }, "Exceeded limit maximum (2000 > 1000)."},
		{"limit too low", `{"n":0}`, func(p *Params) { p.Limit("n", 1000) }, "Limit must be at least 1."},
		{"limit in range", `{"n":1000}`, func(p *Params) { p.Limit("n", 1000) }, ""},
		{"text as number", `{"s":1}`, func(p *Params) { p.Text("s") }, "Member s must be a string."},
		{"time without zone", `{"t":"2026-07-01T00:00:00"}`, func(p *Params) { p.Time("t") }, "Member t"},
		{"time with offset", `{"t":"2026-07-01T02:00:00+02:00"}`, func(p *Params) { p.Time("t") }, ""},
		{"choice unknown", `{"c":"z"}`, func(p *Params) { p.OneOf("c", "x", "y") }, "one of x, y"},
		{"choice absent", `{}`, func(p *Params) { p.OneOf("c", "x", "y") }, ""},
		{"list of numbers", `{"l":[1]}`, func(p *Params) { p.Texts("l") }, "array of strings"},
		{"list with null", `{"l":[null]}`, func(p *Params) { p.Texts("l") }, "array of strings"},
		{"list too long", `{"l":[` + many + `]}`, func(p *Params) { p.Texts("l") }, "1001 elements"},
		{"required list", `{}`, func(p *Params) { p.RequiredTexts("l") }, "Member l is required."},
		{"inner member", `{"o":{}}`, func(p *Params) { p.Object("o").Int64("n") }, "Member o.n is required."},
		{"inner object of another type", `{"o":3}`, func(p *Params) { p.Object("o") }, "Member o must be a JSON object."},
		{"the first problem counts", `{"n":"x"}`, func(p *Params) { p.Int64("n"); p.Text("s") }, "Member n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := bodyParams([]byte(c.body))
			if c.read != nil {
				c.read(p)
			}
			got := fmt.Sprint(p.Err())
			if c.want == "" && p.Err() != nil || !strings.Contains(got, c.want) {
				t.Errorf("%s: error %s, want %q", c.body, got, c.want)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	cases := []struct {
		name, body, query, want string
	}{
		{"neutral", `{"contract_value_encoding":"a"}`, "contract_value_encoding=a", "a"},
		{"network", `{"daml_value_encoding":"b"}`, "daml_value_encoding=b", "b"},
		{"both", `{"daml_value_encoding":"b","contract_value_encoding":"a"}`, "daml_value_encoding=b&contract_value_encoding=a", "a"},
		{"neutral null", `{"daml_value_encoding":"b","contract_value_encoding":null}`, "daml_value_encoding=b", "b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := bodyParams([]byte(c.body)).OptionalText("contract_value_encoding"); got != c.want {
				t.Errorf("in a body: %q, want %q", got, c.want)
			}
			var args fasthttp.Args
			args.Parse(c.query)
			if got, _ := queryParams(&args).OptionalText("contract_value_encoding"); got != c.want {
				t.Errorf("in a query: %q, want %q", got, c.want)
			}
		})
	}
}

func TestQueryParams(t *testing.T) {
	var args fasthttp.Args
	args.Parse("n=5&t=2026-07-01T00%3A00%3A00Z&bad=x")
	p := queryParams(&args)
	want, _ := schemas.ParseTime("2026-07-01T00:00:00Z")
	if n, m := p.Int64("n"), p.Time("t"); n != 5 || m != want || p.Err() != nil {
		t.Errorf("got %d, %s, %v", n, m, p.Err())
	}
	p.Int64("missing")
	if got := fmt.Sprint(p.Err()); got != "Query parameter missing is required." {
		t.Errorf("error %s", got)
	}
}
