package published

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

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

// ParquetProgress says how far the export to Parquet is.
func (c *Catalog) ParquetProgress(ctx context.Context) (Pipeline, error) {
	p := Pipeline{Name: ParquetPipeline}
	due, err := c.DueSegments(ctx)
	if err != nil {
		return p, err
	}
	rows, err := c.AllSegments(ctx)
	if err != nil {
		return p, err
	}
	for i := range rows {
		p.count(rows[i].State)
	}
	p.Total = p.Done + len(due)
	if _, p.Through, err = c.Periods(ctx); err != nil {
		return p, err
	}
	return p, c.estimate(ctx, &p)
}

// NetworkProgress says how far the pipelines of the network's layout are, updates first.
func (c *Catalog) NetworkProgress(ctx context.Context) ([]Pipeline, error) {
	due, err := c.DueFolders(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.Folders.All(ctx)
	if err != nil {
		return nil, err
	}
	updates := Pipeline{Name: NetworkUpdatesPipeline}
	if _, updates.Through, err = c.NetworkFolders(ctx); err != nil {
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
		ref := rows[i].Ref()
		p := of(ref.Kind)
		p.count(rows[i].State)
		if p == &sets && rows[i].State == Published {
			p.Through = ref.Start
		}
	}
	sets.Total, updates.Total = sets.Done, updates.Done
	for _, ref := range due {
		of(ref.Kind).Total++
	}
	pipelines := []Pipeline{updates, sets}
	for i := range pipelines {
		if err := c.estimate(ctx, &pipelines[i]); err != nil {
			return nil, err
		}
	}
	return pipelines, nil
}

// count takes in a unit in a state.
func (p *Pipeline) count(state string) {
	switch state {
	case Published, Expired:
		p.Done++
	case Staged:
		p.Staged++
	}
}

// estimate fills in rate and time left.
func (c *Catalog) estimate(ctx context.Context, p *Pipeline) error {
	recent, err := c.Journal.Recent(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(recent, func(r store.PublishedRow) bool { return r.Pipeline == p.Name }); i >= 0 {
		p.Rate = float64(recent[i].Count) / max(recent[i].Seconds, 1)
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
