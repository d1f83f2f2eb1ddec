// Package damage finds out whether the store has lost rows: whether a part of a table is gone,
// was set aside by the engine because it is broken, or cannot be read. The journals say how many
// rows each table must have, and counting them costs milliseconds, whatever the length of history.
//
// What holds: rows that batches were committed with are missed, or seen to be doubled, before
// anything is served or published from what is left.
package damage
