package scan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// chain is an upstream's overview of its migrations, the newest and those before it
// as they name each other.
type chain struct {
	ids   []int64 // ascending
	infos map[int64]*MigrationInfo
	// missing is a migration that is named as previous but of which the upstream has
	// no data yet, -1 if there is none.
	missing int64
	// refusal is set if migrations were denied in other words than the interface has
	// for a migration without data: the upstream may be no scan at all.
	refusal error
	read    time.Time
}

const (
	// firstProbes is how many migration ids are tried in search of the first one.
	firstProbes = 32
	// gapProbes is how many ids in a row must be unknown behind the newest.
	gapProbes = 2
	// maxMigrations ends the probing of an upstream that has an answer for any id.
	maxMigrations = 1000
)

// readChain finds the newest migration by probing ids upwards from the given one, and
// from it the chain back to the first. What is said of a migration is read after its
// successor was seen, so it covers all of the migration if there is a successor.
func readChain(ctx context.Context, c *Client, from int64) (*chain, error) {
	ch := &chain{infos: map[int64]*MigrationInfo{}, missing: -1}
	info, err := ch.newestOf(ctx, c, from)
	for info != nil && err == nil {
		ch.ids = append(ch.ids, info.MigrationID)
		ch.infos[info.MigrationID] = info
		if info.Previous == nil {
			break
		}
		previous := *info.Previous
		if previous >= info.MigrationID || previous < 0 {
			return nil, &Error{Upstream: c.Upstream(), Operation: migrationInfoOperation,
				Err: fmt.Errorf("%w: migration %d names migration %d as its predecessor", schemas.ErrMalformed, info.MigrationID, previous)}
		}
		if info, err = c.MigrationInfo(ctx, previous); errors.Is(err, schemas.ErrNotFound) {
			ch.missing, info, err = previous, nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if len(ch.ids) == 0 && ch.refusal == nil {
		ch.refusal = c.alive(ctx)
	}
	slices.Reverse(ch.ids)
	ch.read = c.cfg.Now()
	return ch, nil
}

// newestOf returns what the upstream holds of its last migration, nil if it has none
// with the given id or a higher one.
func (ch *chain) newestOf(ctx context.Context, c *Client, from int64) (newest *MigrationInfo, err error) {
	misses := 0
	for id := max(from, 0); newest == nil && misses < firstProbes || newest != nil && misses < gapProbes; id++ {
		info, err := c.MigrationInfo(ctx, id)
		switch {
		case err == nil && id-from > maxMigrations:
			return nil, &Error{Upstream: c.Upstream(), Operation: migrationInfoOperation,
				Err: fmt.Errorf("%w: there are more than %d migrations", schemas.ErrMalformed, maxMigrations)}
		case err == nil:
			newest, misses = info, 0
		case errors.Is(err, schemas.ErrNotFound):
			misses++
			if !noData(err) {
				ch.refusal = err
			}
		default:
			return nil, err
		}
	}
	return newest, nil
}

func (ch *chain) has(id int64) bool { return slices.Contains(ch.ids, id) }

// covers reports whether ch has all that another overview has of each synchronizer.
func (ch *chain) covers(other *chain) bool {
	for id, info := range other.infos {
		if own := ch.infos[id]; own == nil || !own.covers(info.Ranges, math.MaxInt64) {
			return false
		}
	}
	return true
}

// next returns the migration after id; ok is false when id is the newest.
func (ch *chain) next(id int64) (next int64, ok bool) {
	for _, n := range ch.ids {
		if n > id {
			return n, true
		}
	}
	return 0, false
}

// newest returns what the upstream holds of its last migration, nil if it has none.
func (ch *chain) newest() *MigrationInfo {
	if len(ch.ids) == 0 {
		return nil
	}
	return ch.infos[ch.ids[len(ch.ids)-1]]
}

// end is where the upstream's history ends according to the overview.
func (ch *chain) end() schemas.Position {
	for _, id := range slices.Backward(ch.ids) {
		if _, to, ok := ch.infos[id].Span(); ok {
			return schemas.Position{MigrationID: id, RecordTime: to}
		}
	}
	return schemas.Start
}

// waitReason says why history after the position at cannot be read in order yet, or
// "". An upstream loads history backwards, so below what it has there may be more.
func (ch *chain) waitReason(at schemas.Position) string {
	newest := ch.newest()
	switch {
	case newest == nil && ch.refusal != nil:
		return fmt.Sprintf("the upstream does not answer like a scan service: %v", ch.refusal)
	case newest == nil && at == schemas.Start:
		return "the upstream has no history yet"
	case newest == nil:
		return fmt.Sprintf("the upstream has no history of migration %d or later yet", at.MigrationID)
	case newest.Complete && ch.missing < 0:
		return ""
	case at == schemas.Start || at.MigrationID < ch.ids[0]:
		return fmt.Sprintf("the upstream is still loading its own history, from migration %d backwards", ch.ids[0])
	case at.MigrationID > ch.ids[0]:
		return ""
	}
	for _, r := range ch.infos[ch.ids[0]].Ranges {
		if at.RecordTime < r.Min {
			return fmt.Sprintf("the upstream is still loading its own history, migration %d before %s", ch.ids[0], r.Min)
		}
	}
	return ""
}

// elapsed is how much record time the upstream's history covers up to the position
// at, and altogether.
func (ch *chain) elapsed(at schemas.Position) (done, total time.Duration) {
	for _, id := range ch.ids {
		from, to, ok := ch.infos[id].Span()
		if !ok {
			continue
		}
		span := time.Duration(to-from) * time.Microsecond
		total += span
		switch {
		case id < at.MigrationID:
			done += span
		case id == at.MigrationID:
			done += min(span, max(0, time.Duration(max(at.RecordTime, from)-from)*time.Microsecond))
		}
	}
	return done, total
}
