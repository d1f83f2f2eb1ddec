package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/damage"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// damageInterval is how often a process that runs looks whether the store has lost rows.
const damageInterval = time.Minute

// damageWatch knows whether the store was damaged when it was looked at last. The zero value
// knows of no damage.
type damageWatch struct{ found atomic.Pointer[error] }

// err is what was found, nil if the store is whole as far as is known.
func (w *damageWatch) err() error {
	if w == nil {
		return nil
	}
	if found := w.found.Load(); found != nil {
		return *found
	}
	return nil
}

// lookForDamage returns an error that wraps schemas.ErrDamaged if the store has lost rows.
func (d *database) lookForDamage(ctx context.Context) (err error) {
	tables, err := damage.Open(ctx, d.dsn, d.p.cfg.ClickHouseCluster)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tables.Close()) }()
	leftovers, err := tables.Check(ctx)
	for i := range leftovers {
		d.p.log.WarnContext(ctx, "a part is set aside, and no row is missing: ALTER TABLE ... DROP DETACHED PART removes it",
			"part", leftovers[i].String())
	}
	return err
}

// refuseDamaged is the last step of a start: nothing is written to, derived from or published out
// of a store that has lost rows. accept lets it pass, to serve what is left.
func (d *database) refuseDamaged(ctx context.Context, accept bool) error {
	err := d.lookForDamage(ctx)
	if accept && errors.Is(err, schemas.ErrDamaged) {
		d.p.log.ErrorContext(ctx, "serving a damaged store: answers lack the missing rows, or fail", "err", err)
		d.damage.found.Store(&err)
		return nil
	}
	return err
}

// watchDamage is a part that looks for damage at intervals until ctx ends: a disk can lose a
// part at any time. It reports damage in the log, on /streams and as a metric, and leaves it to
// exports to refuse what they cannot read whole.
func (d *database) watchDamage(ctx context.Context) error {
	every(ctx, damageInterval, func() {
		err := d.lookForDamage(ctx)
		switch {
		case errors.Is(err, schemas.ErrDamaged):
			d.damage.found.Store(&err)
			d.p.log.ErrorContext(ctx, "the store is damaged", "err", err)
		case err == nil:
			d.damage.found.Store(nil)
		case ctx.Err() == nil:
			d.p.log.WarnContext(ctx, "cannot tell whether the store is damaged", "err", fmt.Errorf("looking for damage: %w", err), "retry_in", damageInterval)
		}
	})
	return nil
}
