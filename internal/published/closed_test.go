package published

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published/publishedtest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// days is a history with an update at noon of each of some days from day 0 on.
type days struct {
	days  int64
	asked int   // for what is held
	fault error // of Migrations
}

func (d *days) Stream() string { return schemas.ScanStream }

func (d *days) Watermark(context.Context) (schemas.Position, error) {
	return schemas.EndOf(0, d.last()), nil
}

func (d *days) ContractsWatermark(ctx context.Context) (schemas.Position, error) {
	return d.Watermark(ctx)
}

func (d *days) MovementsWatermark(context.Context) (schemas.Position, error) {
	return schemas.Start, nil
}

func (d *days) last() schemas.Micros { return schemas.Micros(d.days)*day - day/2 }

func (d *days) Migrations(context.Context) ([]history.Migration, error) {
	d.asked++
	return []history.Migration{{Synchronizers: []history.SynchronizerRange{{SynchronizerID: "s", Min: day / 2, Max: d.last()}}}}, d.fault
}

func (d *days) NextVerdict(context.Context, schemas.Position, schemas.Position) (schemas.Position, bool, error) {
	return schemas.Position{}, false, nil
}

func TestHistoryIsReadOnceWhileTheWatermarksStandStill(t *testing.T) {
	source := &days{days: 3, fault: errors.New("fault")}
	c, err := New(Config{Tables: Tables{Segments: &publishedtest.Segments{}, Folders: &publishedtest.Folders{}}, History: source})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.DueSegments(t.Context()); !errors.Is(err, source.fault) {
		t.Errorf("what is due of a source that fails: %v", err)
	}
	source.fault, source.asked = nil, 0
	due := func() (dates []string) {
		segments, err := c.DueSegments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range segments {
			dates = append(dates, s.Date)
		}
		folders, err := c.DueFolders(t.Context())
		if err != nil || len(folders) == 0 {
			t.Errorf("%d folders are due, %v", len(folders), err)
		}
		return dates
	}
	for range 2 {
		if got := due(); !slices.Equal(got, []string{"", "1970-01-01", "1970-01-02"}) {
			t.Errorf("%q are due", got)
		}
	}
	if source.asked != 1 {
		t.Errorf("asked %d times what is held up to the same watermarks", source.asked)
	}
	source.days++
	if got := due(); !slices.Equal(got, []string{"", "1970-01-01", "1970-01-02", "1970-01-03"}) || source.asked != 2 {
		t.Errorf("a day later %q are due, asked %d times", got, source.asked)
	}
}
