package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// errBeyond means that an update is dated later than this machine's clock allows. It is not
// stored: it may be sound once the clock has come that far, or the node is mended.
var errBeyond = errors.New("an update from the future")

// checkFuture refuses an update from the future.
func (p *pipeline) checkFuture(u *schemas.Update) error {
	if u == nil || p.horizon == nil || u.RecordTime <= p.horizon() {
		return nil
	}
	return &Error{Err: fmt.Errorf("%w: %s at offset %d is dated %s, which is later than this machine's clock allows (--record-time-ahead): either the clock or the node is wrong; nothing from there on is stored",
		errBeyond, u.UpdateID, u.Local.Offset, u.RecordTime)}
}

// checkPast refuses an update that is dated before the one that came before it from its
// synchronizer, whose record times only grow.
func (p *pipeline) checkPast(u *schemas.Update) error {
	last := p.batches.last(u.SynchronizerID)
	if u.RecordTime >= last {
		return nil
	}
	return malformedAt(&element{}, fmt.Errorf("update %s at offset %d is dated %s, earlier than the previous update of synchronizer %s, which is dated %s",
		u.UpdateID, u.Local.Offset, u.RecordTime, u.SynchronizerID, last))
}

// beyondWait is the longest wait between two questions for what comes behind an update from
// the future.
const beyondWait = 30 * time.Second
