package nodeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// maxAdvance bounds one step of the ledger's time: what is due until then is executed
// before the answer.
const maxAdvance = 400 * 24 * time.Hour

// time answers with the time of the ledger.
func (n *nodeServer) time(_ *http.Request) (any, error) {
	now := schemas.Micros(n.ledger.Now().UnixMicro())
	return map[string]string{"now": string(schemas.AppendShortTime(nil, now))}, nil
}

type advanceRequest struct {
	Duration *wireDuration `json:"duration"`
}

// advanceTime moves the time of the ledger. No node has such an operation: it is for tests.
func (n *nodeServer) advanceTime(r *http.Request, q *advanceRequest) (any, error) {
	if q.Duration == nil {
		return nil, reply.BadRequest("invalid body: duration is required")
	}
	d, err := q.Duration.duration()
	if err != nil || d > maxAdvance {
		return nil, invalidField("duration", "%d s are not between 0 and %s", q.Duration.Seconds, maxAdvance)
	}
	if err := n.ledger.AdvanceTime(context.WithoutCancel(r.Context()), d); err != nil {
		return nil, asNodeError(err)
	}
	return n.time(r)
}
