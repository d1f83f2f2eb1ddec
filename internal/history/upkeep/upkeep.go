// Package upkeep reads how the server of the store is: what it takes, what it works on, and for how long there is room.
package upkeep

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

var (
	//go:embed sql/server.sql
	serverQuery string
	//go:embed sql/tables.sql
	tablesQuery string
	//go:embed sql/work.sql
	workQuery string
	//go:embed sql/disks.sql
	disksQuery string
	//go:embed sql/growth.sql
	growthQuery string
)

// recentDays is over how many days growth is measured.
const recentDays = 7

// Limits of each question to the server.
const (
	maxTime   = 5 * time.Second
	maxMemory = 256 << 20
)

// Server is the server that answers.
type Server struct {
	Version string  `column:"version"`
	Uptime  float64 `column:"uptime"` // seconds
	// Memory is what it has taken, and Allowed what it may take, 0 for no limit; in bytes.
	Memory  float64 `column:"memory"`
	Allowed float64 `column:"allowed"`
	Queries float64 `column:"queries"` // that run
}

// Table is what a table takes.
type Table struct {
	Name  string `column:"name"`
	Parts int64  `column:"parts"`
	Rows  int64  `column:"total_rows"`
	Bytes int64  `column:"bytes"`
}

// Work is something that runs in the background.
type Work struct {
	Name     string  `column:"name"` // of the table
	Kind     string  `column:"kind"`
	Seconds  float64 `column:"seconds"`
	Progress float64 `column:"progress"` // 0 to 1
	Problem  string  `column:"problem"`
}

// Disk is a disk of the server.
type Disk struct {
	Name  string `column:"name"`
	Free  int64  `column:"free"`
	Total int64  `column:"total"`
}

// growth is how much history was written.
type growth struct {
	Recent     int64   `column:"recent"`
	Everything int64   `column:"everything"`
	Days       float64 `column:"days"`
}

// Forecast is for how long there is room, if history goes on to grow as in the last days.
type Forecast struct {
	// Days is over how many days growth was measured, BytesPerDay what they have added each, on average.
	Days        float64
	BytesPerDay int64
	// Left is the days until the disk is full, +Inf if nothing grows, or if that is measured over less than a day.
	Left float64
}

// Report is how the server is.
type Report struct {
	Server Server
	Tables []Table
	Work   []Work
	Disks  []Disk
	// Bytes are those of all tables.
	Bytes    int64
	Forecast Forecast
}

// Read asks the server.
func Read(ctx context.Context, db *store.DB) (r Report, err error) {
	servers, err := all[Server](ctx, db, serverQuery, nil)
	if err != nil {
		return r, err
	}
	for _, s := range servers {
		r.Server = s
	}
	if r.Tables, err = all[Table](ctx, db, tablesQuery, nil); err != nil {
		return r, err
	}
	for _, t := range r.Tables {
		r.Bytes += t.Bytes
	}
	if r.Work, err = all[Work](ctx, db, workQuery, nil); err != nil {
		return r, err
	}
	if r.Disks, err = all[Disk](ctx, db, disksQuery, nil); err != nil {
		return r, err
	}
	grown, err := all[growth](ctx, db, growthQuery, store.Params{"days": strconv.Itoa(recentDays)})
	if err != nil {
		return r, err
	}
	for _, g := range grown {
		r.Forecast = g.forecast(r.Bytes, r.Disks)
	}
	return r, nil
}

// all reads the rows of a query.
func all[T any](ctx context.Context, db *store.DB, query string, params store.Params) (list []T, err error) {
	b := store.NewRecords[T]()
	err = db.SelectAsked(ctx, query, params, maxTime, maxMemory, b, func() error {
		list = b.AppendTo(list)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("asking how the store's server is: %w", err)
	}
	return list, nil
}

// forecast says for how long there is room on the fullest disk: what was written lately takes its share of all bytes.
func (g growth) forecast(bytes int64, disks []Disk) Forecast {
	f := Forecast{Days: g.Days, Left: math.Inf(1)}
	if g.Everything <= 0 || g.Days < 1 { // the first hours are those of a backfill
		return f
	}
	f.BytesPerDay = int64(float64(bytes) * float64(g.Recent) / float64(g.Everything) / g.Days)
	for _, d := range disks {
		if f.BytesPerDay > 0 {
			f.Left = min(f.Left, float64(d.Free)/float64(f.BytesPerDay))
		}
	}
	return f
}
