package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// snapshotPeriod is the network's: snapshots stand at 00:00, 03:00, .. UTC. It must be
// the same on all scans.
const snapshotPeriod schemas.Micros = 3 * 3600 * 1e6

// snapshots are the instants first, first+snapshotPeriod, .. last at which a migration
// has a snapshot of its active contracts. There are none when last < first.
type snapshots struct{ first, last schemas.Micros }

// snapshotsOf follows the network's rule: the first boundary after the hour of the
// migration's first update, and every further one that a later update has followed.
// contracts is the position up to which lifetimes are known.
func snapshotsOf(m history.Migration, contracts schemas.Position) snapshots {
	none := snapshots{first: 0, last: -1}
	if len(m.Synchronizers) == 0 || contracts.MigrationID < m.ID {
		return none
	}
	begin, end := horizon.Span(m)
	if contracts.MigrationID == m.ID {
		end = min(end, contracts.RecordTime)
	}
	return snapshots{first: boundary(begin) + snapshotPeriod, last: boundary(end - 1)}
}

// boundary returns the latest boundary at or before t.
func boundary(t schemas.Micros) schemas.Micros {
	past := t % snapshotPeriod
	if past < 0 {
		past += snapshotPeriod
	}
	return t - past
}

// atOrBefore returns the newest snapshot that is not after t.
func (s snapshots) atOrBefore(t schemas.Micros) (schemas.Micros, bool) {
	b := min(boundary(t), s.last)
	return b, b >= s.first
}

// after returns the first snapshot after t.
func (s snapshots) after(t schemas.Micros) (schemas.Micros, bool) {
	b := max(boundary(t)+snapshotPeriod, s.first)
	return b, b <= s.last
}

// has reports whether there is a snapshot at t.
func (s snapshots) has(t schemas.Micros) bool {
	return t == boundary(t) && t >= s.first && t <= s.last
}

// snapshotsIn returns the snapshots of a migration; none when it is not held.
func snapshotsIn(ctx context.Context, h *horizon.Horizon, migrationID int64) (snapshots, error) {
	// The watermark first: the migrations read after it are at least as new.
	contracts, err := h.Contracts.Get(ctx)
	if err != nil {
		return snapshots{}, err
	}
	m, _, _, err := h.Migration(ctx, migrationID)
	if err != nil {
		return snapshots{}, err
	}
	return snapshotsOf(m, contracts), nil
}

// snapshotTimes serves the times of snapshots.
type snapshotTimes struct{ horizon *horizon.Horizon }

// snapshotBefore serves the time of the newest snapshot at or before an instant.
func (s snapshotTimes) snapshotBefore(ctx context.Context, r *query.Request) error {
	p := r.Query()
	before, migrationID := p.Time("before"), p.Int64("migration_id")
	if err := p.Err(); err != nil {
		return err
	}
	list, err := snapshotsIn(ctx, s.horizon, migrationID)
	if err != nil {
		return err
	}
	at, ok := list.atOrBefore(before)
	if !ok {
		return query.Errorf(query.NotFound, "No snapshots found before %s in migration %d.", before, migrationID)
	}
	return r.JSON(recordTimeAnswer{at.String()})
}

// snapshotAfter serves the time of the first snapshot after an instant, in the given
// migration or a later one.
func (s snapshotTimes) snapshotAfter(ctx context.Context, r *query.Request) error {
	p := r.Query()
	after, migrationID := p.Time("after"), p.Int64("migration_id")
	if err := p.Err(); err != nil {
		return err
	}
	contracts, err := s.horizon.Contracts.Get(ctx)
	if err != nil {
		return err
	}
	migrations, err := s.horizon.Migrations.Get(ctx)
	if err != nil {
		return err
	}
	for _, m := range migrations {
		if m.ID < migrationID {
			continue
		}
		if at, ok := snapshotsOf(m, contracts).after(after); ok {
			return r.JSON(recordTimeAnswer{at.String()})
		}
	}
	return query.Errorf(query.NotFound, "No snapshots found after %s in migration %d or later.", after, migrationID)
}

// forceSnapshot refuses what the network has for tests: every instant has an active
// set here, so there is nothing to make.
func (snapshotTimes) forceSnapshot(context.Context, *query.Request) error {
	return query.Errorf(query.FailedPrecondition, "Forcing an active contract set snapshot is disabled.")
}

type recordTimeAnswer struct {
	RecordTime string `json:"record_time"`
}
