// Package verify checks that a store holds what it should: every batch that was
// committed, whole and unchanged; updates and verdicts that go together; lifetimes that follow
// from the events; coins that are conserved; rewards that follow from activity; the same history as
// a peer. It does so for public history and for the own streams of nodes. Start at Run. It reads every row as it stands, without removing
// duplicates, and repairs nothing.
package verify
