package scan

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// overview makes sure that ing.chain is current and that history after ing.at can be
// read in order.
func (ing *Ingester) overview(ctx context.Context) error {
	begin := ing.cfg.Now()
	for tries := 1; ; tries++ {
		reason, err := ing.readOverview(ctx)
		if err != nil {
			return err
		}
		if ing.chain == nil && ing.cfg.GiveUpAfter > 0 && ing.cfg.Now().Sub(begin) > ing.cfg.GiveUpAfter {
			return fmt.Errorf("reading the overview of migrations: giving up after %d attempts: %s", tries, reason)
		}
		if reason == "" {
			return ing.checkKnown()
		}
		if err := ing.wrongAddress(tries); err != nil {
			return err
		}
		ing.chain = nil
		if err := ing.wait(ctx, tries, reason); err != nil {
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

// readOverview makes ing.chain current and returns why history cannot be read by it
// yet, or "".
func (ing *Ingester) readOverview(ctx context.Context) (reason string, err error) {
	if ing.peers.several() {
		return ing.commonOverview(ctx)
	}
	if ing.chain == nil || ing.cfg.Now().Sub(ing.chain.read) >= ing.refresh() {
		at, from := ing.peers.standing()
		wasFailing := ing.lead.failing()
		ch, err := readChain(ctx, ing.lead.client, from)
		if err != nil {
			return "", fmt.Errorf("reading the overview of migrations: %w", err)
		}
		ing.chain = ch
		ing.status.overview(ch)
		if err := ing.peers.take(ctx, ing.lead, ch, at, wasFailing); err != nil {
			ing.lead.bar(err)
			return "", err
		}
	}
	return ing.chain.waitReason(ing.at), nil
}

// commonOverview chooses among the overviews of several upstreams.
func (ing *Ingester) commonOverview(ctx context.Context) (reason string, err error) {
	// The watch reads them in the background at the age of one refresh.
	if ing.chain == nil || ing.cfg.Now().Sub(ing.chain.read) >= 2*ing.refresh() {
		if err := ing.peers.refreshAll(ctx); err != nil {
			return "", err
		}
	}
	if err := ing.peers.hopeless(ing.cfg.Agree); err != nil {
		return "", err
	}
	lead, ch, ready := ing.peers.lead(ing.at, ing.migration, ing.cfg.Agree)
	if ch == nil {
		return ing.peers.waitReason(), nil
	}
	ing.lead, ing.chain = lead, ch
	ing.status.overview(ch)
	reason = ch.waitReason(ing.at)
	if ready < ing.cfg.Agree && reason == "" && (ready > 0 || ing.peers.unread() > 0) {
		reason = fmt.Sprintf("%d upstreams have to agree, but %d can be read from", ing.cfg.Agree, ready)
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
func (ing *Ingester) refresh() time.Duration {
	if ing.source == UpdatesBefore {
		return min(ing.cfg.Poll/2, ing.cfg.Refresh)
	}
	return ing.cfg.Refresh
}

// checkKnown makes sure that the upstream's history contains the migration of ours.
func (ing *Ingester) checkKnown() error {
	if ing.migration < 0 || ing.chain.has(ing.migration) {
		return nil
	}
	return fmt.Errorf("%w: the stream stands at %s, but the migrations of %s are %v",
		schemas.ErrDiverged, ing.at, ing.lead.client.Upstream(), ing.chain.ids)
}
