package ledger

import (
	"context"
	"strings"
)

func (a *API) ledgerEnd(ctx context.Context, r *reading) error {
	end, err := r.node.ends.current(ctx)
	if err != nil {
		return err
	}
	return r.JSON(struct {
		Offset int64 `json:"offset"`
	}{end})
}

// prunedOffsets serves the offset at which our history begins. That stands in for pruning: earlier
// updates do not exist here.
func (a *API) prunedOffsets(ctx context.Context, r *reading) error {
	b, err := r.node.bounds(ctx)
	if err != nil {
		return err
	}
	return r.JSON(struct {
		Participant int64 `json:"participantPrunedUpToInclusive"`
		Divulged    int64 `json:"allDivulgedContractsPrunedUpToInclusive"`
	}{b.begin, 0})
}

type connectedSynchronizer struct {
	Alias string `json:"synchronizerAlias"`
	ID    string `json:"synchronizerId"`
}

// synchronizers lists those that the stream has updates of. What a party may do on them is
// not in the stream: the permission, which is optional, is left out.
func (a *API) synchronizers(ctx context.Context, r *reading) error {
	if party, ok := r.Query().OptionalText("party"); ok {
		if err := r.who.MayRead([]string{party}, false); err != nil {
			return err
		}
	}
	end, err := r.node.ends.current(ctx)
	if err != nil {
		return err
	}
	times, err := r.node.Source.SynchronizerTimes(ctx, end)
	if err != nil {
		return err
	}
	list := make([]connectedSynchronizer, len(times))
	for i, t := range times {
		alias, _, _ := strings.Cut(t.SynchronizerID, "::")
		list[i] = connectedSynchronizer{Alias: alias, ID: t.SynchronizerID}
	}
	return r.JSON(map[string]any{"connectedSynchronizers": list})
}
