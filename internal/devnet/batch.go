package devnet

// updateKind tells the entries of the history apart.
type updateKind uint8

const (
	transactionUpdate updateKind = iota
	assignmentUpdate
	unassignmentUpdate
	// verdictOnly is a transaction of which only the verdict is public: a private
	// or a rejected one.
	verdictOnly
	// topologyUpdate is one that only a participant's own stream has.
	topologyUpdate
)

// update is an executed entry of the history, as values that wait to be rendered.
type update struct {
	number       uint64 // of the entry; determines the update id
	kind         updateKind
	migration    int64
	version      uint8 // package version in use
	synchronizer uint8
	recordTime   int64 // µs
	effectiveAt  int64 // µs
	workflow     string
	external     bool // signed by an external party: has a transaction hash

	command      string // id of the command, "" if nobody submitted one
	nodes        []node // of a transaction, in preorder
	public       []node // those that public history has, nil if all
	reassignment reassignment
	verdict      *verdict // absent for reassignments
	allocated    party    // of a topology update: the party that was added
}

// node is one node of a transaction tree: the creation of contract if choice is
// empty, else an exercise on contract.
type node struct {
	contract  *contract
	choice    string
	iface     string // interface id, or ""
	argument  value
	result    value
	consuming bool
	actors    []party
	end       int32 // index after the last descendant
}

// reassignment is one half of a reassignment.
type reassignment struct {
	contract       *contract
	submitter      party
	source, target uint8
	counter        int32
	pair           uint64 // number of the reassignment
}

// importUpdate is a contract that is carried over into a new migration.
type importUpdate struct {
	contract     *contract
	synchronizer uint8
	effectiveAt  int64
}

// batch is a run of entries, or of import updates. Batches are reused, so nothing
// in them may be kept.
type batch struct {
	arena   arena
	updates []update
	imports []importUpdate
	// migration is the one that the imports belong to; startsMigration marks the
	// first batch of it.
	migration       int64
	startsMigration bool
	// counted is the number of updates without the verdict-only entries.
	counted int
}

func (b *batch) reset() {
	b.arena.reset()
	clear(b.imports)
	b.updates, b.imports, b.counted = b.updates[:0], b.imports[:0], 0
	b.startsMigration = false
}

// add returns a new entry whose slices are empty but keep their capacity.
func (b *batch) add() *update {
	n := len(b.updates)
	if n < cap(b.updates) {
		b.updates = b.updates[:n+1]
	} else {
		b.updates = append(b.updates, update{})
	}
	u := &b.updates[n]
	clear(u.nodes)
	*u = update{nodes: u.nodes[:0]}
	return u
}
