package explorer

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// updatesView is a list of updates.
type updatesView struct {
	form         updatesForm
	rows         []explore.Row
	older, newer string // addresses, "" for none
	reached      *schemas.Micros
}

// updatesForm is what the form of filters has.
type updatesForm struct{ party, template, choice, kind, migration, from, to string }

// kinds are the choices of the filter by kind.
var kinds = []struct{ value, label string }{
	{"", "all"}, {string(schemas.Transaction), "transactions"}, {string(schemas.Assignment), "assignments"}, {string(schemas.Unassignment), "unassignments"},
	{rejectedKind, "rejected"},
}

// rejectedKind is the filter for transactions that were rejected.
const rejectedKind = "rejected"

// updates is the list of updates, newest first.
func (e *Explorer) updates(ctx context.Context, v *page.View) (page.Page, error) {
	form := updatesForm{
		v.Param("party"), v.Param("template"), v.Param("choice"), v.Param("kind"), v.Param("migration"), v.Param("from"), v.Param("to"),
	}
	filter, err := form.filter(v)
	if err != nil {
		return page.Page{}, err
	}
	at, err := cursorOf(v)
	if err != nil {
		return page.Page{}, err
	}
	view := updatesView{form: form}
	feed, err := e.cfg.Explore.Updates(ctx, filter, at, pageRows)
	if err != nil {
		return page.Page{}, err
	}
	view.rows = feed.Rows
	view.link(&feed)
	return page.Page{Title: "Updates", Section: page.Updates, Body: updates(v, view)}, nil
}

// filter reads the form.
func (f *updatesForm) filter(v *page.View) (explore.Filter, error) {
	filter := explore.Filter{Party: f.party, Template: f.template, Choice: f.choice, From: schemas.MinMicros, To: schemas.MaxMicros}
	for _, text := range []string{f.party, f.template, f.choice} {
		if len(text) > maxInput {
			return filter, query.Errorf(query.Invalid, "A filter has at most %d characters.", maxInput)
		}
	}
	switch f.kind {
	case "", string(schemas.Transaction), string(schemas.Assignment), string(schemas.Unassignment):
		filter.Kind = schemas.UpdateKind(f.kind)
	case rejectedKind:
		filter.Rejected = true
	default:
		return filter, query.Errorf(query.Invalid, "There is no such kind of update.")
	}
	if f.migration != "" {
		n, err := strconv.ParseInt(f.migration, 10, 32)
		if err != nil || n < 0 {
			return filter, query.Errorf(query.Invalid, "A migration is a number from 0.")
		}
		filter.Migration = &n
	}
	from, err := v.Time("from")
	if err != nil {
		return filter, err
	}
	to, err := v.Time("to")
	if err != nil {
		return filter, err
	}
	if from != nil {
		filter.From = *from
	}
	if v.At != nil {
		filter.To = *v.At
	}
	if to != nil {
		filter.To = min(filter.To, *to)
	}
	return filter, nil
}

// link sets the addresses of the parts beside a feed.
func (view *updatesView) link(feed *explore.Feed) {
	if feed.Reached != nil {
		view.reached = &feed.Reached.RecordTime
	}
	if len(feed.Rows) == 0 {
		if feed.Reached != nil && feed.Older {
			view.older = view.form.address("before", *feed.Reached)
		}
		return
	}
	if feed.Newer {
		view.newer = view.form.address("after", feed.Rows[0].Position)
	}
	if feed.Older {
		last := feed.Rows[len(feed.Rows)-1].Position
		if feed.Reached != nil && feed.Reached.Before(last) {
			last = *feed.Reached
		}
		view.older = view.form.address("before", last)
	}
}

// address is that of the part of the list on a side of a position.
func (f *updatesForm) address(side string, at schemas.Position) string {
	values := url.Values{}
	for name, value := range map[string]string{
		"party": f.party, "template": f.template, "choice": f.choice, "kind": f.kind, "migration": f.migration, "from": f.from, "to": f.to, side: cursorText(at),
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return "/updates?" + values.Encode()
}

// cursorText is a position as a parameter.
func cursorText(at schemas.Position) string {
	return strconv.FormatInt(at.MigrationID, 10) + "." + strconv.FormatInt(int64(at.RecordTime), 10) + "." + strings.TrimSuffix(at.UpdateID, "\x00")
}

// cursorOf is the part of a list that a request is for.
func cursorOf(v *page.View) (at explore.Cursor, err error) {
	for name, side := range map[string]**schemas.Position{"before": &at.Before, "after": &at.After} {
		text := v.Param(name)
		if text == "" {
			continue
		}
		position, err := positionOf(text)
		if err != nil {
			return at, query.Errorf(query.Invalid, "%s does not say where the list goes on: begin it again.", name)
		}
		*side = &position
	}
	if at.Before != nil && at.After != nil {
		return at, query.Errorf(query.Invalid, "A list goes on before or after a position, not both.")
	}
	return at, nil
}

// positionOf reads what cursorText writes.
func positionOf(text string) (at schemas.Position, err error) {
	migration, rest, _ := strings.Cut(text, ".")
	time, id, ok := strings.Cut(rest, ".")
	m, wrong := strconv.ParseInt(migration, 10, 32)
	t, wrong2 := strconv.ParseInt(time, 10, 64)
	if !ok || len(id) > maxInput {
		err = errors.New("it has not three parts")
	}
	return schemas.Position{MigrationID: m, RecordTime: schemas.Micros(t), UpdateID: id}, errors.Join(wrong, wrong2, err)
}
