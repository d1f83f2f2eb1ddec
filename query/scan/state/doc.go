// Package state serves the operations that tell the network's present state: its rounds and rules,
// the name service, traffic, transfers and validators, and what only upstreams know.
//
// The present state is that at the contracts' watermark, whose record time is the time by which
// names and preapprovals expire. What history does not tell comes from facts that the store keeps,
// or from an upstream that is asked; see Upstream.
package state
