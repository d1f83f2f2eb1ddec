package copies

import (
	"reflect"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// nodeUpdates are updates of a node's stream with and without each of their parts.
func nodeUpdates() []schemas.Update {
	event := schemas.Event{
		EventID: "1220ab:3", Node: 3, Kind: schemas.Exercised, ContractID: "00cc", TemplateID: "aa:M:T", PackageName: "p",
		Argument: []byte(`{"a":"\u00fc"}`), Choice: "C", InterfaceID: "bb:M:I", Result: []byte(`{}`), Consuming: true,
		ActingParties: []string{"alice", "bob"}, Children: []int32{4, 9},
		Local: &schemas.LocalEvent{Witnesses: []string{"alice"}, ACSDelta: true, LastDescendant: 9, Extras: []byte(`{"x":1}`)},
	}
	created := schemas.Event{
		EventID: "#other:0", Kind: schemas.Created, ContractID: "00dd", TemplateID: "aa:M:T", PackageName: "p", Argument: []byte(`null`),
		CreatedAt: -5, Signatories: []string{"alice"}, Observers: []string{"bob", "carol"}, Local: &schemas.LocalEvent{LastDescendant: 1},
	}
	plain := schemas.Update{Kind: schemas.Transaction, UpdateID: "1220ab", Local: &schemas.LocalUpdate{Offset: 1, PaidTrafficCost: -1}}
	full := schemas.Update{
		Kind: schemas.Assignment, MigrationID: 7, SynchronizerID: "s::1220", RecordTime: 1_700_000_000_000_000, UpdateID: "1220ab",
		Encoding: schemas.ProtobufJSON, WorkflowID: "w", EffectiveAt: schemas.MinMicros, ExternalTransactionHash: "ff", RootEvents: []int32{0, 3},
		Events:       []schemas.Event{created, event, {EventID: "1220ab:9", Node: 9, Kind: schemas.Unassigned, ContractID: "00ee"}},
		Reassignment: &schemas.Reassignment{Submitter: "alice", SourceSynchronizer: "s", TargetSynchronizer: "t", UnassignID: "u", Counter: 3, ContractID: "00ee"},
		Local:        &schemas.LocalUpdate{Offset: 1 << 40, CommandID: "c", PaidTrafficCost: 88, TraceContext: []byte(`{}`), Topology: []byte(`[]`), Extras: []byte(`{"y":2}`)},
	}
	return []schemas.Update{plain, full}
}

func TestNodePieceIsTheUpdate(t *testing.T) {
	for _, want := range nodeUpdates() {
		piece := AppendNodePiece([]byte("before"), &want)[len("before"):]
		got, err := ReadNodePiece(piece)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read as %+v, %v, want %+v", got, err, want)
		}
		for n := range piece {
			if _, err := ReadNodePiece(piece[:n:n]); err == nil {
				t.Fatalf("the first %d of %d bytes are an update", n, len(piece))
			}
		}
		if _, err := ReadNodePiece(append(piece[:len(piece):len(piece)], 0)); err == nil {
			t.Error("a byte too many is no error")
		}
	}
}

func FuzzReadNodePiece(f *testing.F) {
	for _, u := range nodeUpdates() {
		f.Add(AppendNodePiece(nil, &u))
	}
	f.Fuzz(func(t *testing.T, piece []byte) {
		u, err := ReadNodePiece(piece)
		if err != nil {
			return
		}
		// What can be read is written in one way only, but for numbers that take more bytes
		// than they need and flags that say nothing.
		again, err := ReadNodePiece(AppendNodePiece(nil, &u))
		if err != nil || !reflect.DeepEqual(again, u) {
			t.Errorf("read as %+v, and written and read again as %+v, %v", u, again, err)
		}
	})
}

func BenchmarkReadNodePiece(b *testing.B) {
	piece := AppendNodePiece(nil, &nodeUpdates()[1])
	b.SetBytes(int64(len(piece)))
	for b.Loop() {
		if _, err := ReadNodePiece(piece); err != nil {
			b.Fatal(err)
		}
	}
}
