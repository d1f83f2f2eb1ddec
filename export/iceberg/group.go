package iceberg

import (
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// group is what one manifest describes: the segments of a month of a migration, or the
// imports of one. With one manifest for each segment, a query would read hundreds of them
// before it opens an object.
type group struct {
	// name is "<migration>-2026-07" or "<migration>-imports".
	name     string
	segments []Segment // in their order
}

func groupName(ref schemas.SegmentRef) string {
	month := "imports"
	if !ref.IsImports() {
		month = ref.Date[:len("2026-07")]
	}
	return fmt.Sprintf("%d-%s", ref.MigrationID, month)
}

// groupsOf sorts segments into groups, in their order.
func groupsOf(segments []Segment) []group {
	sorted := slices.SortedFunc(slices.Values(segments), func(a, b Segment) int { return a.Ref.Compare(b.Ref) })
	var groups []group
	for _, s := range sorted {
		name := groupName(s.Ref)
		if len(groups) == 0 || groups[len(groups)-1].name != name {
			groups = append(groups, group{name: name})
		}
		last := &groups[len(groups)-1]
		last.segments = append(last.segments, s)
	}
	return groups
}

// content names the group together with what its segments are.
func (g group) content() string { return fmt.Sprintf("%s-%.16s", g.name, fingerprint(g.segments)) }

func (g group) migrationID() int64 { return g.segments[0].Ref.MigrationID }
