// Package ledger is the simulated ledger: it executes updates, writes them, and makes them
// visible in order.
//
// New executes Config.Updates updates. Advance, Run and RunLive execute further ones while the
// ledger is served; Submit executes commands, AllocateParty adds parties, AdvanceTime moves
// time. What comes from outside is written into a journal, as history depends on it besides the
// seed. With Config.Keep the journal has everything that happened and is on disk before it is
// visible: New then continues where the ledger was, also after a kill (kept.go).
//
// Time is that of the ledger: "now" is the record time of the last entry. An instant of the
// past is found by executing the ledger again up to there (past.go).
package ledger
