package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// TestSetsEqualTheUpstreams compares active sets, holdings, updates of version 0 and lookups
// by hash with a simulated network's own, and the operations that only ledgerlake has with
// those.
func TestSetsEqualTheUpstreams(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	upstream, ours := h.upstream, h.served(t)
	sets := []string{instantIn(t, ours, 0), instantIn(t, ours, 1)}
	t.Run("active sets", func(t *testing.T) {
		for _, set := range sets {
			want := activeSet(t, upstream, "/v2/state/acs", set, 700)
			for _, path := range []string{"/v2/state/acs", "/v1/state/acs"} {
				if got := activeSet(t, ours, path, set, 73); !slices.Equal(got, want) || len(want) < 20 {
					t.Errorf("%s at %s: %d contracts, the upstream has %d", path, set, len(got), len(want))
				}
			}
			if got := dump(t, ours, set); !slices.Equal(got, want) {
				t.Errorf("dump at %s: %d contracts, the upstream has %d", set, len(got), len(want))
			}
			if got, want := activeSet(t, ours, "/v0/state/acs", set, 99), activeSet(t, upstream, "/v0/state/acs", set, 500); !slices.Equal(got, want) {
				t.Errorf("/v0/state/acs at %s: %d contracts, the upstream has %d", set, len(got), len(want))
			}
		}
	})
	t.Run("holdings", func(t *testing.T) {
		for _, set := range sets {
			owners := `,"owner_party_ids":[` + strings.Join(ownersOf(t, upstream, set), ",") + `]`
			for _, path := range []string{"/v0/holdings/state", "/v1/holdings/state", "/v2/holdings/state"} {
				if got, want := activeSet(t, ours, path, set+owners, 17), activeSet(t, upstream, path, set+owners, 1000); !slices.Equal(got, want) || len(want) < 5 {
					t.Errorf("%s at %s: %d contracts, the upstream has %d", path, set, len(got), len(want))
				}
			}
			for _, path := range []string{"/v0/holdings/summary", "/v1/holdings/summary"} {
				got, want := summaries(t, ours, path, `{`+set+owners+`}`), summaries(t, upstream, path, `{`+set+owners+`}`)
				if !slices.Equal(got, want) || len(want) < 3 {
					t.Errorf("%s at %s:\n%s\nthe upstream has\n%s", path, set, got, want)
				}
			}
		}
	})
	t.Run("updates of version 0", func(t *testing.T) {
		for _, lossless := range []string{"true", "false"} {
			got, want := versionZero(t, ours, lossless), versionZero(t, upstream, lossless)
			if len(got) != len(want) || len(want) < sharedUpdates {
				t.Fatalf("%d updates, the upstream has %d", len(got), len(want))
			}
			fallbacks := 0
			for i := range want {
				// Values of types in no catalogue cannot be converted.
				if fallback := lossless == "false" && bytes.Contains(got[i], []byte(`{"error":`)); fallback {
					fallbacks++
				} else if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("update %d differs:\n got %s\nwant %s", i, got[i], want[i])
				}
			}
			if fallbacks > len(want)/2 {
				t.Errorf("%d of %d updates have values that could not be converted", fallbacks, len(want))
			}
		}
	})
	t.Run("by hash", func(t *testing.T) {
		n := 0
		for _, raw := range h.upstreamPages(t, "/v2/updates", "protobuf_json") {
			u := parse[struct {
				Hash string `json:"external_transaction_hash"`
			}](t, raw)
			if u.Hash == "" {
				continue
			}
			n++
			if got := canonical(t, []byte(get(t, ours+"/v2/updates/hash/"+u.Hash+"?daml_value_encoding=protobuf_json"))); !bytes.Equal(got, raw) {
				t.Errorf("by hash %s: %s, the upstream has %s", u.Hash, got, raw)
			}
		}
		if n == 0 {
			t.Error("no update has a hash: the test proves nothing")
		}
	})
}

// instantIn returns members of a request for the newest snapshot of a migration.
func instantIn(t *testing.T, base string, migration int) string {
	t.Helper()
	answer := parse[struct {
		RecordTime string `json:"record_time"`
	}](t, []byte(get(t, fmt.Sprintf("%s/v0/state/acs/snapshot-timestamp?before=2100-01-01T00:00:00Z&migration_id=%d", base, migration))))
	return fmt.Sprintf(`"migration_id":%d,"record_time":%q`, migration, answer.RecordTime)
}

