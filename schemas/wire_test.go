package schemas

import (
	"errors"
	"strings"
	"testing"
)

const transactionJSON = `{"effective_at":"2026-07-01T00:00:01.5Z","events_by_id":{` +
	`"1220aa:0":{"acting_parties":["b","a"],"child_event_ids":["1220aa:1"],"choice":"Go","choice_argument":{"record":{}},"consuming":true,"contract_id":"00c1","event_id":"1220aa:0","event_type":"exercised_event","exercise_result":{"unit":{}},"interface_id":"p:M:I","package_name":"pkg","template_id":"p:M:T"},` +
	`"1220aa:1":{"contract_id":"00c2","create_arguments":{"record":{"fields":[{"value":{"text":"h\u00e9\"\n"}}]}},"created_at":"2026-07-01T00:00:01Z","event_id":"1220aa:1","event_type":"created_event","observers":["z","y"],"package_name":"pkg","signatories":["b","a"],"template_id":"p:M:T"}` +
	`},"external_transaction_hash":"ab","migration_id":1,"record_time":"2026-07-01T00:00:01.250000Z","root_event_ids":["1220aa:0"],"synchronizer_id":"s::1","update_id":"1220aa","workflow_id":"w"}`

const assignmentJSON = `{"event":{"created_event":{"contract_id":"00c2","create_arguments":{"record":{}},"created_at":"2026-07-01T00:00:01Z","event_id":"1220bb:0","event_type":"created_event","observers":[],"package_name":"pkg","signatories":["a"],"template_id":"p:M:T"},"migration_id":1,"reassignment_counter":2,"source_synchronizer":"s::1","submitter":"a","target_synchronizer":"s::2","unassign_id":"u1"},"offset":"000000000000000001","record_time":"2026-07-01T00:00:02.000000Z","update_id":"1220bb"}`

const unassignmentJSON = `{"event":{"contract_id":"00c2","migration_id":1,"reassignment_counter":2,"source_synchronizer":"s::1","submitter":"a","target_synchronizer":"s::2","unassign_id":"u1"},"offset":"000000000000000001","record_time":"2026-07-01T00:00:02.000000Z","update_id":"1220cc"}`

const verdictJSON = `{"domain_id":"s::1","finalization_time":"2026-07-01T00:00:02.000001Z","mediator_group":0,"migration_id":1,"record_time":"2026-07-01T00:00:01.250000Z","round_number":7,"submitting_participant_uid":"PAR::x","submitting_parties":["a"],"transaction_views":{"root_views":[0],"views":[]},"update_id":"1220aa","verdict_result":"VERDICT_RESULT_ACCEPTED"}`

func TestEventPageRoundTrips(t *testing.T) {
	page := `{"events":[{"app_activity_records":{"records":[],"round_number":7},"traffic_summary":{"envelope_traffic_summaries":[{"traffic_cost":5,"view_ids":[0]}],"total_traffic_cost":5},"update":` +
		transactionJSON + `,"verdict":` + verdictJSON + `},{"update":` + unassignmentJSON + `},{"update":` + assignmentJSON + `},{"verdict":` + strings.Replace(verdictJSON, "1220aa", "1220dd", 1) + `}]}`
	items, err := DecodeEvents([]byte(page), ProtobufJSON)
	if err != nil {
		t.Fatal(err)
	}
	got := []byte(`{"events":[`)
	for i := range items {
		if i > 0 {
			got = append(got, ',')
		}
		got = AppendItem(got, &items[i])
	}
	got = append(got, `]}`...)
	// What differs from the input is what the network's own rules normalise: party order,
	// the shortest time forms and the plain form of text.
	want := strings.NewReplacer(`"2026-07-01T00:00:01.5Z"`, `"2026-07-01T00:00:01.500Z"`, `"observers":["z","y"]`, `"observers":["y","z"]`,
		`"signatories":["b","a"]`, `"signatories":["a","b"]`, `h\u00e9`, `hé`).Replace(page)
	if string(got) != want {
		t.Errorf("round trip changed the page:\n got %s\nwant %s", got, want)
	}
}

func TestPublishedForm(t *testing.T) {
	exercised := Event{Kind: Exercised, EventID: "x:0", Choice: "Go", Argument: []byte(`{}`), Result: []byte(`{}`)}
	created := Event{Kind: Created, Node: 1, EventID: "x:1", Argument: []byte(`{}`), CreatedAt: 550_000}
	form := UpdateForm{Published: true}
	for _, c := range []struct{ what, got, want string }{
		{"an exercise of a template's own choice", string(AppendEventForm(nil, "x", &exercised, form)), `,"interface_id":null,`},
		{"a creation at a hundredth of a second", string(AppendEventForm(nil, "x", &created, form)), `"created_at":"1970-01-01T00:00:00.55Z"`},
		{"a contract that was carried over", string(AppendActiveContract(nil, &created, "", form)), `"created_at":"1970-01-01T00:00:00.55Z","created_in_update_id":null,`},
		{"a contract", string(AppendActiveContract(nil, &created, "x", form)), `,"created_in_update_id":"x",`},
		{"a whole second", string(AppendFewestDigits(nil, 5_000_000)), "1970-01-01T00:00:05Z"},
		{"a microsecond", string(AppendFewestDigits(nil, -1)), "1969-12-31T23:59:59.999999Z"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: %s lacks %s", c.what, c.got, c.want)
		}
	}
}

