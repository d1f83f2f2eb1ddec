package history

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/ends.sql
	endsQuery string
	//go:embed sql/exercises_at.sql
	exercisesAtQuery string
)

// Ending is a choice that always ends a contract of some templates, which makes its exercises easy to
// find: lifetimes are looked up by template, while events can only be read one after the other.
type Ending struct {
	// Templates are names as the store has them, "PACKAGE_NAME:Module:Entity".
	Templates []string
	Choice    string
}

// endRow is a row of endsQuery.
type endRow struct {
	ArchivedAt schemas.Micros `column:"archived_at"`
}

// EndingPages hands out the exercises of a choice in rg, ascending by position and node, as updates
// with one event each. rg must not end above ContractsWatermark; rg.Limit is how many ends of
// contracts are looked at in one step.
func (s *State) EndingPages(ctx context.Context, e Ending, rg Range, each func([]schemas.Update) error) error {
	for part := range rg.migrations() {
		params := rows.Span{Stream: s.stream, After: part.After, Through: part.Through}.Params(0)
		params["templates"] = store.Texts(e.Templates)
		ends, err := store.SelectAll(ctx, s.db, endsQuery, params, store.NewRecords[endRow]())
		if err != nil {
			return fmt.Errorf("reading the ends of contracts of %s: %w", params["templates"], err)
		}
		for chunk := range slices.Chunk(ends, part.Limit) {
			times := make([]schemas.Micros, len(chunk))
			for i, end := range chunk {
				times[i] = end.ArchivedAt
			}
			found, err := s.ExercisesAt(ctx, e.Choice, part.Through.MigrationID, times)
			if err != nil {
				return err
			}
			found = slices.DeleteFunc(found, func(u schemas.Update) bool {
				return !part.After.Before(u.Position()) || part.Through.Before(u.Position())
			})
			if err := each(found); err != nil {
				return err
			}
		}
	}
	return nil
}

// ExercisesAt returns the exercises of a choice at instants of one migration, ascending by position
// and node, as updates with one event each.
func (s *State) ExercisesAt(ctx context.Context, choice string, migrationID int64, times []schemas.Micros) ([]schemas.Update, error) {
	events, err := store.SelectAll(ctx, s.db, exercisesAtQuery, store.Params{
		"stream": store.Text(s.stream), "migration": store.Int(migrationID), "times": store.Times(times), "choice": store.Text(choice),
	}, store.NewEvents())
	if err != nil {
		return nil, fmt.Errorf("reading exercises of %s: %w", choice, err)
	}
	updates, err := updatesOf(ctx, s.db, s.stream, events)
	if err != nil {
		return nil, err
	}
	list := make([]schemas.Update, len(events))
	for i, row := range events {
		u, ok := updates[row.Position]
		if !ok {
			return nil, rows.Lost(row.Position)
		}
		u.Events = []schemas.Event{row.Event}
		list[i] = u
	}
	return list, nil
}
