package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Filter says which updates are wanted. Members that are empty do not count.
type Filter struct {
	// Party is a signatory, an observer or an actor of an event.
	Party string
	// Template is PACKAGE:Module:Entity, or its last part, and Choice the name of a choice; of one event.
	Template, Choice string
	Kind             schemas.UpdateKind
	// Rejected wants the transactions that were rejected, of which there is nothing but the verdict, instead.
	Rejected bool
	// Migration is the only one that counts, nil for all.
	Migration *int64
	// From and To are record times, both inclusive. To must not lie above the watermark's; From is MinMicros
	// for the beginning.
	From, To schemas.Micros
}

// Cursor says which part of a list is wanted: the updates before a position, newest first, or those after one
// that are next to it, in the same order. Both are exclusive; at most one is set, none for the newest.
type Cursor struct{ Before, After *schemas.Position }

// Feed is a part of the list of updates, newest first.
type Feed struct {
	Rows []Row
	// Older and Newer say that there may be more on that side.
	Older, Newer bool
	// Reached is where the search ended that found fewer rows than asked for, nil if it saw everything: what
	// follows has not been looked at.
	Reached *schemas.Position
}

// window is the first stretch of time in which updates with some events are looked for; the next ones are
// windowGrowth times as long each.
const (
	window       = schemas.Micros(24 * time.Hour / time.Microsecond)
	windowGrowth = 8
	// searchTime is how long one page looks for rare updates.
	searchTime = time.Second
	// partyTimes is how many places of a party are looked at in one step.
	partyTimes = 512
)

// Orders of lists of positions, and of times.
const (
	newestFirst = "\nORDER BY stream DESC, migration_id DESC, record_time DESC, update_id DESC\nLIMIT 1 BY record_time, update_id\nLIMIT {limit:UInt32}\nSETTINGS enable_analyzer = 0"
	oldestFirst = "\nORDER BY stream, migration_id, record_time, update_id\nLIMIT 1 BY record_time, update_id\nLIMIT {limit:UInt32}\nSETTINGS enable_analyzer = 0"
	latestTimes = "\nORDER BY place_key DESC, node_offset DESC, migration_id DESC, record_time DESC\nLIMIT {limit:UInt32}\nSETTINGS enable_analyzer = 0"
	firstTimes  = "\nORDER BY place_key, node_offset, migration_id, record_time\nLIMIT {limit:UInt32}\nSETTINGS enable_analyzer = 0"
)

// stretch is between two positions of a migration, both exclusive.
type stretch struct{ after, until schemas.Position }

func (s stretch) empty() bool { return !s.after.Before(s.until) }

// Updates returns a part of the list of updates that a filter lets through, at most limit.
func (r *Reader) Updates(ctx context.Context, f Filter, at Cursor, limit int) (Feed, error) {
	s := search{Reader: r, filter: f, limit: limit + 1, newest: at.After == nil, ends: time.Now().Add(searchTime)}
	if err := s.run(ctx, at); err != nil {
		return Feed{}, fmt.Errorf("looking for updates: %w", err)
	}
	feed := Feed{Reached: s.reached}
	more := len(s.found) > limit
	found := s.found[:min(len(s.found), limit)]
	if s.newest {
		feed.Older, feed.Newer = more || s.reached != nil, at.Before != nil
	} else {
		slices.Reverse(found)
		feed.Newer, feed.Older = more || s.reached != nil, true
	}
	var err error
	feed.Rows, err = r.rows(ctx, found)
	return feed, err
}

// search is one for positions.
type search struct {
	*Reader
	filter  Filter
	limit   int
	newest  bool // the newest first, else the oldest
	ends    time.Time
	found   []schemas.Position
	reached *schemas.Position
}

// run looks in one migration after the other.
func (s *search) run(ctx context.Context, at Cursor) error {
	watermark, err := s.history.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return err
	}
	for _, m := range s.migrations(watermark.MigrationID) {
		part := s.within(m, watermark, at)
		if part.empty() {
			continue
		}
		if err := s.migration(ctx, part); err != nil {
			return err
		}
		if len(s.found) >= s.limit || s.reached != nil {
			return nil
		}
	}
	return nil
}

