package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Peer is another source of the same history: an upstream scan or another ledgerlake.
type Peer interface {
	// Upstream names the peer for findings, without credentials.
	Upstream() string
	// Items returns up to limit items after a position in ascending order. Positions stand
	// at a record time as a whole: all items of the last record time are in the page or
	// none. An empty page is the end of what the peer has.
	Items(ctx context.Context, after schemas.Position, limit int) ([]schemas.Item, error)
	// Imports returns import updates of a migration with ids above afterID, ascending. An
	// empty page means that there are none left.
	Imports(ctx context.Context, migrationID int64, afterID string, limit int) ([]schemas.Update, error)
}

// peerPage is the largest page that the network's interface gives.
const peerPage = 1000

// comparePeer compares each segment with the peer's.
func (v *verification) comparePeer(ctx context.Context) error {
	check, peer := v.checks[Days], v.cfg.Peer
	theirs, end, err := v.readPeer(ctx)
	if err != nil {
		return fmt.Errorf("reading %s: %w", peer.Upstream(), err)
	}
	refs := make(map[schemas.SegmentRef]bool)
	for ref := range theirs {
		refs[ref] = true
	}
	for ref := range v.report.Segments {
		refs[ref] = true
	}
	verdicts := slices.ContainsFunc(slices.Collect(maps.Values(theirs)), func(t Tables) bool { return t["verdicts"].Rows > 0 })
	for _, ref := range slices.SortedFunc(maps.Keys(refs), compareRefs) {
		if !ended(ref, end, v.mark) {
			check.Count("segments_not_reached", 1)
			continue
		}
		check.Count("segments", 1)
		v.compareSegment(check, ref, Sum(v.report.Segments[ref]), Sum(theirs[ref]), verdicts)
	}
	return nil
}

func (v *verification) compareSegment(check *Check, ref schemas.SegmentRef, ours, theirs Tables, verdicts bool) {
	for _, table := range slices.Sorted(maps.Keys(ours)) {
		// Verdicts are what each node has recorded itself; a peer may offer none at all.
		if side := table == "verdicts" || table == "traffic" || table == "app_activity"; side && !verdicts {
			continue
		}
		if ours[table] != theirs[table] {
			check.Add(Finding{
				What: "table " + table, Where: "segment " + ref.String(),
				Expected: theirs[table].String() + " as at " + v.cfg.Peer.Upstream(), Found: ours[table].String(),
			})
		}
	}
}

func compareRefs(a, b schemas.SegmentRef) int {
	if a.MigrationID != b.MigrationID {
		return int(a.MigrationID - b.MigrationID)
	}
	return strings.Compare(a.Date, b.Date)
}

// ended reports whether a peer that was read up to end knows all that we have of a
// segment: mark is where we stand.
func ended(ref schemas.SegmentRef, end, mark schemas.Position) bool {
	if end == mark {
		return true
	}
	_, through, err := ref.Bounds()
	if err != nil {
		return false
	}
	return !end.Before(schemas.EndOf(ref.MigrationID, through))
}

// readPeer digests what the peer has up to our watermark, and returns up to where it has it.
func (v *verification) readPeer(ctx context.Context) (map[schemas.SegmentRef]Tables, schemas.Position, error) {
	segments := make(map[schemas.SegmentRef]Tables)
	render := new(renderer)
	after, end := schemas.Start, schemas.Start
	for after.Before(v.mark) {
		page, err := v.cfg.Peer.Items(ctx, after, peerPage)
		if err != nil {
			return nil, end, fmt.Errorf("items after %s: %w", after, err)
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			at := page[i].Position()
			if v.mark.Before(at) {
				end = v.mark
				break
			}
			ref := v.cfg.Segments.Of(v.cfg.Source.Stream(), at.MigrationID, at.RecordTime)
			render.item(&page[i])
			addTo(segments, ref, render.take())
			end = at
		}
		after = page[len(page)-1].Position()
		v.checks[Days].Count("items_read", int64(len(page)))
	}
	if !end.Before(v.last) { // nothing need stand at the watermark itself
		end = v.mark
	}
	for m := int64(0); m <= v.mark.MigrationID; m++ {
		if err := v.readPeerImports(ctx, segments, render, m); err != nil {
			return nil, end, err
		}
	}
	return segments, end, nil
}

func (v *verification) readPeerImports(ctx context.Context, segments map[schemas.SegmentRef]Tables, render *renderer, m int64) error {
	ref := schemas.SegmentRef{Stream: v.cfg.Source.Stream(), MigrationID: m}
	for after := ""; ; {
		page, err := v.cfg.Peer.Imports(ctx, m, after, peerPage)
		if err != nil {
			return fmt.Errorf("imports of migration %d: %w", m, err)
		}
		if len(page) == 0 {
			return nil
		}
		for i := range page {
			render.item(&schemas.Item{Update: &page[i]})
		}
		addTo(segments, ref, render.take())
		after = page[len(page)-1].UpdateID
	}
}

func addTo(segments map[schemas.SegmentRef]Tables, ref schemas.SegmentRef, tables Tables) {
	if segments[ref] == nil {
		segments[ref] = make(Tables)
	}
	segments[ref].merge(tables)
}