func TestMalformedUpdatesAreRefused(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(transactionJSON, old, new, 1) }
	cases := []struct{ name, update, cause string }{
		{"half a page", transactionJSON[:100], ""},
		{"duplicate key", replace(`"workflow_id":"w"`, `"workflow_id":"w","workflow_id":"x"`), ""},
		{"migration id beyond int64", replace(`"migration_id":1`, `"migration_id":9223372036854775808`), ""},
		{"migration id missing", replace(`"migration_id":1,`, ``), "migration_id"},
		{"record time without zone", replace(`01.250000Z`, `01.250000`), "record time"},
		{"record time that cannot be stored", replace(`2026-07-01T00:00:01.250000Z`, `1800-01-01T00:00:00Z`), "1900"},
		{"event id of another update", replace(`"root_event_ids":["1220aa:0"]`, `"root_event_ids":["1220ab:0"]`), "1220ab:0"},
		{"child that does not exist", replace(`"child_event_ids":["1220aa:1"]`, `"child_event_ids":["1220aa:2"]`), "preorder"},
		{"event that is its own child", replace(`"child_event_ids":["1220aa:1"]`, `"child_event_ids":["1220aa:0"]`), "preorder"},
		{"event that no root reaches", replace(`"child_event_ids":["1220aa:1"]`, `"child_event_ids":[]`), "reached"},
		{"node with leading zero", strings.ReplaceAll(transactionJSON, `1220aa:1`, `1220aa:01`), "node number"},
		{"key and event id differ", replace(`"event_id":"1220aa:1"`, `"event_id":"1220aa:0"`), "says that its id"},
		{"unknown event type", replace(`"created_event"`, `"archived_event"`), "event_type"},
		{"no arguments", replace(`"create_arguments":{"record":{"fields":[{"value":{"text":"h\u00e9\"\n"}}]}},`, ``), "create_arguments"},
		{"wrong type", replace(`"consuming":true`, `"consuming":"yes"`), ""},
		{"neither transaction nor reassignment", `{"update_id":"1220aa","record_time":"2026-07-01T00:00:01Z"}`, "events_by_id"},
		{"reassignment at the import time", strings.Replace(unassignmentJSON, "2026-07-01T00:00:02.000000Z", "0001-01-01T00:00:00.000000Z", 1), "import"},
		{"reassignment without counter", strings.Replace(unassignmentJSON, `"reassignment_counter":2,`, "", 1), "required"},
	}
	for _, c := range cases {
		_, err := DecodeUpdates([]byte(`{"transactions":[`+c.update+`]}`), ProtobufJSON)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.cause) {
			t.Errorf("%s: got %v, want a malformed history that names %q", c.name, err, c.cause)
		}
	}
}

func TestEventsKeepTextOrder(t *testing.T) {
	u := Update{Kind: Transaction, UpdateID: "x", RecordTime: 1, Events: make([]Event, 12)}
	for i := range u.Events {
		u.Events[i] = Event{Kind: Created, Node: int32(i), EventID: EventID("x", int32(i)), Argument: []byte("{}")}
		u.RootEvents = append(u.RootEvents, int32(i))
	}
	got := string(AppendUpdate(nil, &u, UpdateForm{}))
	if strings.Index(got, `"x:10":`) > strings.Index(got, `"x:2":`) {
		t.Errorf("x:10 must stand before x:2 in %s", got)
	}
}

func TestParseTime(t *testing.T) {
	cases := []struct{ in, want string }{
		{"2026-07-01T00:00:00Z", "2026-07-01T00:00:00.000000Z"},
		{"2026-07-01T02:00:00.5+02:00", "2026-07-01T00:00:00.500000Z"},
		{"2024-02-29T23:59:59.123456789Z", "2024-02-29T23:59:59.123456Z"},
		{"0001-01-01T00:00:00.000000Z", "0001-01-01T00:00:00.000000Z"},
		{"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"},
		{"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"},
		{"2026-07-01T00:00:00", ""}, {"2023-02-29T00:00:00Z", ""}, {"2026-13-01T00:00:00Z", ""}, {"2026-07-01 00:00:00Z", ""},
		{"2026-07-01T24:00:00Z", ""}, {"", ""}, {"now", ""}, {"2026-07-01T00:00:00.Z", ""}, {"20x6-07-01T00:00:00Z", ""},
	}
	for _, c := range cases {
		m, err := ParseTime(c.in)
		if c.want == "" {
			if err == nil {
				t.Errorf("ParseTime(%q) = %s, want an error", c.in, m)
			}
			continue
		}
		if err != nil || m.String() != c.want {
			t.Errorf("ParseTime(%q) = %s, %v, want %s", c.in, m, err, c.want)
		}
	}
}

func TestDigestDependsOnRowsNotOnOrder(t *testing.T) {
	rows := []string{"a", "b", "c", "a"}
	var forward, backward, parts, once Digest
	for i := range rows {
		forward.Add([]byte(rows[i]))
		backward.Add([]byte(rows[len(rows)-1-i]))
		var part Digest
		part.Add([]byte(rows[i]))
		parts.Merge(part)
	}
	for _, r := range rows[:3] {
		once.Add([]byte(r))
	}
	if forward != backward || forward != parts {
		t.Errorf("order matters: %s, %s, %s", forward, backward, parts)
	}
	if forward.Hash() == once.Hash() {
		t.Error("a doubled row does not change the hash")
	}
	raw, err := forward.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back Digest
	if err := back.UnmarshalJSON(raw); err != nil || back != forward {
		t.Errorf("JSON round trip gave %s, %v, want %s", back, err, forward)
	}
}
