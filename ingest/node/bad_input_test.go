package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// decodeOne decodes a frame with nobody to tell of unknown members.
func decodeOne(wire string) (element, error) {
	return newDecoder(migrationID, func(string, string) {}).decodeElement([]byte(wire))
}

func TestMalformedFramesAreRefused(t *testing.T) {
	t.Parallel()
	g := newGenerator(31)
	g.offset = 77
	var tx told
	for tx.item == nil || len(tx.item.Update.Events) < 3 || tx.item.Update.Events[1].Local.LastDescendant == 0 {
		tx = g.transaction()
	}
	as, un, top := g.assignment(), g.unassignment(), g.topology()
	replace := func(e told, old, new string) string {
		if !strings.Contains(e.wire, old) {
			t.Fatalf("frame has no %s: %s", old, e.wire)
		}
		return strings.Replace(e.wire, old, new, 1)
	}
	cid := tx.item.Update.Events[1].ContractID
	first := tx.item.Update.Events[0]
	for name, c := range map[string]struct{ wire, says string }{
		"nothing":                       {``, "malformed JSON"},
		"cut short":                     {tx.wire[:len(tx.wire)-30], "malformed"},
		"something behind it":           {tx.wire + `{}`, "malformed JSON"},
		"another object":                {`{"hello":1}`, `no member "update"`},
		"no update":                     {`{"update":null}`, "not an object"},
		"an empty update":               {`{"update":{}}`, "has no kind"},
		"two kinds":                     {`{"update":{"OffsetCheckpoint":{"value":{"offset":1}},"Transaction":{"value":{}}}}`, "two kinds"},
		"an unknown kind":               {`{"update":{"Vote":{"value":{"offset":1}}}}`, `an update of kind "Vote" is unknown`},
		"an unknown event":              {replace(tx, `"ExercisedEvent"`, `"RolledBackEvent"`), `an event of kind "RolledBackEvent"`},
		"archived events":               {replace(tx, `"ExercisedEvent"`, `"ArchivedEvent"`), "the requested shape"},
		"a list as frame":               {`[]`, "not an object"},
		"no value":                      {`{"update":{"Transaction":{}}}`, "no value"},
		"a checkpoint without offset":   {`{"update":{"OffsetCheckpoint":{"value":{}}}}`, "no offset"},
		"offset zero":                   {`{"update":{"OffsetCheckpoint":{"value":{"offset":0}}}}`, "not positive"},
		"offset beyond 64 bits":         {replace(tx, `],"offset":77`, `],"offset":9223372036854775808`), "not a 64-bit integer"},
		"offset with a fraction":        {replace(tx, `],"offset":77`, `],"offset":77.5`), "not a 64-bit integer"},
		"offset as text":                {replace(tx, `],"offset":77`, `],"offset":"77"`), "not a number"},
		"node number beyond 32 bits":    {replace(tx, fmt.Sprintf(`"nodeId":%d`, first.Node), `"nodeId":2147483648`), "2^31"},
		"negative node number":          {replace(tx, fmt.Sprintf(`"nodeId":%d`, first.Node), `"nodeId":-1`), "2^31"},
		"cost beyond 64 bits":           {replace(tx, `"workflowId"`, `"paidTrafficCost":1e30,"workflowId"`), "paidTrafficCost"},
		"duplicate key":                 {replace(tx, `"workflowId":"workflow"`, `"workflowId":"a","workflowId":"b"`), `appears twice: "workflowId"`},
		"duplicate key by escape":       {replace(tx, `"workflowId":"workflow"`, `"workflowId":"a","workflow\u0049d":"b"`), "appears twice"},
		"duplicate key in a value":      {replace(tx, `{"z":{},"a":"1"}`, `{"z":{},"z":"1"}`), "duplicate object key"},
		"duplicate unknown member":      {replace(tx, `"newMember":`, `"newMember":1,"newMember":`), "appears twice"},
		"invalid UTF-8":                 {replace(tx, `\u00e9`, "\xff"), "invalid UTF-8"},
		"a lone surrogate":              {replace(tx, `\u00e9`, `\ud800`), "invalid UTF-8"},
		"nested too deep":               {replace(tx, `{"z":{},"a":"1"}`, strings.Repeat("[", 600)+strings.Repeat("]", 600)), "nested deeper than 512"},
		"unknown member nested deep":    {replace(tx, `"newMember":{"b":2,"a":1}`, `"newMember":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)), "nested deeper than 512"},
		"brackets that do not match":    {replace(tx, `{"z":{},"a":"1"}`, `{"z":[},"a":"1"]`), "malformed JSON"},
		"no events":                     {`{"update":{"Transaction":{"value":{"updateId":"a","offset":1,"synchronizerId":"s","recordTime":"2026-07-01T00:00:00Z","effectiveAt":"2026-07-01T00:00:00Z","events":[]}}}}`, "no events"},
		"no record time":                {`{"update":{"Transaction":{"value":{"updateId":"a","offset":1,"synchronizerId":"s","effectiveAt":"2026-07-01T00:00:00Z","events":[]}}}}`, "recordTime"},
		"a record time without zone":    {replace(tx, `"recordTime":"2026-07-01T00:00`, `"recordTime":"2026-07-01 00:00`), "ISO-8601"},
		"the record time of imports":    {replace(told{wire: strings.Replace(tx.wire, tx.item.Update.RecordTime.String(), "0001-01-01T00:00:00Z", -1)}, `"updateId"`, `"updateId"`), "outside 1900 to 2262"},
		"no synchronizer":               {replace(tx, `"synchronizerId":"`+synchronizerA+`",`, ``), "synchronizerId"},
		"no update id":                  {replace(tx, `"updateId":"`+tx.item.Update.UpdateID+`",`, ``), "updateId"},
		"no create argument":            {replace(tx, `"createArgument"`, `"otherArgument"`), "createArgument"},
		"no choice":                     {replace(tx, `"choice":"Amulet_Transfer",`, ``), "choice"},
		"consuming neither way":         {replace(tx, fmt.Sprintf(`"consuming":%v`, first.Consuming), `"consuming":null`), "neither true nor false"},
		"no acsDelta":                   {replace(tx, fmt.Sprintf(`,"acsDelta":%v}`, first.Local.ACSDelta), `}`), "acsDelta"},
		"no last descendant":            {replace(tx, fmt.Sprintf(`"lastDescendantNodeId":%d,`, first.Local.LastDescendant), ``), "lastDescendantNodeId"},
		"last descendant before it":     {replace(replaceTold(tx, fmt.Sprintf(`"nodeId":%d`, first.Node), fmt.Sprintf(`"nodeId":%d`, 900)), fmt.Sprintf(`"lastDescendantNodeId":%d,`, first.Local.LastDescendant), `"lastDescendantNodeId":1,`), "last descendant"},
		"a contract id with line break": {replace(tx, cid, `ab\ncd`), "line break"},
		"no contract id":                {replace(tx, `"contractId":"`+cid+`",`, ``), "contractId"},
		"hash that is not base64":       {replace(tx, `"workflowId"`, `"commandId2":1,"externalTransactionHash":"#","workflowId"`), "base64"},
		"assignment without source":     {replace(as, `"source":"`+synchronizerA+`",`, ``), "source"},
		"assignment without counter":    {replace(as, `"reassignmentCounter":1,`, ``), "reassignmentCounter"},
		"assignment without contract":   {replace(as, `"createdEvent":`, `"created":`), "createdEvent"},
		"both halves in one":            {replace(as, `"events":[`, `"events":[`+unassignedEvent(un)+`,`), "assignments and unassignments"},
		"an unknown reassignment event": {replace(un, `"JsUnassignedEvent"`, `"JsLostEvent"`), `"JsLostEvent"`},
		"unassignment without value":    {replace(un, `"JsUnassignedEvent":{"value"`, `"JsUnassignedEvent":{"content"`), "no value"},
		"topology without events":       {strings.Split(top.wire, `"events":`)[0] + `"events":[]}}}}`, "no events"},
		"topology events as object":     {strings.Split(top.wire, `"events":`)[0] + `"events":{"a":1}}}}}`, "not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			el, err := decodeOne(c.wire)
			if !errors.Is(err, schemas.ErrMalformed) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("decoding gives %+v, %v; want an error that says %q\n%.300s", el, err, c.says, c.wire)
			}
		})
	}
}

func replaceTold(e told, old, new string) told {
	e.wire = strings.Replace(e.wire, old, new, 1)
	return e
}

// unassignedEvent cuts the first event out of an unassignment.
func unassignedEvent(un told) string {
	_, rest, _ := strings.Cut(un.wire, `"events":[`)
	return rest[:valueEnd([]byte(rest), 0)]
}

func TestTreesOfVisibleEvents(t *testing.T) {
	t.Parallel()
	type node struct{ number, last int32 }
	for name, c := range map[string]struct {
		nodes []node
		roots []int32
		says  string
	}{
		"one":                     {nodes: []node{{0, 0}}, roots: []int32{0}},
		"two roots":               {nodes: []node{{0, 0}, {1, 1}}, roots: []int32{0, 1}},
		"a subtree with a hole":   {nodes: []node{{1, 9}, {4, 4}, {6, 8}, {8, 8}, {10, 10}}, roots: []int32{1, 10}},
		"below a hidden event":    {nodes: []node{{3, 5}, {7, 7}}, roots: []int32{3, 7}},
		"in another order":        {nodes: []node{{7, 7}, {3, 5}, {4, 4}}, roots: []int32{3, 7}},
		"siblings below siblings": {nodes: []node{{0, 6}, {1, 3}, {2, 2}, {4, 6}, {5, 5}}, roots: []int32{0}},
		"the same number twice":   {nodes: []node{{0, 3}, {1, 1}, {1, 1}}, says: "two events have node number 1"},
		"subtrees that overlap":   {nodes: []node{{0, 3}, {2, 5}}, says: "beyond that of the event that contains it"},
		"ends before it begins":   {nodes: []node{{4, 2}}, says: "before it"},
	} {
		t.Run(name, func(t *testing.T) {
			var wires []string
			for _, n := range c.nodes {
				wires = append(wires, fmt.Sprintf(`{"ExercisedEvent":{"offset":5,"nodeId":%d,"lastDescendantNodeId":%d,"contractId":"00","templateId":"p:M:E","packageName":"n","witnessParties":["a"],"choice":"C","choiceArgument":{},"actingParties":["a"],"consuming":false,"acsDelta":false}}`, n.number, n.last))
			}
			el, err := decodeOne(`{"update":{"Transaction":{"value":{"updateId":"a","offset":5,"synchronizerId":"s","recordTime":"2026-07-01T00:00:00Z","effectiveAt":"1970-01-01T00:00:00Z","events":[` + strings.Join(wires, ",") + `]}}}}`)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want one that says %q", err, c.says)
				}
				return
			}
			if err != nil || !slices.Equal(el.update.RootEvents, c.roots) {
				t.Errorf("roots %v, %v; want %v", el.update.RootEvents, err, c.roots)
			}
		})
	}
}

// Members that nobody knew of when this was written are kept where they can be, else told.
func TestUnknownMembersAreToldOnceOrKept(t *testing.T) {
	t.Parallel()
	g := newGenerator(32)
	elements := g.elements(60)
	for i, e := range elements {
		wire := strings.Replace(e.wire, `{"value":{"updateId"`, `{"value":{"novelty":[ 1 ],"nothing":null,"always":{"b":1,"a":2},"updateId"`, 1)
		wire = strings.ReplaceAll(wire, `{"JsAssignmentEvent":{`, `{"JsAssignmentEvent":{"more":7,`)
		wire = strings.ReplaceAll(wire, `{"JsUnassignedEvent":{`, `{"JsUnassignedEvent":{"more":7,`)
		elements[i].wire = strings.Replace(wire, `{"update"`, `{"beside":1,"update"`, 1)
		if e.item == nil {
			continue
		}
		e.item.Update.Local.Extras = []byte(`{"always":{"a":2,"b":1},"novelty":[1]}`)
		if e.item.Update.Reassignment == nil {
			continue
		}
		for _, event := range e.item.Update.Events {
			event.Local.Extras = []byte(strings.Replace(string(event.Local.Extras), `"reassignmentCounter"`, `"reassignment":{"more":7},"reassignmentCounter"`, 1))
		}
	}
	u, sink := newUpstream(t, elements), newSink()
	ing := newIngester(t, u, sink, nil)
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
	unmapped := ing.Status().Unmapped
	if want := []string{"a frame: beside"}; !slices.Equal(unmapped, want) {
		t.Errorf("told of %q, want %q", unmapped, want)
	}
}

// Lies of the stream are asked for again, in case something between made them, and stop
// the ingest when they stay. Nothing of them reaches the sink.
func TestStreamsThatDoNotFitStop(t *testing.T) {
	t.Parallel()
	g := newGenerator(33)
	elements := g.elements(200)
	isUpdate := func(e told) bool { return e.item != nil }
	at := 100
	for !isUpdate(elements[at]) || !isUpdate(elements[at-1]) {
		at++
	}
	prev, lie := elements[at-1], elements[at]
	renumber := func(e told, offset int64) string {
		return strings.ReplaceAll(e.wire, fmt.Sprintf(`"offset":%d`, e.offset), fmt.Sprintf(`"offset":%d`, offset))
	}
	for name, c := range map[string]struct {
		frame string
		says  string
	}{
		"an update appears twice":          {prev.wire, "appears twice"},
		"an offset with other content":     {renumber(lie, prev.offset), fmt.Sprintf("offset %d appears twice with different content", prev.offset)},
		"history goes backwards":           {elements[at-20].wire, "follows offset"},
		"an offset beyond the end":         {renumber(lie, 1<<40), "beyond the requested end"},
		"a checkpoint that goes backwards": {`{"update":{"OffsetCheckpoint":{"value":{"offset":1}}}}`, "a checkpoint at offset 1 follows"},
		"an update of a new kind":          {`{"update":{"Novelty":{"value":{"offset":1}}}}`, `"Novelty" is unknown`},
	} {
		for _, source := range []Source{WebSocket, Lists} {
			t.Run(name+" by "+string(source), func(t *testing.T) {
				t.Parallel()
				lying := slices.Clone(elements)
				lying[at].wire = c.frame
				u, sink := newUpstream(t, lying), newSink()
				ing := newIngester(t, u, sink, func(cfg *Config) { cfg.Source = source })
				err := ing.Backfill(testContext(t))
				checkStopped(t, ing, err, schemas.ErrMalformed, c.says, u.URL, "offset")
				sameLines(t, sink.lines, linesOf(elements, 0, prev.offset))
				if ing.Status().Retries < malformedTries-1 {
					t.Errorf("only %d retries", ing.Status().Retries)
				}
			})
		}
	}
}

func FuzzDecodeElement(f *testing.F) {
	for _, e := range newGenerator(34).elements(40) {
		f.Add([]byte(e.wire))
	}
	f.Add([]byte(errorFrame("A", 1, "b")))
	f.Fuzz(func(t *testing.T, wire []byte) {
		el, err := newDecoder(0, func(string, string) {}).decodeElement(wire)
		if err != nil || el.update == nil {
			return
		}
		line := schemas.AppendItem(nil, &schemas.Item{Update: el.update})
		again, err := newDecoder(0, func(string, string) {}).decodeElement(wire)
		if err != nil || string(schemas.AppendItem(nil, &schemas.Item{Update: again.update})) != string(line) {
			t.Fatalf("a second reading of %q differs: %v", wire, err)
		}
	})
}

func TestValueEnd(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]int{
		``: -1, `1`: 1, `12,`: 2, `"a"`: 3, `"a\"b" `: 6, `"a\\"x`: 5, `"\\\""`: 6, `"a`: -1, `{"a":"}"}x`: 9, `[[1],{"b":[]}]`: 14, `[[1]`: -1, `,`: -1, `true}`: 4,
	} {
		if got := valueEnd([]byte(src), 0); got != want {
			t.Errorf("valueEnd(%s) = %d, want %d", src, got, want)
		}
	}
}
