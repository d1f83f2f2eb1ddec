package devnet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// journal keeps what happened to the ledger from outside, in a file: to execute history
// again takes these as well as the seed. Its size is that of the commands.
type journal struct {
	dir   string
	file  *os.File // nil before the first entry
	size  int64
	count int
}

// journalEntry is one thing that happened. Exactly one member besides the first two is set.
type journalEntry struct {
	// Entries is the number of entries that history had before.
	Entries uint64 `json:"entries"`
	// Time is the record time (µs) of what happened, or to which time was moved.
	Time       int64       `json:"time"`
	Submission *Submission `json:"submission,omitempty"`
	// Home is the participant that submitted.
	Home int `json:"home,omitempty"`
	// Party is the number of a party that was added.
	Party *party `json:"party,omitempty"`
	// Due says that something was executed because it was due.
	Due bool `json:"due,omitempty"`
	// Gap is the mean time between two updates (µs) from now on.
	Gap int64 `json:"gap,omitempty"`
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// add appends an entry.
func (j *journal) add(e journalEntry) error {
	if j.file == nil {
		file, err := os.Create(filepath.Join(j.dir, "commands.jsonl"))
		if err != nil {
			return fmt.Errorf("creating journal of devnet: %w", err)
		}
		j.file = file
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing journal of devnet: %w", err)
	}
	line = append(line, '\n')
	if _, err := j.file.WriteAt(line, j.size); err != nil {
		return fmt.Errorf("writing journal of devnet: %w", err)
	}
	j.size += int64(len(line))
	j.count++
	return nil
}

// read returns a reader of all entries so far.
func (j *journal) read() *journalReader {
	r := &journalReader{left: j.count}
	if j.file == nil {
		return r
	}
	r.decoder = json.NewDecoder(bufio.NewReader(io.NewSectionReader(j.file, 0, j.size)))
	return r
}

// journalReader reads a journal from its beginning.
type journalReader struct {
	decoder *json.Decoder
	left    int
	next    *journalEntry
	err     error
}

// take returns the next entry if it happened when history had so many entries, else nil.
func (r *journalReader) take(entries uint64) *journalEntry {
	if r.next == nil && r.left > 0 && r.err == nil {
		r.next, r.left = &journalEntry{}, r.left-1
		if err := r.decoder.Decode(r.next); err != nil {
			r.next, r.err = nil, fmt.Errorf("reading journal of devnet: %w", err)
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
var errDiverged = errors.New("executed again, the ledger takes another course")

// again has happen what a journal tells.
func (x *executor) again(b *batch, e *journalEntry) error {
	switch {
	case e.Submission != nil:
		if _, _, err := x.submit(b, e.Submission, e.Time, e.Home); err != nil {
			return fmt.Errorf("%w: command %s: %w", errDiverged, e.Submission.CommandID, err)
		}
	case e.Party != nil:
		x.allocate(b, *e.Party, e.Time)
	case e.Due:
		x.executeDue(b, e.Time)
	default:
		x.moveTime(e.Time, e.Gap)
	}
	return x.err
}
