package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// The functions here compute the hash of a batch by docs/formats/batch-hash.md alone, as somebody would
// who has only that page: field by field from items, without the blocks of tables.

// record has the fields of a record by name.
type record map[string]any

// splitText is a text that is split, line by line.
type splitText []string

func importOrUpdate(u *schemas.Update) (table string, r record) {
	if u.IsImport() {
		e := eventRecord(u, &u.Events[0])
		for name, value := range map[string]any{
			"workflow_id": u.WorkflowID, "effective_at": int64(u.EffectiveAt), "contract_id": u.Events[0].ContractID,
			"argument": splitText{string(u.Events[0].Argument)},
		} {
			e[name] = value
		}
		return "imports", e
	}
	r = record{
		"migration_id": u.MigrationID, "record_time": int64(u.RecordTime), "update_id": u.UpdateID, "kind": string(u.Kind),
		"synchronizer_id": u.SynchronizerID, "encoding": string(u.Encoding), "workflow_id": u.WorkflowID, "effective_at": int64(u.EffectiveAt),
		"external_transaction_hash": u.ExternalTransactionHash, "root_events": u.RootEvents,
		"submitter": "", "source_synchronizer": "", "target_synchronizer": "", "unassign_id": "", "reassignment_counter": int64(0), "contract_id": "",
		"node_offset": int64(0), "command_id": "", "paid_traffic_cost": int64(-1), "trace_context": "", "topology": "", "extras": "",
	}
	if a := u.Reassignment; a != nil {
		r["submitter"], r["source_synchronizer"], r["target_synchronizer"] = a.Submitter, a.SourceSynchronizer, a.TargetSynchronizer
		r["unassign_id"], r["reassignment_counter"], r["contract_id"] = a.UnassignID, a.Counter, a.ContractID
	}
	if l := u.Local; l != nil {
		r["node_offset"], r["command_id"], r["paid_traffic_cost"] = l.Offset, l.CommandID, l.PaidTrafficCost
		r["trace_context"], r["topology"], r["extras"] = string(l.TraceContext), string(l.Topology), string(l.Extras)
	}
	return "updates", r
}

func eventRecord(u *schemas.Update, e *schemas.Event) record {
	r := record{
		"migration_id": u.MigrationID, "record_time": int64(u.RecordTime), "update_id": u.UpdateID, "node": int64(e.Node), "kind": string(e.Kind),
		"synchronizer_id": u.SynchronizerID, "encoding": string(u.Encoding), "event_id": e.EventID, "template_id": e.TemplateID,
		"package_name": e.PackageName, "created_at": int64(e.CreatedAt), "signatories": e.Signatories, "observers": e.Observers,
		"choice": e.Choice, "interface_id": e.InterfaceID, "consuming": e.Consuming, "acting_parties": e.ActingParties, "children": e.Children,
		"node_offset": int64(0), "witness_parties": []string(nil), "acs_delta": false, "last_descendant": int64(0), "extras": "",
		"body": splitText{e.ContractID, string(e.Argument), string(e.Result)},
	}
	if e.EventID == fmt.Sprintf("%s:%d", u.UpdateID, e.Node) {
		r["event_id"] = ""
	}
	if u.Local != nil {
		r["node_offset"] = u.Local.Offset
	}
	if l := e.Local; l != nil {
		r["witness_parties"], r["acs_delta"], r["last_descendant"], r["extras"] = l.Witnesses, l.ACSDelta, int64(l.LastDescendant), string(l.Extras)
	}
	return r
}

func verdictRecord(it *schemas.Item) record {
	v := it.Verdict
	r := record{
		"migration_id": v.MigrationID, "record_time": int64(v.RecordTime), "update_id": v.UpdateID, "synchronizer_id": v.SynchronizerID,
		"finalization_time": int64(v.FinalizationTime), "submitting_parties": v.SubmittingParties,
		"submitting_participant_uid": v.SubmittingParticipantUID, "result": v.Result, "mediator_group": int64(v.MediatorGroup),
		"round_number": v.RoundNumber, "traffic_cost": int64(-1), "traffic_envelopes": "", "activity_round": int64(-1), "activity_records": "",
		"views": splitText{string(v.Views)},
	}
	if t := it.Traffic; t != nil {
		r["traffic_cost"], r["traffic_envelopes"] = t.TotalCost, string(t.Envelopes)
	}
	if a := it.AppActivity; a != nil {
		r["activity_round"], r["activity_records"] = a.RoundNumber, string(a.Records)
	}
	return r
}

