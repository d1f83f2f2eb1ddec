package sim

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

// UpdateKind tells the entries of the history apart.
type UpdateKind uint8

const (
	TransactionUpdate UpdateKind = iota
	AssignmentUpdate
	UnassignmentUpdate
	// VerdictOnly is a transaction of which only the verdict is public: a private
	// or a rejected one.
	VerdictOnly
	// TopologyUpdate is one that only a participant's own stream has.
	TopologyUpdate
)

// Update is an executed entry of the history, as values that wait to be rendered.
type Update struct {
	Number       uint64 // of the entry; determines the update id
	Kind         UpdateKind
	Migration    int64
	Version      uint8 // package version in use
	Synchronizer uint8
	RecordTime   int64 // µs
	EffectiveAt  int64 // µs
	Workflow     string
	External     bool // signed by an external party: has a transaction hash

	Command      string // id of the command, "" if nobody submitted one
	Nodes        []Node // of a transaction, in preorder
	Public       []Node // those that public history has, nil if all
	Reassignment Reassignment
	Verdict      *Verdict    // absent for reassignments
	Allocated    model.Party // of a topology update: the party that was added
}

// Node is one node of a transaction tree: the creation of contract if choice is
// empty, else an exercise on contract.
type Node struct {
	Contract  *model.Contract
	Choice    string
	Iface     string // interface id, or ""
	Argument  model.Value
	Result    model.Value
	Consuming bool
	Actors    []model.Party
	Observers []model.Party // of the choice: informed without being stakeholders
	End       int32         // index after the last descendant
}

// Reassignment is one half of a reassignment.
type Reassignment struct {
	Contract       *model.Contract
	Submitter      model.Party
	Source, Target uint8
	Counter        int32
	Pair           uint64 // number of the reassignment
}

// ImportUpdate is a contract that is carried over into a new migration.
type ImportUpdate struct {
	Contract     *model.Contract
	Synchronizer uint8
	EffectiveAt  int64
}

// Batch is a run of entries, or of import updates. Batches are reused, so nothing
// in them may be kept.
type Batch struct {
	arena   model.Arena
	Updates []Update
	Imports []ImportUpdate
	// migration is the one that the imports belong to; startsMigration marks the
	// first batch of it.
	Migration       int64
	StartsMigration bool
	// counted is the number of updates without the verdict-only entries.
	Counted int
}

// Reset empties the batch but keeps its buffers.
func (b *Batch) Reset() {
	b.arena.Reset()
	clear(b.Imports)
	b.Updates, b.Imports, b.Counted = b.Updates[:0], b.Imports[:0], 0
	b.StartsMigration = false
}

// add returns a new entry whose slices are empty but keep their capacity.
func (b *Batch) add() *Update {
	n := len(b.Updates)
	if n < cap(b.Updates) {
		b.Updates = b.Updates[:n+1]
	} else {
		b.Updates = append(b.Updates, Update{})
	}
	u := &b.Updates[n]
	clear(u.Nodes)
	*u = Update{Nodes: u.Nodes[:0]}
	return u
}
