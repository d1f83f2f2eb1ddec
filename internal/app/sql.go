package app

import (
	"context"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// OpenSQL connects to the ClickHouse that is given, to an engine that runs on the data
// folder, or to one that it starts.
func (a *App) OpenSQL(ctx context.Context) (driver.Conn, error) {
	if err := a.db.given(); err != nil {
		return nil, err
	}
	if a.db.dsn != "" {
		if err := a.db.reach(ctx); err != nil {
			return nil, err
		}
		if err := a.db.checkFilled(ctx); err != nil {
			return nil, err
		}
	} else {
		conn, err := a.db.openRunning(ctx)
		if conn != nil || err != nil {
			return conn, err
		}
		if err := a.db.checkLocal(ctx); err != nil {
			return nil, err
		}
		if err := a.db.startEngine(ctx); err != nil {
			return nil, err
		}
	}
	return a.db.connect(ctx, a.db.readerDSN())
}

// openRunning connects to the engine that another process runs on the data folder; the
// connection is nil if none answers.
func (d *database) openRunning(ctx context.Context) (driver.Conn, error) {
	dsn, err := engine.RunningDSN(d.p.cfg.EngineFolder())
	if errors.Is(err, engine.ErrNotRunning) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, dsn)
	if err != nil {
		d.p.log.DebugContext(ctx, "the engine that was running does not answer", "err", err)
		return nil, nil
	}
	return conn, nil
}

func (d *database) connect(ctx context.Context, dsn string) (driver.Conn, error) {
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	d.p.onClose(conn.Close)
	return conn, nil
}