func mix(x uint64) uint64 {
	x ^= 0x4cf2d2baae6da887
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func ofTexts(list []string) (sum uint64) {
	for i, text := range list {
		sum += xxh3.HashString(text) * uint64(i+1)
	}
	return sum
}

// numbers are those of a field: one, or four of a text that is split.
func numbers(t *testing.T, value any) []uint64 {
	switch v := value.(type) {
	case int64:
		return []uint64{uint64(v)}
	case bool:
		if v {
			return []uint64{1}
		}
		return []uint64{0}
	case string:
		return []uint64{xxh3.HashString(v)}
	case []string:
		return []uint64{ofTexts(v)}
	case []int32:
		var sum uint64
		for i, n := range v {
			sum += mix(uint64(int64(n))) * uint64(i+1)
		}
		return []uint64{sum}
	case splitText:
		return v.numbers()
	}
	t.Fatalf("a field of type %T", value)
	return nil
}

var (
	jsonValue = regexp.MustCompile(`"(?:[^"\\]|\\.)*":?|[-0-9][-+.0-9eE]*`)
	plainID   = regexp.MustCompile(`^(?:[0-9a-f]{2}){32,256}$`)
	party     = regexp.MustCompile(`^(.+?)::[0-9a-f]{68}$`)
)

// parts are what a text is split into.
type parts struct {
	scalars      []byte
	ids, parties []string
}

func (s splitText) numbers() []uint64 {
	var p parts
	var shapes []string
	for i, line := range s {
		if len(s) > 1 && i == 0 { // the contract id
			shapes = append(shapes, string(p.take(line)))
			continue
		}
		shapes = append(shapes, p.splitLine(line))
	}
	return []uint64{xxh3.HashString(strings.Join(shapes, "\n")), xxh3.Hash(p.scalars), ofTexts(p.ids), ofTexts(p.parties)}
}

// take puts the content of a value where it belongs.
func (p *parts) take(value string) byte {
	within := len(value) >= 64 && len(value) <= 512
	if raw, err := hex.DecodeString(value); err == nil && plainID.MatchString(value) {
		p.ids = append(p.ids, string(raw))
		return 1
	}
	if m := party.FindStringSubmatch(value); within && m != nil && !strings.Contains(m[1], "::") {
		p.parties = append(p.parties, value)
		return 2
	}
	p.scalars = append(append(p.scalars, value...), 0)
	return 3
}

func (p *parts) splitLine(line string) string {
	before := len(p.scalars)
	var long []byte // the shape with its scalars in their places
	replace := func(value string) string {
		if strings.HasSuffix(value, `":`) {
			return value
		}
		content, quote := strings.Trim(value, `"`), ""
		if value[0] == '"' {
			content, quote = value[1:len(value)-1], `"`
		}
		return quote + string(p.take(content)) + quote
	}
	shape := jsonValue.ReplaceAllStringFunc(line, replace)
	if len(shape) <= 8192 {
		return shape
	}
	values := bytes.SplitAfter(p.scalars[before:], []byte{0})
	for _, c := range []byte(shape) {
		if c != 3 {
			long = append(long, c)
			continue
		}
		long, values = append(long, bytes.TrimSuffix(values[0], []byte{0})...), values[1:]
	}
	p.scalars = append(append(p.scalars[:before:before], long...), 0)
	return "\x03"
}

// fieldsOf reads the fields of each record, in order, from the page.
func fieldsOf(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/formats/batch-hash.md")
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string][]string)
	table := ""
	row := regexp.MustCompile("^\\| `([a-z_]+)` \\|")
	for line := range strings.Lines(string(page)) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			table = strings.TrimSpace(name)
		} else if strings.HasPrefix(line, "## ") {
			table = ""
		}
		if m := row.FindStringSubmatch(line); m != nil && table != "" {
			fields[table] = append(fields[table], m[1])
		}
	}
	return fields
}

// hashByThePage is the hash of a batch.
func hashByThePage(t *testing.T, fields map[string][]string, items []schemas.Item) string {
	t.Helper()
	sums := make(map[string][]byte)
	add := func(table string, r record) {
		h := uint64(0)
		for _, name := range fields[table] {
			value, ok := r[name]
			if !ok {
				t.Fatalf("the page has a field %s of %s, which is unknown", name, table)
			}
			for _, v := range numbers(t, value) {
				h = mix(h + v)
			}
		}
		sums[table] = binary.LittleEndian.AppendUint64(sums[table], h)
	}
	for i := range items {
		if u := items[i].Update; u != nil {
			table, r := importOrUpdate(u)
			add(table, r)
			for n := range u.Events {
				if table == "updates" {
					add("events", eventRecord(u, &u.Events[n]))
				}
			}
		}
		if items[i].Verdict != nil {
			add("verdicts", verdictRecord(&items[i]))
		}
	}
	var all []byte
	for _, table := range []string{"updates", "events", "imports", "verdicts"} {
		all = append(binary.LittleEndian.AppendUint64(all, uint64(len(sums[table]))), sums[table]...)
	}
	sum := xxh3.Hash128(all).Bytes()
	return "rows1:" + hex.EncodeToString(sum[:])
}

// TestBatchHashIsWhatThePageSays compares the hashes of batches with those computed by the page alone.
func TestBatchHashIsWhatThePageSays(t *testing.T) {
	fields := fieldsOf(t)
	items := append(hashSamples(), schematest.New(schematest.Config{Seed: 9, Items: 400}).Items...)
	long := items[len(hashSamples())-1]
	event := schemas.Event{Kind: schemas.Exercised, ContractID: "#7", Choice: "Long", Result: []byte(`-1.5e+3`),
		Argument: []byte(`[` + strings.Repeat(`{"party":"`+alice+`","id":"`+contract+`","n":-1,"s":"a \"quoted\" text"},`, 1000) + `null]`)}
	long.Update = &schemas.Update{Kind: schemas.Transaction, RecordTime: 10, UpdateID: "long", RootEvents: []int32{0}, Events: []schemas.Event{event}}
	items = append(items, long)
	kinds := make(map[string]int)
	for i := range items {
		b := &schemas.Batch{Stream: schemas.ScanStream, Items: items[i : i+1]}
		if got, want := HashBatch(b), hashByThePage(t, fields, b.Items); got != want {
			t.Fatalf("the hash of %s is %s, by the page %s", items[i].Position(), got, want)
		}
		if u := items[i].Update; u != nil {
			kinds[fmt.Sprint(u.Kind, u.IsImport(), u.Local != nil)]++
		}
	}
	if len(kinds) < 4 {
		t.Errorf("only %v were hashed", kinds)
	}
	for start := 0; start < len(items); start += 100 {
		b := &schemas.Batch{Stream: schemas.ScanStream, Items: items[start:min(start+100, len(items))]}
		if got, want := HashBatch(b), hashByThePage(t, fields, b.Items); got != want {
			t.Fatalf("the hash of a batch from %s is %s, by the page %s", items[start].Position(), got, want)
		}
	}
}
