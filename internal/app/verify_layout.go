package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// layoutCheck is the name of the check of files against what is published in the network's layout.
const layoutCheck = "layout"

// NetworkLayout is the layout that Against can have.
const NetworkLayout = "network"

// checkAgainst refuses what cannot be done beside a comparison with files.
func (f *VerifyConfig) checkAgainst() error {
	switch {
	case f.Layout != NetworkLayout:
		return fmt.Errorf("--layout is %s, not %q", NetworkLayout, f.Layout)
	case len(f.Checks) > 0 || f.Stream != "" || f.Peer != "":
		return errors.New("--against compares files alone: leave --check, --stream and --peer out")
	}
	info, err := os.Stat(f.Against)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", f.Against)
	}
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	return nil
}

// verifyAgainst compares files in the network's layout with what this store would publish.
func (a *App) verifyAgainst(ctx context.Context, dir string, p *console.Progress) (*Verification, error) {
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	exporter, err := a.objects.newExporter()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p.Begin("verify layout", "lines", 0)
	compared, err := exporter.Network().Against(ctx, os.DirFS(dir), func(lines int64) { p.Set(lines, 0) })
	if err != nil {
		return nil, fmt.Errorf("comparing with %s: %w", dir, err)
	}
	p.End(fmt.Sprintf("%d lines", compared.Lines))
	check := verify.NewCheck(layoutCheck, 0)
	check.Count("folders", compared.Folders)
	check.Count("lines", compared.Lines)
	for _, d := range compared.Findings {
		check.Add(verify.Finding{What: d.What, Where: d.Where, Expected: d.Expected, Found: d.Found})
	}
	v := &Verification{OK: true, Schema: int64(schemas.StoreVersion()), MigratedFrom: a.db.migratedFrom, Checks: []*verify.Check{check},
		Seconds: map[string]float64{layoutCheck: time.Since(start).Seconds()}}
	v.take("", v.Checks)
	return v, nil
}
