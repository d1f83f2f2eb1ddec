package ledger

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
)

// Committed says where a submission stands in history.
type Committed struct {
	UpdateID string
	// Offset is that of the node's stream, 0 if no participant's view is kept. Whether the
	// node's parties see the update at that offset depends on who is informed of it.
	Offset         int64
	RecordTime     time.Time
	EffectiveAt    time.Time
	SynchronizerID string
	// PaidTrafficCost is in bytes.
	PaidTrafficCost int64
	// Results has for each command what the choice returned, in compact_json, or the id of
	// the contract that it created.
	Results []json.RawMessage
}

// Submit executes commands now, as one transaction, and returns once it is visible on the
// streams. What the ledger does not execute is a *Refusal. Commands are executed one
// submission at a time; the caller has checked that the user may act as the parties.
func (l *Ledger) Submit(ctx context.Context, s choices.Submission) (Committed, error) {
	return l.SubmitNoted(ctx, s, nil)
}

// Allocation is a party that was added to the ledger.
type Allocation struct {
	Party string
	// Offset is that of the topology transaction on the node's stream, 0 if no
	// participant's view is kept.
	Offset     int64
	RecordTime time.Time
}
