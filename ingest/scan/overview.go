package scan

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// view is what an Ingester goes by: the source that history is read from, and the overview
// of migrations of one of the upstreams.
type view struct {
	cfg    *Config
	peers  *peers
	status *progress

	source Source
	// lead is the upstream whose overview counts at present; chain is that overview, nil
	// when it has to be read again.
	lead  *peer
	chain *chain
}

// operation is the one that history is read with.
func (v *view) operation() string {
	switch v.source {
	case UpdatesBefore:
		return updatesBeforeOperation
	case Updates:
		return updatesOperation
	}
	return eventsOperation
}

// overview makes sure that the overview is current and that history after ing.at can be
// read in order.
func (ing *Ingester) overview(ctx context.Context) error {
	begin := ing.cfg.Now()
	for tries := 1; ; tries++ {
		reason, err := ing.view.read(ctx, ing.at, ing.migration)
		if err != nil {
			return err
		}
		if ing.view.chain == nil && ing.cfg.GivesUp(begin) {
			return fmt.Errorf("reading the overview of migrations: giving up after %d attempts: %s", tries, reason)
		}
		if reason == "" {
			return ing.checkKnown()
		}
		if err := ing.wrongAddress(tries); err != nil {
			return err
		}
		ing.view.chain = nil
		if err := ing.pacer.wait(ctx, tries, reason); err != nil {
			return err
		}
	}
}

// wrongAddress returns an error once all that was heard is how a server refuses what it
// does not know.
func (ing *Ingester) wrongAddress(tries int) error {
	if tries < refusalTries || ing.at != schemas.Start {
		return nil
	}
	if refusal := ing.peers.refused(); refusal != nil {
		return fmt.Errorf("%w: is this the address of a scan service?", refusal)
	}
	return nil
}

// read makes the overview current and returns why history after a position in a migration,
// -1 for the first one, cannot be read by it yet, or "".
func (v *view) read(ctx context.Context, at schemas.Position, migration int64) (reason string, err error) {
	if v.peers.several() {
		return v.common(ctx, at, migration)
	}
	if v.chain == nil || v.cfg.Now().Sub(v.chain.read) >= v.refresh() {
		standing, from := v.peers.standing()
		wasFailing := v.lead.failing()
		ch, err := readChain(ctx, v.lead.client, from)
		if err != nil {
			return "", fmt.Errorf("reading the overview of migrations: %w", err)
		}
		v.chain = ch
		v.status.overview(ch)
		if err := v.peers.take(ctx, v.lead, ch, standing, wasFailing); err != nil {
			v.lead.exclude(err)
			return "", err
		}
	}
	return v.chain.waitReason(at), nil
}

// common chooses among the overviews of several upstreams.
func (v *view) common(ctx context.Context, at schemas.Position, migration int64) (reason string, err error) {
	// The watch reads them in the background at the age of one refresh.
	if v.chain == nil || v.cfg.Now().Sub(v.chain.read) >= 2*v.refresh() {
		if err := v.peers.refreshAll(ctx); err != nil {
			return "", err
		}
	}
	if err := v.peers.tooFewLeft(v.cfg.Agree); err != nil {
		return "", err
	}
	lead, ch, ready := v.peers.lead(at, migration, v.cfg.Agree)
	if ch == nil {
		return v.peers.waitReason(), nil
	}
	v.lead, v.chain = lead, ch
	v.status.overview(ch)
	reason = ch.waitReason(at)
	if ready < v.cfg.Agree && reason == "" && (ready > 0 || v.peers.unread() > 0) {
		reason = fmt.Sprintf("%d upstreams must agree, but only %d can be read", v.cfg.Agree, ready)
	}
	return reason, nil
}

// unread counts the upstreams of which nothing is known yet.
func (ps *peers) unread() (n int) {
	for _, p := range ps.list {
		if p.overview() == nil {
			n++
		}
	}
	return n
}

// refresh is the age at which the overview is read again. Reading backwards depends on
// it: new history shows only there.
func (v *view) refresh() time.Duration {
	if v.source == UpdatesBefore {
		return min(v.cfg.Poll/2, v.cfg.Refresh)
	}
	return v.cfg.Refresh
}

// checkKnown makes sure that the upstream's history contains the migration of ours.
func (ing *Ingester) checkKnown() error {
	if ing.migration < 0 || ing.view.chain.has(ing.migration) {
		return nil
	}
	return fmt.Errorf("%w: the stream is at %s, but the migrations of %s are %v",
		schemas.ErrDiverged, ing.at, ing.view.lead.client.Upstream(), ing.view.chain.ids)
}
