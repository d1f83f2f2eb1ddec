package store

import (
	"testing"
	"time"
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
	db.Committed("scan") // nobody waits
	one, two, other := db.NextCommit("scan"), db.NextCommit("scan"), db.NextCommit("node:a")
	if made(one) || made(two) || made(other) {
		t.Fatal("a commit is told before there is one")
	}
	db.Committed("scan")
	if !made(one) || !made(two) || made(other) || made(db.NextCommit("scan")) {
		t.Error("a commit is not told to those, and only to those, who wait for it")
	}
	const long = time.Hour // a test that waits for it is stopped
	one.Await(t.Context(), long, long)
	db.NextCommit("scan").Await(t.Context(), time.Millisecond, long)
	other.Await(t.Context(), long, time.Millisecond)
}
