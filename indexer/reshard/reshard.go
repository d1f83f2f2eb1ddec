package reshard

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/lease"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/free.sql
var selectFree string

// Config of a Reshard.
type Config struct {
	// Source is only read. It is a store of the version of this binary, which nobody writes to.
	Source *store.DB // required
	// Target has the tables of a store without rows, or what an earlier call has left. Nobody else may
	// fill it meanwhile.
	Target *store.DB // required
	// Begin makes the table of notes in the target: see indexer.FillCluster.
	Begin  func(context.Context) error // required
	Log    *slog.Logger                // required
	Report func(Progress)              // required; is called after each piece

	// PieceRows and PieceBytes bound a piece of rows, of which some are in memory at a time; PieceBytes
	// by the average row of a partition. They default to 262,144 rows and 16 MB.
	PieceRows, PieceBytes uint64
}

// Progress is how many rows are copied of those that were left when the work began, or went on.
type Progress struct {
	Table       string
	Rows, Total uint64
}

// Result says what was done.
type Result struct {
	// Partitions are those of the source, of which this call has copied Copied.
	Partitions int    `json:"partitions"`
	Copied     int    `json:"copied"`
	Rows       uint64 `json:"rows"`
	// Nothing says that an earlier call has copied all.
	Nothing bool `json:"nothing_to_do,omitempty"`
}

// Reshard copies a store.
type Reshard struct {
	cfg      Config
	notes    *notes
	tables   map[string]*table
	result   Result
	progress Progress
	at       func(point string) error // tests end the work at a point
}

const (
	atInsert  = "after an insert"
	atNote    = "before a partition is noted"
	atJournal = "before the journal"
	atEnd     = "before the end"
)

// New returns a copy that is not begun.
func New(cfg Config) *Reshard {
	cfg.PieceRows = cmp.Or(cfg.PieceRows, 1<<18)
	cfg.PieceBytes = cmp.Or(cfg.PieceBytes, 16<<20)
	cfg.Source = cfg.Source.Fenced(func(context.Context) error { return errors.New("the source of a copy is only read") })
	return &Reshard{cfg: cfg, notes: &notes{db: cfg.Target.First()}, at: func(string) error { return nil }}
}

// Run copies what is not copied yet. After an error, or when ctx has ended, another call goes on, also of
// another Reshard.
func (r *Reshard) Run(ctx context.Context) (*Result, error) {
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return &r.result, nil
}

func (r *Reshard) run(ctx context.Context) (err error) {
	r.result = Result{}
	if r.tables, err = readTables(ctx, r.cfg.Target.First()); err != nil {
		return err
	}
	source, err := r.journal(ctx)
	if err != nil {
		return err
	}
	if done, err := r.begin(ctx, source); err != nil || done {
		return err
	}
	partitions, err := partitionsOf(ctx, r.cfg.Source, r.tables)
	if err != nil {
		return err
	}
	if err := r.dropOthers(ctx, partitions); err != nil {
		return err
	}
	r.count(partitions)
	for i, p := range partitions {
		if turn(p.Table) > 0 && (i == 0 || turn(partitions[i-1].Table) < turn(p.Table)) {
			if err := r.enter(ctx, p.Table, source); err != nil {
				return err
			}
		}
		r.progress.Table = p.Table
		if r.notes.of(p).Done {
			continue
		}
		if err := r.move(ctx, r.tables[p.Table], p); err != nil {
			return err
		}
	}
	if err := r.stillThere(ctx, source); err != nil {
		return err
	}
	for _, p := range partitions {
		r.result.Rows += uint64(r.notes.of(p).Copied)
	}
	r.result.Partitions = len(partitions)
	if err := r.at(atEnd); err != nil {
		return err
	}
	return r.notes.finish(ctx)
}

// journal is the digest of the source's journal, which every change of the source changes.
func (r *Reshard) journal(ctx context.Context) (string, error) {
	t := r.tables[journal]
	if t == nil {
		return "", errors.New("the target has no tables of a store")
	}
	d, err := t.digest(ctx, r.cfg.Source, "all")
	if err == nil && d.Rows == 0 {
		err = errors.New("the source has no history: there is nothing to copy; ingest into the cluster instead")
	}
	return d.String(), err
}

// stillThere fails if the source was written since its journal was read, or somebody is about to.
func (r *Reshard) stillThere(ctx context.Context, source string) error {
	now, err := r.journal(ctx)
	if err == nil && now != source {
		err = errors.New("the source was written while it was copied: stop ingest, and run reshard again; it copies what has changed")
	}
	return err
}

