package schemas

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// contentSamples have every kind of update and event, with and without side data.
func contentSamples() map[string]Item {
	created := Event{
		EventID: "u:0", Kind: Created, ContractID: "00aa", TemplateID: "p:M:T", PackageName: "p", Argument: []byte(`{"a":1}`),
		CreatedAt: 5, Signatories: []string{"alice", "bob"}, Observers: []string{"carol"},
	}
	exercised := Event{
		EventID: "u:0", Kind: Exercised, ContractID: "00bb", TemplateID: "p:M:T", PackageName: "p", Argument: []byte(`{}`),
		Choice: "Go", InterfaceID: "p:M:I", Result: []byte("null"), Consuming: true, ActingParties: []string{"alice"}, Children: []int32{1},
	}
	child := created
	child.EventID, child.Node = "u:1", 1
	transaction := Update{
		Kind: Transaction, MigrationID: 1, SynchronizerID: "sync", RecordTime: 10, UpdateID: "u", WorkflowID: "w",
		EffectiveAt: 9, ExternalTransactionHash: "ab", RootEvents: []int32{0}, Events: []Event{exercised, child},
	}
	half := Reassignment{Submitter: "alice", SourceSynchronizer: "a", TargetSynchronizer: "b", UnassignID: "x", Counter: 3, ContractID: "00aa"}
	local := transaction
	local.Local = &LocalUpdate{Offset: 7, CommandID: "c", PaidTrafficCost: 8, TraceContext: []byte(`{}`), Topology: []byte(`[]`), Extras: []byte(`{"e":1}`)}
	unassigned := Event{EventID: "u:2", Node: 2, Kind: Unassigned, ContractID: "00cc", TemplateID: "p:M:T", PackageName: "p"}
	local.Events = []Event{exercised, child, unassigned}
	for i := range local.Events {
		local.Events[i].Local = &LocalEvent{Witnesses: []string{"bob"}, ACSDelta: true, LastDescendant: 2, Extras: []byte(`{"k":1}`)}
	}
	localHalf := local
	localHalf.Kind, localHalf.Reassignment = Assignment, &half
	return map[string]Item{
		"transaction": {
			Update: &transaction,
			Verdict: &Verdict{
				UpdateID: "u", MigrationID: 1, SynchronizerID: "sync", RecordTime: 10, FinalizationTime: 11, SubmittingParties: []string{"alice"},
				SubmittingParticipantUID: "node", Result: "VERDICT_RESULT_ACCEPTED", MediatorGroup: 1, RoundNumber: 4, Views: []byte(`{"v":1}`),
			},
			Traffic:     &TrafficSummary{TotalCost: 6, Envelopes: []byte(`[]`)},
			AppActivity: &AppActivity{RoundNumber: 4, Records: []byte(`[1]`)},
		},
		"assignment":         {Update: &Update{Kind: Assignment, MigrationID: 1, SynchronizerID: "b", RecordTime: 10, UpdateID: "u", Events: []Event{created}, Reassignment: &half}},
		"unassignment":       {Update: &Update{Kind: Unassignment, MigrationID: 1, SynchronizerID: "a", RecordTime: 10, UpdateID: "u", Reassignment: &half}},
		"node's transaction": {Update: &local}, "node's assignment": {Update: &localHalf},
	}
}

func contentHash(items ...Item) string {
	var c ContentHash
	for i := range items {
		c.Add(&items[i])
	}
	return c.Sum()
}

// What shows in the wire form shows in the hash, and the other way round: what the store
// need not keep must not. Events that a reassignment has too much only show in the hash.
func TestContentHashCoversWhatIsServed(t *testing.T) {
	for name, it := range contentSamples() {
		row, hash := AppendItem(nil, &it), contentHash(it)
		seen := map[string]string{}
		changes := 0
		mutate(reflect.ValueOf(&it).Elem(), name, func(path string) {
			changedRow, changedHash := AppendItem(nil, &it), contentHash(it)
			tooMuch := it.Update.Kind != Transaction && len(it.Update.Events) > 0 && strings.HasSuffix(path, ".Events[new]")
			if (changedHash != hash) != (tooMuch || !bytes.Equal(changedRow, row)) {
				t.Errorf("%s: the row changes: %t, the hash changes: %t", path, !bytes.Equal(changedRow, row), changedHash != hash)
			}
			if changedHash == hash {
				return
			}
			if other, ok := seen[changedHash]; ok {
				t.Errorf("%s and %s give the same hash", path, other)
			}
			seen[changedHash] = path
			changes++
		})
		if changes < 10 {
			t.Errorf("%s: only %d fields change the hash", name, changes)
		}
	}
}

// mutate changes one leaf of v after another, calls so, and changes it back. The kinds of
// updates and events stay, because other fields count with each; so do pointers.
func mutate(v reflect.Value, path string, so func(path string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			mutate(v.Elem(), path, so)
		}
		return
	case reflect.Struct:
		for i := range v.NumField() {
			mutate(v.Field(i), path+"."+v.Type().Field(i).Name, so)
		}
		return
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				mutate(v.Index(i), fmt.Sprintf("%s[%d]", path, i), so)
			}
			change(v, reflect.Append(v.Slice3(0, v.Len(), v.Len()), reflect.Zero(v.Type().Elem())), path+"[new]", so)
			return
		}
		change(v, reflect.ValueOf([]byte("9")), path, so)
		return
	case reflect.String:
		if v.Type() == reflect.TypeFor[UpdateKind]() || v.Type() == reflect.TypeFor[EventKind]() {
			return
		}
		change(v, reflect.ValueOf("9"+v.String()).Convert(v.Type()), path, so)
	case reflect.Bool:
		change(v, reflect.ValueOf(!v.Bool()), path, so)
	default:
		change(v, reflect.ValueOf(v.Int()+1).Convert(v.Type()), path, so)
	}
}

func change(v, to reflect.Value, path string, so func(path string)) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	v.Set(to)
	so(path)
	v.Set(was)
}

// Texts that meet are not mistaken for others, and neither are items.
func TestContentHashTellsWhereTextsEnd(t *testing.T) {
	a, b := contentSamples()["transaction"], contentSamples()["transaction"]
	a.Update.WorkflowID, a.Update.ExternalTransactionHash = "ab", "c"
	b.Update.WorkflowID, b.Update.ExternalTransactionHash = "a", "bc"
	if contentHash(a) == contentHash(b) {
		t.Error("a text reaches into the next one unnoticed")
	}
	if contentHash(a, b) == contentHash(b, a) || contentHash(a, a) == contentHash(a) {
		t.Error("the hash does not tell items in other order or number apart")
	}
	var c ContentHash
	c.Add(&a)
	c.Reset()
	c.Add(&b)
	if c.Sum() != contentHash(b) {
		t.Error("Reset leaves something behind")
	}
}

func BenchmarkContentHash(b *testing.B) {
	it := contentSamples()["transaction"]
	for i := range it.Update.Events {
		it.Update.Events[i].Argument = bytes.Repeat([]byte("0123456789"), 60)
	}
	size := len(AppendItem(nil, &it))
	b.Run("hash", func(b *testing.B) {
		b.SetBytes(int64(size))
		var c ContentHash
		for b.Loop() {
			c.Add(&it)
		}
	})
	b.Run("render", func(b *testing.B) {
		b.SetBytes(int64(size))
		var buf []byte
		for b.Loop() {
			buf = AppendItem(buf[:0], &it)
		}
	})
}