// migrations are those to look in, in order.
func (s *search) migrations(last int64) (list []int64) {
	if s.filter.Migration != nil {
		return []int64{*s.filter.Migration}
	}
	for m := range last + 1 {
		list = append(list, m)
	}
	if s.newest {
		slices.Reverse(list)
	}
	return list
}

// within is the part of a migration that counts.
func (s *search) within(migration int64, watermark schemas.Position, at Cursor) stretch {
	part := stretch{
		schemas.Position{MigrationID: migration, RecordTime: max(s.filter.From, store.BeforeHistory)},
		schemas.EndOf(migration, s.filter.To),
	}
	if behind := behind(watermark); behind.Before(part.until) {
		part.until = behind
	}
	if at.Before != nil && at.Before.Before(part.until) {
		part.until = *at.Before
	}
	if at.After != nil && part.after.Before(*at.After) {
		part.after = *at.After
	}
	if part.after.MigrationID != migration || part.until.MigrationID != migration {
		return stretch{part.after, part.after}
	}
	return part
}

// behind is the position right behind another one.
func behind(p schemas.Position) schemas.Position {
	p.UpdateID += "\x00"
	return p
}

// migration looks in a stretch of one.
func (s *search) migration(ctx context.Context, part stretch) error {
	switch {
	case s.filter.Party != "" && !s.filter.Rejected:
		return s.ofParty(ctx, part)
	case s.filter.Rejected:
		return s.windows(ctx, query("rejected"), part)
	case s.filter.Template != "" || s.filter.Choice != "":
		return s.windows(ctx, query("updates_of_events"), part)
	}
	return s.take(ctx, query("updates"), part)
}

// order is what is appended to a query of positions.
func (s *search) order() string {
	if s.newest {
		return newestFirst
	}
	return oldestFirst
}

// take adds what a query finds in a stretch.
func (s *search) take(ctx context.Context, text string, part stretch) error {
	for {
		want := s.limit - len(s.found)
		params := s.params(part)
		params["limit"] = store.Int(int64(want))
		block := store.NewPositions(part.after.MigrationID)
		var found []schemas.Position
		err := s.db.SelectWithin(ctx, text+s.order(), params, maxTime, maxMemory, block, func() error {
			found = block.AppendTo(found)
			return nil
		})
		if err == nil {
			err = s.add(ctx, part.after.MigrationID, found)
		}
		if err != nil || len(found) < want || len(s.found) >= s.limit {
			return err
		}
		if s.newest { // some were of another kind
			part.until = found[len(found)-1]
		} else {
			part.after = found[len(found)-1]
		}
	}
}

// add keeps the positions whose updates are of the wanted kind.
func (s *search) add(ctx context.Context, migration int64, found []schemas.Position) error {
	if s.filter.Kind != "" && !s.filter.Rejected && (s.filter.Party != "" || s.filter.Template != "" || s.filter.Choice != "") {
		rows, err := s.heads(ctx, migration, found, s.filter.Kind)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(slices.Clone(found), func(p schemas.Position) bool { _, ok := rows[p.UpdateID]; return !ok })
	}
	s.found = append(s.found, found...)
	return nil
}

// windows looks in stretches of time, one after the other, until there are enough or the time is over.
func (s *search) windows(ctx context.Context, text string, part stretch) error {
	first, ok, err := s.firstTime(ctx, part)
	if err != nil || !ok {
		return err
	}
	if part.after.RecordTime < first {
		part.after.RecordTime, part.after.UpdateID = first-1, ""
	}
	for length := window; !part.empty(); length *= windowGrowth {
		next, rest := s.cut(part, length)
		before := len(s.found)
		switch err := s.take(ctx, text, next); {
		case store.IsOverBudget(err):
			s.stop(next)
			return nil
		case err != nil:
			return err
		}
		if len(s.found) >= s.limit {
			return nil
		}
		if part = rest; time.Now().After(s.ends) && !part.empty() {
			s.stop(part)
			return nil
		}
		if len(s.found) > before {
			length /= windowGrowth // it is not rare
		}
	}
	return nil
}

