package export

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/recently_published.sql
var recentlyPublishedQuery string

// Names of pipelines.
const (
	ParquetPipeline        = "parquet"
	NetworkUpdatesPipeline = "network_updates"
	NetworkACSPipeline     = "network_acs"
)

// Pipeline says how far one kind of export is. Its unit is a segment, or a folder.
type Pipeline struct {
	Name string
	// Done of Total closed units are published, Staged more are written and wait for peers.
	Done, Staged, Total int
	// Through is the record time up to which nothing is missing, schemas.MinMicros if nothing
	// is there. For active sets it is the instant of the last one.
	Through schemas.Micros
	// Rate is units per second over the last ten minutes, from the first one within them.
	Rate float64
	// ETA is the seconds left at that rate, -1 if that cannot be said.
	ETA float64
}

// rateSeconds is the time over which rates are taken.
const rateSeconds = 600

// recent is what a pipeline published lately.
type recent struct {
	Pipeline  string  `ch:"pipeline"`
	Published uint64  `ch:"published"`
	Seconds   float64 `ch:"seconds"`
}

// pace tells what was published lately.
type pace interface {
	recently(ctx context.Context, stream string) ([]recent, error)
}

// storePace reads it from the catalogs.
type storePace struct{ conn driver.Conn }

func (p storePace) recently(ctx context.Context, stream string) ([]recent, error) {
	params := clickhouse.Parameters{"stream": stream, "seconds": fmt.Sprint(rateSeconds)}
	rows, err := selectRows[recent](ctx, p.conn, recentlyPublishedQuery, params)
	if err != nil {
		return nil, fmt.Errorf("reading what was published lately: %w", err)
	}
	return rows, nil
}

// ParquetProgress says how far the export to Parquet is.
func (e *Exporter) ParquetProgress(ctx context.Context) (Pipeline, error) {
	p := Pipeline{Name: ParquetPipeline}
	due, err := e.DueSegments(ctx)
	if err != nil {
		return p, err
	}
	rows, err := e.allRows(ctx)
	if err != nil {
		return p, err
	}
	for i := range rows {
		p.count(rows[i].State)
	}
	p.Total = p.Done + len(due)
	if _, p.Through, err = e.Published(ctx); err != nil {
		return p, err
	}
	return p, e.estimate(ctx, &p)
}

// NetworkProgress says how far the pipelines of the network's layout are, updates first.
func (e *Exporter) NetworkProgress(ctx context.Context) ([]Pipeline, error) {
	due, err := e.DueNetwork(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := e.network.all(ctx)
	if err != nil {
		return nil, err
	}
	updates := Pipeline{Name: NetworkUpdatesPipeline}
	if _, updates.Through, err = e.NetworkFolders(ctx); err != nil {
		return nil, err
	}
	sets := Pipeline{Name: NetworkACSPipeline, Through: schemas.MinMicros}
	of := func(kind schemas.NetworkKind) *Pipeline {
		if kind == schemas.NetworkACS {
			return &sets
		}
		return &updates
	}
	for i := range rows {
		ref := rows[i].ref()
		p := of(ref.Kind)
		p.count(rows[i].State)
		if p == &sets && rows[i].State == published {
			p.Through = ref.Start
		}
	}
	sets.Total, updates.Total = sets.Done, updates.Done
	for _, ref := range due {
		of(ref.Kind).Total++
	}
	pipelines := []Pipeline{updates, sets}
	for i := range pipelines {
		if err := e.estimate(ctx, &pipelines[i]); err != nil {
			return nil, err
		}
	}
	return pipelines, nil
}

// count takes in a unit in a state.
func (p *Pipeline) count(state string) {
	switch state {
	case published, expired:
		p.Done++
	case staged:
		p.Staged++
	}
}

// estimate fills in rate and time left.
func (e *Exporter) estimate(ctx context.Context, p *Pipeline) error {
	lately, err := e.pace.recently(ctx, e.stream)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(lately, func(r recent) bool { return r.Pipeline == p.Name }); i >= 0 {
		p.Rate = float64(lately[i].Published) / max(lately[i].Seconds, 1)
	}
	switch left := p.Total - p.Done; {
	case left == 0:
		p.ETA = 0
	case p.Rate > 0:
		p.ETA = float64(left) / p.Rate
	default:
		p.ETA = -1
	}
	return nil
}
