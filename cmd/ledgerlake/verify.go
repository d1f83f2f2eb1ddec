package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// verification is what verify reports.
type verification struct {
	OK bool `json:"ok"`
	// Tables are those of the store.
	Tables         verify.Tables `json:"tables"`
	ObjectsChecked int64         `json:"objects_checked"`
	Segments       int           `json:"segments_checked"`
	Findings       []string      `json:"findings,omitempty"`
}

func newVerify(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "re-check that store and objects hold the same history",
		Long: `verify reads every row of the store and every published object back and compares them:
per table, an order-free digest over the canonical JSON of each row; per object, its
SHA-256, its row count and its order. Nothing is repaired. The exit status is 1 when
anything differs.`,
		Example: "  ledgerlake verify --data /srv/ledgerlake\n  ledgerlake verify --json | jq .tables",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.quiet()
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.open(cmd.Context()); err != nil {
				return err
			}
			report, err := s.verify(cmd.Context(), newProgress(a.stderr))
			if err != nil {
				return err
			}
			return a.reportVerification(report, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) reportVerification(v *verification, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(a.stdout).Encode(v); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	} else {
		for _, table := range slices.Sorted(maps.Keys(v.Tables)) {
			fmt.Fprintf(a.stdout, "%-18s %12d rows  %s\n", table, v.Tables[table].Rows, v.Tables[table].Hash())
		}
		fmt.Fprintf(a.stdout, "%d objects in %d segments read back\n", v.ObjectsChecked, v.Segments)
		for _, f := range v.Findings {
			fmt.Fprintln(a.stdout, "DIFFERENCE:", f)
		}
	}
	if !v.OK {
		return fmt.Errorf("store and objects differ in %d places: %w", len(v.Findings), errReported)
	}
	return nil
}

// verify digests the store and the objects and compares them segment by segment.
func (s *stack) verify(ctx context.Context, p *progress) (*verification, error) {
	exporter, err := s.newExporter()
	if err != nil {
		return nil, err
	}
	p.begin("verify store", "updates", 0)
	stored, err := verify.Store(ctx, s.reader, func(n int64) { p.set(n, 0) })
	if err != nil {
		return nil, err
	}
	p.end(fmt.Sprintf("%d updates", stored.Total["updates"].Rows))
	p.begin("verify objects", "objects", 0)
	objects, err := exporter.VerifyObjects(ctx, func(v export.Progress) { p.set(v.Objects, v.TotalObjects) })
	if err != nil {
		return nil, err
	}
	p.end(fmt.Sprintf("%d objects, %d bytes", objects.ObjectsChecked, objects.BytesChecked))
	findings, err := s.compare(ctx, stored, objects)
	if err != nil {
		return nil, err
	}
	return &verification{
		OK: len(findings) == 0, Tables: stored.Total, ObjectsChecked: objects.ObjectsChecked,
		Segments: len(objects.Segments), Findings: findings,
	}, nil
}

// compare says where the objects differ from the store, segment by segment.
func (s *stack) compare(ctx context.Context, stored *verify.Report, objects *export.Verification) ([]string, error) {
	findings := slices.Clone(objects.Findings)
	refs := slices.SortedFunc(maps.Keys(objects.Segments), func(x, y schemas.SegmentRef) int {
		return strings.Compare(x.String(), y.String())
	})
	for _, ref := range refs {
		inStore := verify.Sum(stored.Segments[ref])
		if !ref.IsImports() {
			start, _, err := ref.Bounds()
			if err != nil {
				return nil, err
			}
			if inStore["acs"], err = verify.ActiveAt(ctx, s.reader, ref.MigrationID, start); err != nil {
				return nil, err
			}
		}
		for _, d := range verify.Differences("the store", inStore, "the bucket", objects.Segments[ref]) {
			findings = append(findings, fmt.Sprintf("segment %s, %s", ref, d))
		}
	}
	return findings, nil
}
