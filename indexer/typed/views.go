package typed

import (
	"context"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/typedviews"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// createView makes a view, or makes it again.
func (s *Tables) createView(ctx context.Context, v *typedviews.View) error {
	var comments []string
	for _, c := range v.Columns {
		comments = append(comments, "COMMENT COLUMN "+quoted(c[0])+" "+quotedText(c[1]))
	}
	return s.run(ctx, "making view "+v.Name,
		"CREATE OR REPLACE VIEW "+quoted(v.Name)+" AS "+v.Query+" COMMENT "+quotedText(v.Title),
		"ALTER TABLE "+quoted(v.Name)+" "+strings.Join(comments, ", "))
}

// dropViews drops views.
func (s *Tables) dropViews(ctx context.Context, views []*typedviews.View) error {
	for _, v := range views {
		if err := s.run(ctx, "dropping view "+v.Name, "DROP VIEW IF EXISTS "+quoted(v.Name)); err != nil {
			return err
		}
	}
	return nil
}

// madeViews are the views that the store has.
func (s *Tables) madeViews(ctx context.Context) (list []*typedviews.View, err error) {
	rows, err := store.SelectAll(ctx, s.db, selectViews, store.Params{"names": store.Texts(typedviews.Names())}, store.NewRecords[name]())
	for _, r := range rows {
		list = append(list, typedviews.Named(r.Name))
	}
	return list, err
}

// reads reports whether a view reads one of some tables.
func reads(v *typedviews.View, tables []*Table) bool {
	return slices.ContainsFunc(tables, func(t *Table) bool { return slices.Contains(v.Tables, t.Source) })
}
