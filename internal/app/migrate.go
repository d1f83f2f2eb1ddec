package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// migrate brings the store's tables up to the version of this binary, and logs which version they have
// and each step on the way.
func (d *database) migrate(ctx context.Context) error {
	l := migrationLog{log: d.p.log, now: time.Now}
	begun := l.now()
	if err := indexer.MigrateCluster(ctx, d.dsn, d.p.cfg.ClickHouseCluster, l.report); err != nil {
		return err
	}
	d.migratedFrom = l.last.From
	switch {
	case l.last.Steps == 0:
		d.p.log.Info("store", "schema", schemas.StoreVersion())
	case l.last.From == 0:
		d.p.log.Info("the store is new", "schema", l.last.To)
	default:
		d.p.log.Info("the store is migrated", "from", l.last.From, "to", l.last.To, "took", l.now().Sub(begun).Round(time.Millisecond))
	}
	return nil
}

// countInterval is how often the counts of a long step are logged, as often as ingest logs how it
// stands.
const countInterval = 10 * time.Second

// migrationLog logs the migration of a store. The steps that make a new one, and each count of a long
// step, are there with --log-level debug only.
type migrationLog struct {
	log  *slog.Logger
	now  func() time.Time
	last indexer.Migration // 0 steps before the first
	at   time.Time         // when a count was logged last
}

func (l *migrationLog) report(m indexer.Migration) {
	if m.Waiting {
		l.log.Info("another process migrates the store: waiting until it has", "from", m.From, "to", m.To)
		return
	}
	if l.last.Steps == 0 && m.From > 0 {
		// Also in the log of commands that show warnings alone: there is no way back.
		l.log.Warn("the store is migrated: earlier versions of ledgerlake will refuse it", "from", m.From, "to", m.To, "steps", m.Steps)
	}
	level := slog.LevelDebug
	if begins := m.Step != l.last.Step; m.From > 0 && (begins || l.now().Sub(l.at) >= countInterval) {
		level, l.at = slog.LevelInfo, l.now()
	}
	l.last = m
	attrs := []any{"from", m.From, "to", m.To, "step", m.Name, "number", fmt.Sprintf("%d of %d", m.Step, m.Steps)}
	if m.Total > 0 {
		attrs = append(attrs, "done", fmt.Sprintf("%d of %d", m.Done, m.Total))
	}
	l.log.Log(context.Background(), level, "migrating the store", attrs...)
}