// cut divides a stretch into one of a length and the rest.
func (s *search) cut(part stretch, length schemas.Micros) (next, rest stretch) {
	next, rest = part, part
	if s.newest {
		border := schemas.Position{MigrationID: part.until.MigrationID, RecordTime: part.until.RecordTime - length}
		if !part.after.Before(border) {
			return part, stretch{part.after, part.after}
		}
		next.after, rest.until = border, behind(border)
		return next, rest
	}
	border := schemas.Position{MigrationID: part.after.MigrationID, RecordTime: part.after.RecordTime + length}
	if !border.Before(part.until) {
		return part, stretch{part.after, part.after}
	}
	next.until, rest.after = behind(border), border
	return next, rest
}

// stop says that a stretch has not been looked at.
func (s *search) stop(rest stretch) {
	reached := rest.until
	if !s.newest {
		reached = rest.after
	}
	s.reached = &reached
}

// ofParty looks at the updates at places of a party.
func (s *search) ofParty(ctx context.Context, part stretch) error {
	for !part.empty() {
		times, err := s.partyTimes(ctx, part)
		if err != nil || len(times) == 0 {
			return err
		}
		params := s.params(part)
		params["times"], params["party"] = store.Times(times), store.Text(s.filter.Party)
		found, err := store.SelectAll(ctx, s.db, query("updates_of_party"), params, store.NewPositions(part.after.MigrationID))
		if err != nil {
			return err
		}
		slices.SortFunc(found, schemas.Position.Compare)
		if s.newest {
			slices.Reverse(found)
		}
		if err := s.add(ctx, part.after.MigrationID, found); err != nil {
			return err
		}
		if len(s.found) >= s.limit || len(times) < partyTimes {
			return nil
		}
		last := times[len(times)-1]
		if s.newest {
			part.until = schemas.Position{MigrationID: part.until.MigrationID, RecordTime: last}
		} else {
			part.after = schemas.EndOf(part.after.MigrationID, last)
		}
		if time.Now().After(s.ends) {
			s.stop(part)
			return nil
		}
	}
	return nil
}

// timeRow is a record time.
type timeRow struct {
	RecordTime schemas.Micros `column:"record_time"`
}

// partyTimes are the next record times at which there may be updates of the party.
func (s *search) partyTimes(ctx context.Context, part stretch) ([]schemas.Micros, error) {
	params := s.params(part)
	params["key"] = strconv.FormatUint(store.PlaceKey(s.stream, store.ByParty, s.filter.Party), 10)
	params["limit"] = store.Int(partyTimes)
	order := firstTimes
	if s.newest {
		order = latestTimes
	}
	rows, err := store.SelectAll(ctx, s.db, query("party_times")+order, params, store.NewRecords[timeRow]())
	times := make([]schemas.Micros, len(rows))
	for i, row := range rows {
		times[i] = row.RecordTime
	}
	return times, err
}

// firstTime is that of the first update or verdict of a migration: before it there is nothing to look through.
func (s *search) firstTime(ctx context.Context, part stretch) (schemas.Micros, bool, error) {
	all := stretch{schemas.Position{MigrationID: part.after.MigrationID, RecordTime: store.BeforeHistory}, part.until}
	params := s.params(all)
	params["kind"], params["limit"] = "", "1"
	text := query("updates")
	if s.filter.Rejected {
		text = query("rejected")
	}
	first, ok, err := store.SelectOne(ctx, s.db, text+oldestFirst, params, store.NewPositions(part.after.MigrationID))
	return first.RecordTime, ok, err
}

// params are those of a search in a stretch.
func (s *search) params(part stretch) store.Params {
	pkg, entity := templateParts(s.filter.Template)
	return store.Params{
		"stream": store.Text(s.stream), "migration": store.Int(part.after.MigrationID),
		"after_time": store.Time(store.Clamp(part.after.RecordTime)), "after_id": store.Text(part.after.UpdateID),
		"until_time": store.Time(store.Clamp(part.until.RecordTime)), "until_id": store.Text(part.until.UpdateID),
		"kind": store.Text(string(s.filter.Kind)), "choice": store.Text(s.filter.Choice),
		"package": store.Text(pkg), "entity": store.Text(entity),
	}
}

// templateParts are the package and the rest of a template's name. A name without colons is the last part alone.
func templateParts(name string) (pkg, entity string) {
	if strings.Count(name, ":") < 2 {
		return "", name
	}
	pkg, entity, _ = strings.Cut(name, ":")
	return pkg, entity
}
