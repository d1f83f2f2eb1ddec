package schemas

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func renderAll(t *testing.T, page string) string {
	t.Helper()
	items, err := DecodeEvents([]byte(page), ProtobufJSON)
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	var lines []byte
	for i := range items {
		lines = append(AppendItem(lines, &items[i]), '\n')
	}
	return string(lines)
}

// However a page is written, it reads the same.
func TestPageInAnyForm(t *testing.T) {
	element := `{"app_activity_records":{"records":[],"round_number":7},"traffic_summary":{"envelope_traffic_summaries":[],"total_traffic_cost":5},"update":` +
		transactionJSON + `,"verdict":` + verdictJSON + `}`
	want := renderAll(t, `{"events":[`+element+`,{"update":`+assignmentJSON+`}]}`)
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(element), &members); err != nil {
		t.Fatal(err)
	}
	backwards := `{"verdict":` + string(members["verdict"]) + `,"update":` + string(members["update"]) +
		`,"traffic_summary":` + string(members["traffic_summary"]) + `,"app_activity_records":` + string(members["app_activity_records"]) + `}`
	unknown := strings.Replace(element, `"update":`, `"unheard_of":[{"x":null}],"update":`, 1)
	for name, page := range map[string]string{
		"white space":      " {\n\"events\" : [ " + element + " , {\"update\":" + assignmentJSON + "} ] } ",
		"keys backwards":   `{"events":[` + backwards + `,{"update":` + assignmentJSON + `}]}`,
		"unknown members":  `{"after":{"a":1},"events":[` + unknown + `,{"update":` + assignmentJSON + `,"why":"not"}],"next":5}`,
		"null for nothing": `{"events":[` + element + `,{"app_activity_records":null,"traffic_summary":null,"update":` + assignmentJSON + `,"verdict":null}]}`,
	} {
		if got := renderAll(t, page); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestPagesOfTheWrongKindAreRefused(t *testing.T) {
	update := func(old, new string) string {
		changed := strings.Replace(transactionJSON, old, new, 1)
		if changed == transactionJSON {
			t.Fatalf("%s is not in the sample", old)
		}
		return `{"events":[{"update":` + changed + `}]}`
	}
	for name, c := range map[string]struct{ page, cause string }{
		"no page":            {``, "JSON"},
		"a list":             {`[]`, "wrong kind"},
		"no member":          {`{}`, `no member "events"`},
		"null member":        {`{"events":null}`, `no member "events"`},
		"an object":          {`{"events":{}}`, `"events"`},
		"element of no kind": {`{"events":[7]}`, "wrong kind"},
		"no content":         {`{"events":[{}]}`, "neither update nor verdict"},
		"second page":        {`{"events":[]}{"events":[]}`, "JSON"},
		"text for number":    {update(`"migration_id":1`, `"migration_id":"1"`), `"migration_id"`},
		"fraction":           {update(`"migration_id":1`, `"migration_id":1.0`), `"migration_id"`},
		"number for text":    {update(`"workflow_id":"w"`, `"workflow_id":1`), `"workflow_id"`},
		"text for list":      {update(`"root_event_ids":["1220aa:0"]`, `"root_event_ids":"1220aa:0"`), `"root_event_ids"`},
		"large group":        {`{"events":[{"verdict":` + strings.Replace(verdictJSON, `"mediator_group":0`, `"mediator_group":2147483648`, 1) + `}]}`, `"mediator_group"`},
	} {
		if _, err := DecodeEvents([]byte(c.page), ProtobufJSON); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.cause) {
			t.Errorf("%s: %v, want one that names %s", name, err, c.cause)
		}
	}
}
