package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/damage"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ofHistory reports whether a check looks at the rows of history.
func (f *VerifyConfig) ofHistory() bool {
	return slices.ContainsFunc(f.Checks, func(n string) bool { return n != WalletsCheck && n != partsCheck })
}

// verifyParts looks for parts that are missing and reads the files of all others.
func (s *verifier) verifyParts(ctx context.Context, p *console.Progress, check *verify.Check) (err error) {
	tables, err := damage.Open(ctx, s.db.dsn, s.p.cfg.ClickHouseCluster)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tables.Close()) }()
	p.Begin("verify parts", "parts", 0)
	leftovers, err := tables.Check(ctx)
	var lost *damage.Error
	switch {
	case errors.As(err, &lost):
		for i := range lost.Findings {
			check.Add(verify.Finding{Where: "table " + lost.Findings[i].Table, What: lost.Findings[i].String()})
		}
	case err != nil:
		return err
	}
	check.Count("leftovers", int64(len(leftovers)))
	checked := 0
	err = tables.Parts(ctx, func(part damage.CheckedPart, done, total int) {
		p.Set(int64(done), int64(total))
		checked++
		if part.Message != "" {
			check.Add(verify.Finding{
				Where: part.String(), What: "its files cannot be read, see \"A damaged store\" in docs/operations.md", Found: part.Message, Expected: "the checksums it was written with",
			})
		}
	})
	if err != nil {
		return err
	}
	check.Count("parts", int64(checked))
	p.End(fmt.Sprintf("%d parts", checked))
	return nil
}

// unreadable takes an error of reading a stream as a finding if the store is damaged: one of parts,
// whether or not that was asked for.
func (v *Verification) unreadable(stream string, err error, parts *verify.Check) bool {
	if err = store.Explain(err); !errors.Is(err, schemas.ErrDamaged) {
		return false
	}
	if !slices.Contains(v.Checks, parts) {
		v.Checks = append(v.Checks, parts)
	}
	parts.Add(verify.Finding{Where: "stream " + stream, What: "its other checks could not be run", Found: err.Error()})
	return true
}
