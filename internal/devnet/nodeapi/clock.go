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
func (n *nodeServer) time(w http.ResponseWriter, _ *http.Request) error {
	now := schemas.Micros(n.ledger.Now().UnixMicro())
	return reply.SendJSON(w, map[string]string{"now": string(schemas.AppendShortTime(nil, now))})
}

// advanceTime moves the time of the ledger. No node has such an operation: it is for tests.
func (n *nodeServer) advanceTime(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Duration *wireDuration `json:"duration"`
	}
	if err := principalOf(r.Context()).mayManage(); err != nil {
		return err
	}
	if err := readRequest(r, &q); err != nil {
		return err
	}
	if q.Duration == nil {
		return reply.BadRequest("invalid body: duration is required")
	}
	d, err := q.Duration.duration()
	if err != nil || d > maxAdvance {
		return invalidField("duration", "%d s are not between 0 and %s", q.Duration.Seconds, maxAdvance)
	}
	if err := n.ledger.AdvanceTime(context.WithoutCancel(r.Context()), d); err != nil {
		return asNodeError(err)
	}
	return n.time(w, r)
}
