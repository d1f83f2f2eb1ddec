package store

import (
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestNextCommit(t *testing.T) {
	made := func(n NextCommit) bool {
		select {
		case <-n.made:
			return true
		default:
			return false
		}
	}
	db := &DB{commits: new(commits)}
	db.Committed(BatchRow{Stream: "scan", Sequence: 1}) // nobody waits
	one, two, other := db.NextCommit("scan"), db.NextCommit("scan"), db.NextCommit("node:a")
	if made(one) || made(two) || made(other) {
		t.Fatal("a commit is told before there is one")
	}
	db.Committed(BatchRow{Stream: "scan", Sequence: 2})
	if !made(one) || !made(two) || made(other) || made(db.NextCommit("scan")) {
		t.Error("a commit is not told to those, and only to those, who wait for it")
	}
	const long = time.Hour // a test that waits for it is stopped
	one.Await(t.Context(), long, long)
	db.NextCommit("scan").Await(t.Context(), time.Millisecond, long)
	other.Await(t.Context(), long, time.Millisecond)
}

// Commits that this process has made are known from any of them on, as long as they are the last ones and
// nobody else may have made others.
func TestCommitsAfter(t *testing.T) {
	db := &DB{commits: new(commits)}
	known := func(after int64) []int64 {
		rows, ok := db.CommitsAfter("scan", after)
		if !ok {
			return nil
		}
		list := []int64{}
		for _, r := range rows {
			list = append(list, r.Sequence)
		}
		return list
	}
	check := func(when string, after int64, want []int64) {
		t.Helper()
		if got := known(after); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: after %d are known %v, want %v", when, after, got, want)
		}
	}
	commit := func(sequence int64) {
		db.Committed(BatchRow{Stream: "scan", Sequence: sequence, After: schemas.AtOffset(sequence), Through: schemas.AtOffset(sequence + 1)})
	}
	check("before the first", 0, nil)
	db.CommittedHere("scan")
	check("claimed", 4, nil)
	commit(5)
	commit(6)
	check("from the start of the process on", 4, []int64{5, 6})
	check("between", 5, []int64{6})
	check("at the end", 6, []int64{})
	check("too early", 3, nil)
	check("beyond the end", 7, nil)
	commit(8) // another one made 7, or its reply was lost
	check("before a gap", 6, nil)
	check("after a gap", 7, []int64{8})
	for n := range int64(2 * keptCommits) {
		commit(9 + n)
	}
	check("long ago", 8, nil)
	check("recently", 2*keptCommits+7, []int64{2*keptCommits + 8})
	db.CommittedHere("scan")
	check("claimed again", 2*keptCommits+7, nil)
	commit(1000)
	db.Committed(BatchRow{Stream: "scan", Sequence: 1001, After: schemas.AtOffset(5), Through: schemas.AtOffset(5)})
	check("taken back", 999, nil)
	commit(1002)
	check("taken back before", 1000, nil)
	check("written again", 1001, []int64{1002})
	db.CommittedElsewhere("scan")
	check("taken over by another process", 1001, nil)
}
