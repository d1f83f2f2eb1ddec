package scan

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// repeat fetches the range of an announced batch again and writes it as one batch.
func (ing *Ingester) repeat(ctx context.Context, in *schemas.Intent) error {
	ing.migration = in.Through.MigrationID
	ing.peers.moved(ing.at, ing.migration)
	if err := ing.overview(ctx); err != nil {
		return err
	}
	b, err := ing.announced(ctx, in)
	if err != nil {
		return err
	}
	if err := ing.write(ctx, b); err != nil {
		return err
	}
	ing.moveTo(in.Through)
	return nil
}

// announced fetches the announced batch from whichever upstream still gives it.
// Another's verdicts may differ, so a hash that does not match says something about the
// history only when none matches.
func (ing *Ingester) announced(ctx context.Context, in *schemas.Intent) (stream.Batch, error) {
	differs := map[*peer]error{}
	w := ing.wantOf(in)
	for tries := 1; ; tries++ {
		for _, p := range ing.peers.list {
			if differs[p] != nil || ing.peers.several() && !(p.up(ing.cfg.Now()) && p.knows(w)) {
				continue
			}
			b, err := ing.fetchRange(ctx, p, w, in.After, in.Through)
			if err != nil && (!ing.peers.several() || remote.Ended(ctx) != nil) {
				return b, err
			}
			if err != nil {
				p.retried()
				ing.status.Retried(err)
				continue
			}
			if differs[p] = stream.CheckAnnounced(in, b.Batch, p.client.Upstream()); differs[p] == nil {
				return b, nil
			}
		}
		if len(differs) == len(ing.peers.list) {
			return stream.Batch{}, differs[ing.view.lead]
		}
		if err := ing.pacer.wait(ctx, tries, fmt.Sprintf("%d of %d upstreams returned something else for the announced batch", len(differs), len(ing.peers.list))); err != nil {
			return stream.Batch{}, err
		}
		ing.view.chain = nil
		if err := ing.overview(ctx); err != nil {
			return stream.Batch{}, err
		}
	}
}

// wantOf is what an upstream has to know to give the announced batch.
func (ing *Ingester) wantOf(in *schemas.Intent) want {
	m := in.Through.MigrationID
	w := want{operation: ing.view.operation(), through: in.Through, after: schemas.Position{MigrationID: m, RecordTime: schemas.MinMicros}}
	if in.After.MigrationID == m {
		w.after = in.After
	}
	if in.Through.RecordTime == schemas.MinMicros {
		w.operation = importUpdatesOperation
	}
	if info := ing.view.chain.infos[m]; info != nil {
		w.ranges = info.Ranges
	}
	return w
}

// fetchRange reads all of (after, through] as w says, which must lie within one track
// but for its beginning. It waits while the upstream does not reach that far, unless others may.
func (ing *Ingester) fetchRange(ctx context.Context, p *peer, w want, after, through schemas.Position) (stream.Batch, error) {
	t := ing.tracks.from(p, w.operation, through.MigrationID, nil)
	b := stream.Batch{Batch: &schemas.Batch{Stream: schemas.ScanStream, After: after, Through: through}}
	after = w.after
	for tries := 1; ; {
		c, err := t.fetch(ctx, after, through, fetchOptions{size: MaxPageItems, whole: true})
		if err != nil {
			return b, err
		}
		b.Items = append(b.Items, c.items...)
		b.Bytes += c.bytes
		after = c.covered
		switch {
		case after == through || c.done && !c.end:
			return b, nil
		case c.end && ing.peers.several():
			return b, fmt.Errorf("%s ends at %s, before the unfinished batch does", p.client.Upstream(), after)
		case c.end:
			if err := ing.pacer.wait(ctx, tries, fmt.Sprintf("the upstream ends at %s, before the unfinished batch does", after)); err != nil {
				return b, err
			}
			tries++
		}
	}
}
