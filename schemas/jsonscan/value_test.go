package jsonscan

import (
	"slices"
	"testing"
)

func TestValueFindsParts(t *testing.T) {
	v := Value(`{"a":{"b":"x\ny","n":null},"l":[1,null,{"k":"v"}],"t":{"tag":"T","value":{"c":"d"}},"z":"end"}`)
	for name, c := range map[string]struct{ got, want string }{
		"a member":            {v.At("z").Text(), "end"},
		"with escapes":        {v.At("a", "b").Text(), "x\ny"},
		"null":                {string(v.At("a", "n")), ""},
		"absent":              {string(v.At("a", "nothing", "more")), ""},
		"of a list":           {string(v.At("l", "a")), ""},
		"a list is no text":   {v.At("l").Text(), ""},
		"below an element":    {v.At("l").Elements()[2].At("k").Text(), "v"},
		"of nothing":          {string(Value(nil).At("a")), ""},
		"of a broken value":   {string(Value(`{"a":`).At("a")), ""},
		"elements of no list": {string(slices.Concat(v.At("a").Elements()...)), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if list := v.At("l").Elements(); len(list) != 3 || list[1] != nil || string(list[0]) != "1" {
		t.Errorf("elements %q", list)
	}
	if tag, content := v.At("t").Variant(); tag != "T" || content.At("c").Text() != "d" {
		t.Errorf("variant %q of %s", tag, content)
	}
}