// enter comes before the tables of the first shard, and before the journal.
func (r *Reshard) enter(ctx context.Context, table, source string) error {
	if table == journal {
		if err := r.at(atJournal); err != nil {
			return err
		}
	}
	return r.stillThere(ctx, source)
}

// begin reads the notes of an earlier call, or makes sure that the target is empty. It reports whether
// all is copied.
func (r *Reshard) begin(ctx context.Context, source string) (done bool, err error) {
	begun, err := r.notes.exist(ctx)
	if err == nil && !begun {
		err = r.beginNew(ctx)
	}
	if err == nil {
		err = r.notes.read(ctx)
	}
	if err != nil {
		return false, err
	}
	switch noted, complete := r.notes.source(); {
	case complete && noted != source:
		return false, errors.New("the cluster has a store that was copied from another source, or before this one was written again: name another database in --clickhouse-dsn; nothing was changed")
	case complete:
		r.result.Nothing = true
		return true, nil
	case noted != source:
		if err := r.notes.restart(ctx, source); err != nil {
			return false, err
		}
	}
	return false, r.checkWriters(ctx)
}

// beginNew begins the notes of a target that is empty.
func (r *Reshard) beginNew(ctx context.Context) error {
	if err := r.checkWriters(ctx); err != nil {
		return err
	}
	if err := r.checkTarget(ctx); err != nil {
		return err
	}
	return r.cfg.Begin(ctx)
}

// checkTarget refuses a target that has rows, or no room.
func (r *Reshard) checkTarget(ctx context.Context) error {
	there, err := partitionsOf(ctx, r.cfg.Target, r.tables)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		return fmt.Errorf("the cluster has a store already, with rows in table %s: name another database in --clickhouse-dsn; nothing was changed", there[0].Table)
	}
	partitions, err := partitionsOf(ctx, r.cfg.Source, r.tables)
	if err != nil {
		return err
	}
	var spread, first uint64 // bytes of all shards together, and of the first one alone
	for _, p := range partitions {
		if store.IsSharded(p.Table) {
			spread += p.Bytes
		} else {
			first += p.Bytes
		}
	}
	shards := r.cfg.Target.Shards()
	for n, shard := range shards {
		free, _, err := store.SelectOne(ctx, shard, selectFree, nil, store.NewRecords[store.Count]())
		if err != nil {
			return fmt.Errorf("reading the free space of shard %d: %w", n+1, err)
		}
		share := spread / uint64(len(shards))
		if n == 0 {
			share += first
		}
		if free.N < share {
			return fmt.Errorf("shard %d has %d MB free, and its share of the store is about %d MB: make room; nothing was changed", n+1, free.N>>20, share>>20)
		}
	}
	return nil
}

// checkWriters refuses stores to which processes write.
func (r *Reshard) checkWriters(ctx context.Context) error {
	for name, db := range map[string]*store.DB{"source": r.cfg.Source, "target": r.cfg.Target} {
		holders, err := lease.Holders(ctx, db)
		if err != nil {
			return err
		}
		for _, h := range holders {
			if !h.Released && h.Age < aliveFor {
				return fmt.Errorf("%s writes %s of the %s: stop it, and run reshard again", h.Process, h.Stream, name)
			}
		}
	}
	return nil
}

// aliveFor is how old the last sign of life of a process is that is taken for alive. They come every
// second.
const aliveFor = 10 * time.Second

// dropOthers removes partitions that the source does not have any more.
func (r *Reshard) dropOthers(ctx context.Context, partitions []Partition) error {
	wanted := make(map[[2]string]bool)
	for _, p := range partitions {
		wanted[[2]string{p.Table, p.ID}] = true
	}
	there, err := partitionsOf(ctx, r.cfg.Target, r.tables)
	if err != nil {
		return err
	}
	for _, p := range there {
		if !wanted[[2]string{p.Table, p.ID}] {
			if err := r.drop(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// count begins the progress with what is left.
func (r *Reshard) count(partitions []Partition) {
	r.progress = Progress{}
	for _, p := range partitions {
		if n := r.notes.of(p); !n.Done {
			r.progress.Total += p.Rows - min(p.Rows, uint64(n.Copied))
		}
	}
	r.cfg.Report(r.progress)
}
