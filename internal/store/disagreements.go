package store

import "github.com/ledgerlake/ledgerlake/schemas"

// DisagreementRow is what one upstream answered to a range that others answered
// differently: a row of table disagreements.
type DisagreementRow struct {
	Stream string `column:"stream,low"`
	// FoundAt is when the answers were compared; Compared says what of them.
	FoundAt  schemas.Micros   `column:"found_at"`
	Compared string           `column:"compared,low"`
	After    schemas.Position `column:"after_,public"`
	Through  schemas.Position `column:"through_,public"`
	// Resolved means that enough others agreed; Agreed that this answer was theirs.
	Resolved bool   `column:"resolved"`
	Agreed   bool   `column:"agreed"`
	Upstream string `column:"upstream,low"`
	Items    uint64 `column:"items"`
	Digest   string `column:"digest"`
}
