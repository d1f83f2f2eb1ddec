package scan

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// repeat fetches the range of an announced batch again and writes it as one batch.
func (ing *Ingester) repeat(ctx context.Context, in *schemas.Intent) error {
	ing.migration = in.Through.MigrationID
	ing.peers.moved(ing.at, ing.migration)
	if err := ing.overview(ctx); err != nil {
		return err
	}
	f, err := ing.announced(ctx, in)
	if err != nil {
		return err
	}
	if err := ing.write(ctx, f); err != nil {
		return err
	}
	ing.moveTo(in.Through)
	return nil
}

// announced fetches the announced batch from whichever upstream still gives it.
// Another's verdicts may differ, so a hash that does not match says something about the
// history only when none matches.
func (ing *Ingester) announced(ctx context.Context, in *schemas.Intent) (filled, error) {
	differs := map[*peer]error{}
	w := ing.wantOf(in)
	for tries := 1; ; tries++ {
		for _, p := range ing.peers.list {
			if differs[p] != nil || ing.peers.several() && !(p.up(ing.cfg.Now()) && p.knows(w)) {
				continue
			}
			f, err := ing.fetchRange(ctx, p, w, in.After, in.Through)
			if err != nil && (!ing.peers.several() || remote.Ended(ctx) != nil) {
				return f, err
			}
			if err != nil {
				p.retried()
				ing.status.retried(err)
				continue
			}
			hash := store.HashBatch(f.batch)
			if in.Hash == "" || hash == in.Hash {
				return f, nil
			}
			differs[p] = fmt.Errorf("%w: %s gives %d items with hash %s, announced were %d with hash %s",
				schemas.ErrDiverged, p.client.Upstream(), len(f.batch.Items), hash, in.Items, in.Hash)
		}
		if len(differs) == len(ing.peers.list) {
			return filled{}, differs[ing.lead]
		}
		if err := ing.wait(ctx, tries, fmt.Sprintf("%d of %d upstreams were asked for the announced batch, and gave another", len(differs), len(ing.peers.list))); err != nil {
			return filled{}, err
		}
		ing.chain = nil
		if err := ing.overview(ctx); err != nil {
			return filled{}, err
		}
	}
}

// wantOf is what an upstream has to know to give the announced batch.
func (ing *Ingester) wantOf(in *schemas.Intent) want {
	m := in.Through.MigrationID
	w := want{operation: ing.operation(), through: in.Through, after: schemas.Position{MigrationID: m, RecordTime: schemas.MinMicros}}
	if in.After.MigrationID == m {
		w.after = in.After
	}
	if in.Through.RecordTime == schemas.MinMicros {
		w.operation = importUpdatesOperation
	}
	if info := ing.chain.infos[m]; info != nil {
		w.ranges = info.Ranges
	}
	return w
}

// fetchRange reads all of (after, through] as w says, which must lie within one track
// but for its beginning. It waits while the upstream does not reach that far, unless others may.
func (ing *Ingester) fetchRange(ctx context.Context, p *peer, w want, after, through schemas.Position) (filled, error) {
	t := ing.trackFrom(p, w.operation, through.MigrationID, nil)
	f := filled{batch: &schemas.Batch{Stream: ing.cfg.Stream, After: after, Through: through}}
	after = w.after
	for tries := 1; ; {
		c, err := t.fetch(ctx, after, through, fetchOptions{size: MaxPageItems, whole: true})
		if err != nil {
			return f, err
		}
		f.batch.Items = append(f.batch.Items, c.items...)
		f.bytes += c.bytes
		after = c.covered
		switch {
		case after == through || c.done && !c.end:
			return f, nil
		case c.end && ing.peers.several():
			return f, fmt.Errorf("%s ends at %s, before the unfinished batch does", p.client.Upstream(), after)
		case c.end:
			if err := ing.wait(ctx, tries, fmt.Sprintf("the upstream ends at %s, before the unfinished batch does", after)); err != nil {
				return f, err
			}
			tries++
		}
	}
}
