package bulk

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// shownMonths is how many months of a migration the calendar shows, the last ones.
const shownMonths = 24

// States of a day beside those of segments.
const (
	due  = "due"
	open = "open"
	// part says that not all hours of a day are in the same state.
	part = "in part"
)

// letters stand for states on the calendar.
var letters = map[string]string{published.Published: "✓", published.Staged: "S", published.Withdrawn: "W", published.Expired: "E", due: "D", open: "…", part: "◐"}

// classes are those of tags, by state.
var classes = map[string]string{published.Published: "tag good", published.Staged: "tag warn", published.Withdrawn: "tag bad", due: "tag warn", part: "tag warn"}

func classOf(state string) string { return cmp.Or(classes[state], "tag") }

// migrationView is a migration on the calendar.
type migrationView struct {
	id      int64
	imports *dayView
	months  []monthView
	// earlier says that there are more months before these.
	earlier bool
}

// monthView is a month: 31 places, of which those without a segment are empty.
type monthView struct {
	name string
	days [31]dayView
}

// dayView is a day, or the imports of a migration; without a state nothing is there.
type dayView struct{ date, state, path string }

// letter stands for the state.
func (d dayView) letter() string { return letters[d.state] }

// calendarOf makes the calendar, the last migration first. The day that history is in is open.
func calendarOf(c *coverage, status page.Status) []migrationView {
	days := make(map[int64]map[string]dayView)
	put := func(ref schemas.SegmentRef, state string) {
		if days[ref.MigrationID] == nil {
			days[ref.MigrationID] = make(map[string]dayView)
		}
		date := ref.Date[:min(len(ref.Date), len(time.DateOnly))]
		day, there := days[ref.MigrationID][date]
		if there && day.state != state {
			state = part
		}
		days[ref.MigrationID][date] = dayView{date, state, segmentPath(ref)}
	}
	for i := range c.rows {
		put(c.rows[i].Ref(), c.rows[i].State)
	}
	for _, ref := range c.due {
		put(ref, due)
	}
	if !status.Empty() {
		ref := schemas.DaySegments.Of(schemas.ScanStream, status.Migration, status.Through)
		if _, there := days[ref.MigrationID][ref.Date]; !there {
			put(ref, open)
		}
	}
	var list []migrationView
	for id, of := range days {
		list = append(list, migrationOf(id, of))
	}
	slices.SortFunc(list, func(a, b migrationView) int { return cmp.Compare(b.id, a.id) })
	return list
}

// migrationOf puts the days of a migration into months.
func migrationOf(id int64, days map[string]dayView) migrationView {
	m := migrationView{id: id}
	months := make(map[string]*monthView)
	for date, day := range days {
		if date == "" {
			m.imports = &day
			continue
		}
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			continue // no segment is named so
		}
		name := at.Format("2006-01")
		if months[name] == nil {
			months[name] = &monthView{name: name}
		}
		months[name].days[at.Day()-1] = day
	}
	for _, month := range months {
		m.months = append(m.months, *month)
	}
	slices.SortFunc(m.months, func(a, b monthView) int { return cmp.Compare(b.name, a.name) })
	if m.earlier = len(m.months) > shownMonths; m.earlier {
		m.months = m.months[:shownMonths]
	}
	return m
}

// sizeText is a number of bytes for people.
func sizeText(bytes int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	size, unit := float64(bytes), 0
	for size >= 1000 && unit < len(units)-1 {
		size /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprint(bytes, " bytes")
	}
	return fmt.Sprintf("%.3g %s", size, units[unit])
}

func sprint(n int64) string { return fmt.Sprint(n) }

// refString and folderString are how the journal names a unit.
func refString(r store.SegmentRow) string { return r.Ref().String() }

func folderString(r store.NetworkFolderRow) string { return r.Ref().String() }
