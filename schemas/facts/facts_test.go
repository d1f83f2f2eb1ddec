package facts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestCheckKeepsWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		key          Key
		answer, want string
	}{
		"members in order, others left out": {Of(Serial), ` { "x": [1], "serial": 7 }`, `{"serial":7}`},
		"large numbers":                     {Of(Serial), `{"serial":9223372036854775807}`, `{"serial":9223372036854775807}`},
		"optional and null members": {Of(BFTSequencers), `{"bftSequencers":[{"id":"a","p2pUrl":"b","serialId":null}]}`,
			`{"bftSequencers":[{"id":"a","p2pUrl":"b"}]}`},
		"both spellings": {Of(InstanceNames), `{"network_name":"n","network_favicon_url":"u","amulet_name":"A","amulet_name_acronym":"AM",` +
			`"name_service_name":"s","name_service_name_acronym":"S"}`,
			`{"coin_name":"A","coin_name_acronym":"AM","name_service_name":"s","name_service_name_acronym":"S","network_favicon_url":"u","network_name":"n"}`},
		"an empty object":        {Of(LSU), `{}`, `{}`},
		"the older form":         {Of(Participants, "d", "p"), `{"participant_id":"PAR::x"}`, `{"participant_id":"PAR::x"}`},
		"a status without more":  {Of(RewardRoot, "3"), `{"status":"Undetermined","round_number":3}`, `{"status":"Undetermined"}`},
		"a status with all":      {Of(RewardRoot, "3"), `{"status":"Ok","round_number":3,"root_hash":"ab"}`, `{"root_hash":"ab","round_number":3,"status":"Ok"}`},
		"one of two batch types": {Of(RewardBatch, "3", "ab"), `{"batch_type":"BatchOfBatches","child_hashes":[]}`, `{"batch_type":"BatchOfBatches","child_hashes":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.key.Check([]byte(c.answer))
			if err != nil || string(got) != c.want {
				t.Errorf("%s of %s, %v; want %s", got, c.answer, err, c.want)
			}
		})
	}
}

func TestCheckRefusesNonsense(t *testing.T) {
	for name, c := range map[string]struct {
		key    Key
		answer string
	}{
		"no JSON":                {Of(Serial), `<html>`},
		"nothing":                {Of(Serial), ``},
		"two values":             {Of(Serial), `{"serial":1}{}`},
		"an array":               {Of(Serial), `[{"serial":1}]`},
		"a missing member":       {Of(Serial), `{"serials":1}`},
		"a null member":          {Of(Serial), `{"serial":null}`},
		"a number as text":       {Of(Serial), `{"serial":"1"}`},
		"a fraction":             {Of(Serial), `{"serial":1.5}`},
		"a number too large":     {Of(Serial), `{"serial":9223372036854775808}`},
		"an element of the list": {Of(BFTSequencers), `{"bftSequencers":[{"id":"a","p2pUrl":"b"},{"id":"a"}]}`},
		"no instant":             {Of(Schedule), `{"time":"tomorrow","migration_id":1}`},
		"Ok without its members": {Of(RewardRoot, "3"), `{"status":"Ok"}`},
		"an unknown status":      {Of(RewardRoot, "3"), `{"status":"Fine"}`},
		"an unknown operation":   {Of("weather"), `{}`},
		"deep nesting":           {Of(Serial), strings.Repeat(`{"serial":`, 20_000) + `1` + strings.Repeat(`}`, 20_000)},
		"invalid UTF-8":          {Of(DSO), "{\"dso_party_id\":\"\xff\",\"sv_party_id\":\"\",\"sv_user\":\"\",\"voting_threshold\":1}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := c.key.Check([]byte(c.answer)); !errors.Is(err, schemas.ErrMalformed) {
				t.Errorf("%s and %v, want an error of a malformed answer", got, err)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	paths, err := Of(Participants, "global-domain::1220aa", "a/b c::1220").Paths()
	want := []string{
		"/v1/domains/global-domain::1220aa/parties/a%2Fb%20c::1220/participant-id",
		"/v0/domains/global-domain::1220aa/parties/a%2Fb%20c::1220/participant-id",
	}
	if err != nil || !slices.Equal(paths, want) {
		t.Errorf("%q, %v", paths, err)
	}
	for name, key := range map[string]Key{
		"too few arguments": Of(Participants, "x"), "too many": Of(Serial, "x"), "no operation": Of("weather"),
		"a broken escape": {Operation: Bootstrapping, Arguments: "%zz"},
	} {
		if paths, err := key.Paths(); err == nil {
			t.Errorf("%s: %q", name, paths)
		}
	}
	for _, key := range Fixed() {
		if _, err := key.Paths(); err != nil {
			t.Error(err)
		}
	}
}

func TestFinal(t *testing.T) {
	for body, want := range map[string]bool{
		"": false, `{"status":"Ok"}`: true, `{"status":"Undetermined"}`: false, `{"status":"CannotProvide"}`: false, `{"batch_type":"x"}`: true,
	} {
		if f := (Fact{Body: []byte(body)}); f.Final() != want {
			t.Errorf("%s: %v", body, !want)
		}
	}
}
