package iceberg

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

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

// Names of metadata begin with the sequence number of the snapshot that they were made
// for. So a name is never used again once the table is past that number, and what no
// snapshot names by then can be removed while others commit.

// manifestName names the manifest of a group:
//
//	00000012-3-2026-07-<16 digits of the group's fingerprint>-<16 digits of the SHA-256 of data>.avro
//	00000012-3-imports-...
func manifestName(sequence int64, g group, data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%08d-%s-%x.avro", sequence, g.content(), sum[:8])
}

// describedBy returns the name and the content of the group in the path of a manifest, ""
// if it has none.
func describedBy(manifest string) (name, content string) {
	_, rest, _ := strings.Cut(path.Base(manifest), "-")
	content = rest[:max(strings.LastIndexByte(rest, '-'), 0)]
	return content[:max(strings.LastIndexByte(content, '-'), 0)], content
}

// listName names the manifest list of a snapshot: 00000012-snapshot-<id>.avro
func listName(sequence, id int64) string { return fmt.Sprintf("%08d-snapshot-%d.avro", sequence, id) }

// sequenceOf returns the sequence number in a name that one of the functions above gave;
// ok is false for all others.
func sequenceOf(key string) (sequence int64, ok bool) {
	digits, _, found := strings.Cut(path.Base(key), "-")
	sequence, err := strconv.ParseInt(digits, 10, 64)
	return sequence, err == nil && found && strings.HasSuffix(key, ".avro")
}