// comparableContract leaves out of a contract what each scan gives in its own way: ids of events
// that are local to a node, the update that created a contract that was carried over, and
// the arguments of templates in no catalogue.
func comparableContract(t *testing.T, raw []byte) string {
	t.Helper()
	c := parse[map[string]json.RawMessage](t, raw)
	delete(c, "event_id")
	delete(c, "created_in_update_id")
	if uncatalogued(raw) {
		delete(c, "create_arguments")
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(canonical(t, text))
}

// activeSet returns all contracts of a set, page by page.
func activeSet(t *testing.T, base, path, members string, size int) (list []string) {
	t.Helper()
	after := ""
	for {
		page := parse[struct {
			Contracts []json.RawMessage `json:"created_events"`
			Token     json.RawMessage   `json:"next_page_token"`
		}](t, postRaw(t, base+path, fmt.Sprintf(`{%s,"page_size":%d%s}`, members, size, after)))
		for _, raw := range page.Contracts {
			list = append(list, comparableContract(t, raw))
		}
		if len(page.Token) == 0 || string(page.Token) == "null" {
			return list
		}
		after = `,"after":` + string(page.Token)
	}
}

// dump reads a whole set at once and checks its last line.
func dump(t *testing.T, base, members string) (list []string) {
	t.Helper()
	set := parse[struct {
		MigrationID int    `json:"migration_id"`
		RecordTime  string `json:"record_time"`
	}](t, []byte("{"+members+"}"))
	body := get(t, fmt.Sprintf("%s/v0/state/acs/dump?migration_id=%d&record_time=%s", base, set.MigrationID, set.RecordTime))
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 16<<20)
	last := ""
	for lines.Scan() {
		if last != "" {
			list = append(list, comparableContract(t, []byte(last)))
		}
		last = lines.Text()
	}
	if want := fmt.Sprintf(`{"contracts":%d,"migration_id":%d,"record_time":%q}`, len(list), set.MigrationID, set.RecordTime); last != want {
		t.Errorf("the dump ends with %s, want %s", last, want)
	}
	return list
}

// ownersOf returns, quoted, who has coins in a set.
func ownersOf(t *testing.T, base, members string) (owners []string) {
	t.Helper()
	filter := `,"templates":["splice-amulet:Splice.Amulet:Amulet"]`
	for _, contract := range activeSet(t, base, "/v2/state/acs", members+filter, 1000) {
		c := parse[struct {
			Arguments struct {
				Owner string `json:"owner"`
			} `json:"create_arguments"`
		}](t, []byte(contract))
		owners = append(owners, fmt.Sprintf("%q", c.Arguments.Owner))
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	return owners[:min(len(owners), 200)]
}

// summaries returns the sums by party, in order, and the round they are for.
func summaries(t *testing.T, base, path, body string) (list []string) {
	t.Helper()
	answer := parse[struct {
		Round     json.RawMessage   `json:"computed_as_of_round"`
		Summaries []json.RawMessage `json:"summaries"`
	}](t, postRaw(t, base+path, body))
	for _, raw := range answer.Summaries {
		list = append(list, string(canonical(t, raw)))
	}
	slices.Sort(list)
	return append(list, string(answer.Round))
}

// versionZero returns all updates of version 0 in canonical form without their offsets,
// which are local to a node.
func versionZero(t *testing.T, base, lossless string) (list [][]byte) {
	t.Helper()
	const size = 1000
	after := ""
	for {
		page := post(t, base+"/v0/updates", fmt.Sprintf(`{"page_size":%d,"lossless":%s%s}`, size, lossless, after))["transactions"]
		for _, raw := range page {
			u := parse[map[string]json.RawMessage](t, raw)
			delete(u, "offset")
			text, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, canonical(t, text))
		}
		if len(page) < size {
			return list
		}
		migration, time := place(t, page[len(page)-1])
		after = fmt.Sprintf(`, "after": {"after_migration_id": %d, "after_record_time": %q}`, migration, time)
	}
}

func canonical(t *testing.T, raw []byte) []byte {
	t.Helper()
	text, err := jsonscan.AppendCanonical(nil, raw)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func postRaw(t *testing.T, url, body string) []byte {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return answered(t, response, url+" "+body)
}

func answered(t *testing.T, response *http.Response, what string) []byte {
	t.Helper()
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%.300s answered %d: %s", what, response.StatusCode, answer)
	}
	return answer
}
