package store

import "github.com/ledgerlake/ledgerlake/schemas"

// StreamRow is how a stream stands according to the journal.
type StreamRow struct {
	Stream    string           `column:"stream,low"`
	Batches   int64            `column:"sequence"`
	Items     uint64           `column:"all_items"`
	Events    uint64           `column:"all_events"`
	Watermark schemas.Position `column:""`
	// WrittenAt is the server's clock at the last commit.
	WrittenAt schemas.Micros `column:"last_written"`
}
