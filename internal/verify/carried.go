package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// begins reports whether history may begin with u: nothing was active before it. A network begins
// with a contract DsoBootstrap.
func begins(u *schemas.Update) bool {
	return u.IsImport() || slices.ContainsFunc(u.Events, func(e schemas.Event) bool {
		return e.Kind == schemas.Created && strings.HasSuffix(e.TemplateID, ":"+template.Entity(template.DsoBootstrap))
	})
}

// noteItem keeps where history begins and which migrations it has.
func (o *outcome) noteItem(u *schemas.Update, migration int64) {
	if n := len(o.migrations); n == 0 || o.migrations[n-1] != migration {
		o.migrations = append(o.migrations, migration)
	}
	if u != nil && !o.updates {
		o.updates, o.begins = true, begins(u)
	}
}

// noteOutcome takes what outcomes have noted, in the order of history.
func (v *verification) noteOutcome(o *outcome) {
	for _, m := range o.migrations {
		if n := len(v.migrations); n == 0 || v.migrations[n-1] != m {
			v.migrations = append(v.migrations, m)
		}
	}
	if o.updates && !v.updates {
		v.updates, v.whole = true, o.begins
	}
}

// compareCarried compares what the governance party signs and what was active at the end of
// each migration with what the next one begins with.
func (v *verification) compareCarried(ctx context.Context) error {
	if v.party == "" || !v.whole {
		return nil
	}
	check := v.checks[Lifetimes]
	for i := 1; i < len(v.migrations); i++ {
		before, next := v.migrations[i-1], v.migrations[i]
		if v.mark.MigrationID == next && v.mark.RecordTime == schemas.MinMicros {
			return nil // not all of its imports are there yet
		}
		err := v.cfg.Audit.WrongCarries(ctx, v.party, before, next, func(c audit.WrongCarry) error {
			f := Finding{
				What: "a contract was not carried over", Where: fmt.Sprintf("contract %s, migration %d", c.ContractID, next),
				Expected: fmt.Sprintf("as active at the end of migration %d", before), Found: "nothing",
			}
			if c.Carried {
				f.What, f.Expected, f.Found = "a contract was carried over that was not active", fmt.Sprintf("nothing, as at the end of migration %d", before), "the contract"
			}
			check.Add(f)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// endings are contracts of one template that end more often than they begin.
type endings struct {
	contracts int64
	where     []string // of the first ones
}

// compareEndings reports contracts that end and never began. Of contracts that the governance
// party does not sign it may see the end alone, as a part of a larger transaction; which those
// are is told by all others of the template.
func (v *verification) compareEndings(ctx context.Context) error {
	if v.party == "" || !v.whole || len(v.endings) == 0 {
		return nil
	}
	var templates []string
	for template := range v.endings {
		templates = append(templates, template)
	}
	signed, err := v.cfg.Audit.SignedTemplates(ctx, v.party, templates)
	if err != nil {
		return err
	}
	for _, template := range signed {
		e := v.endings[template]
		for i := range e.contracts {
			f := Finding{What: "a contract ends that never began", Expected: "the update that creates a " + template, Found: "none"}
			if i < int64(len(e.where)) {
				f.Where = e.where[i]
			}
			v.checks[Lifetimes].Add(f)
		}
	}
	return nil
}
