package store

import "testing"

func TestNextCommit(t *testing.T) {
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	db := new(DB)
	db.Committed("scan") // nobody waits
	one, two, other := db.NextCommit("scan"), db.NextCommit("scan"), db.NextCommit("node:a")
	if closed(one) || closed(two) || closed(other) {
		t.Fatal("a commit is told before there is one")
	}
	if !db.CommitsHere("scan") || db.CommitsHere("node:a") {
		t.Error("commits are of the wrong stream")
	}
	db.Committed("scan")
	if !closed(one) || !closed(two) || closed(other) || closed(db.NextCommit("scan")) {
		t.Error("a commit is not told to those, and only to those, who wait for it")
	}
}
