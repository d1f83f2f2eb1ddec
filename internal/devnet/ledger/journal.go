package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// Journal records what happened to the ledger from outside, in a file: executing history
// again takes these entries as well as the seed. The journal of a kept ledger also has the
// updates of the simulated users and what the node knows, so that a later process can
// continue; see kept.go. Its methods may be called concurrently.
type Journal struct {
	dir  string
	kept bool // entries are on disk before add returns

	mu      sync.Mutex
	file    *os.File // nil before the first entry
	first   int64    // where the entries begin, behind the header
	size    int64
	outside int // entries that changed the ledger from outside
}

const JournalName = "journal.jsonl"

// JournalEntry is one thing that happened. Exactly one group of members besides the first
// two is set, none of them if time was moved.
type JournalEntry struct {
	// Entries is the number of entries that history had before.
	Entries uint64 `json:"entries"`
	// Time is the record time (µs) of what happened, or to which time was moved.
	Time       int64               `json:"time,omitempty"`
	Submission *choices.Submission `json:"submission,omitempty"`
	// Completion is what the node remembers of the submission besides.
	Completion *KeptCompletion `json:"completion,omitempty"`
	// Home is the participant that submitted, or that hosts the party.
	Home int `json:"home,omitempty"`
	// Party is the number of a party that was added, Name its id, and Key the public key of
	// one that signs for itself.
	Party *model.Party `json:"party,omitempty"`
	Name  string       `json:"name,omitempty"`
	Key   []byte       `json:"key,omitempty"`
	// Due says that something was executed because it was due.
	Due bool `json:"due,omitempty"`
	// Gap is the mean time between two updates (µs) from now on.
	Gap int64 `json:"gap,omitempty"`

	// The following are in the journals of kept ledgers only.

	// Run is the number of updates that the simulated users made in a row.
	Run int `json:"run,omitempty"`
	// DelegatesSend says that Config.DelegatesSend holds from now on.
	DelegatesSend bool `json:"delegatesSend,omitempty"`
	// Prepared is how many submissions were prepared so far.
	Prepared uint64 `json:"prepared,omitempty"`
	// Genesis is the digest of the history that New executed.
	Genesis string `json:"genesis,omitempty"`
	// Node is the participant whose view is kept.
	Node string `json:"node,omitempty"`
	// User is a user of the node as it is from now on; Annotated is the same for a party.
	User      *KeptUser  `json:"user,omitempty"`
	Annotated *keptParty `json:"annotated,omitempty"`
}

// ofNode reports whether the entry changes what the node knows, not the ledger.
func (e *JournalEntry) ofNode() bool {
	return e.Prepared > 0 || e.Genesis != "" || e.Node != "" || e.User != nil || e.Annotated != nil
}

// fromOutside reports whether the entry is an influence on the ledger that neither the seed
// nor the number of updates tells.
func (e *JournalEntry) fromOutside() bool { return e.Run == 0 && !e.ofNode() }

func (j *Journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// Add appends entries, all at once.
func (j *Journal) Add(entries ...JournalEntry) error {
	if len(entries) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		file, err := os.Create(filepath.Join(j.dir, JournalName))
		if err != nil {
			return fmt.Errorf("creating the journal of devnet: %w", err)
		}
		j.file = file
	}
	var lines []byte
	outside := 0
	for i := range entries {
		line, err := json.Marshal(&entries[i])
		if err != nil {
			return fmt.Errorf("writing the journal of devnet: %w", err)
		}
		lines = append(append(lines, line...), '\n')
		if entries[i].fromOutside() {
			outside++
		}
	}
	if err := j.write(lines); err != nil {
		return fmt.Errorf("writing the journal of devnet: %w", err)
	}
	j.outside += outside
	return nil
}

// write appends lines; those of a kept ledger are on disk when it returns. The caller holds
// the lock.
func (j *Journal) write(lines []byte) error {
	if _, err := j.file.WriteAt(lines, j.size); err != nil {
		// What was written of them must not stand behind shorter lines to come.
		return errors.Join(err, j.file.Truncate(j.size))
	}
	if j.kept {
		if err := j.file.Sync(); err != nil {
			return err
		}
	}
	j.size += int64(len(lines))
	return nil
}

// read returns a reader of all entries so far.
func (j *Journal) read() *journalReader {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &journalReader{left: j.outside}
	if j.file != nil {
		r.decoder = json.NewDecoder(bufio.NewReader(io.NewSectionReader(j.file, j.first, j.size-j.first)))
	}
	return r
}

// journalReader reads a journal from its beginning.
type journalReader struct {
	decoder *json.Decoder // nil without entries
	left    int           // entries from outside that were not read yet
	next    *JournalEntry
	err     error
}

// entry reads the next entry, nil at the end or after an error.
func (r *journalReader) entry() *JournalEntry {
	if r.decoder == nil || r.err != nil {
		return nil
	}
	e := &JournalEntry{}
	switch err := r.decoder.Decode(e); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		r.err = fmt.Errorf("reading the journal of devnet: %w", err)
		return nil
	}
	return e
}

// take returns the next entry from outside if it happened when history had so many entries,
// else nil.
func (r *journalReader) take(entries uint64) *JournalEntry {
	for r.next == nil && r.left > 0 {
		e := r.entry()
		if e == nil {
			return nil
		}
		if e.fromOutside() {
			r.next, r.left = e, r.left-1
		}
	}
	e := r.next
	if e == nil || e.Entries != entries {
		return nil
	}
	r.next = nil
	return e
}

// errDiverged says that executing history again took another course.
var errDiverged = errors.New("executing the journal again gives a different ledger")

// replay executes an entry of the journal again.
func replay(s *choices.Submitter, b *sim.Batch, e *JournalEntry) error {
	x := s.X
	switch {
	case e.Submission != nil:
		if _, _, err := s.Submit(b, e.Submission, e.Time, e.Home); err != nil {
			return fmt.Errorf("%w: command %s: %w", errDiverged, e.Submission.CommandID, err)
		}
	case e.Party != nil:
		x.Allocate(b, *e.Party, e.Time)
	case e.Due:
		x.ExecuteDue(b, e.Time)
	case e.DelegatesSend:
		x.Config.DelegatesSend = true
	default:
		x.Clock.MoveTime(e.Time, e.Gap)
	}
	return x.Tx.Err
}
