package iceberg

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Names of metadata begin with the sequence number of the snapshot that they were made
// for. So a name is never used again once the table is past that number, and what no
// snapshot names by then can be removed while others commit.

// manifestName names the manifest of a segment:
//
//	00000012-3-2026-07-01-<16 digits of Segment.Content>-<16 digits of the SHA-256 of data>.avro
//	00000012-3-imports-...
func manifestName(sequence int64, s Segment, data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%08d-%s-%x.avro", sequence, segmentName(s), sum[:8])
}

// segmentName is the part of a manifest's name that says what it describes.
func segmentName(s Segment) string {
	day := s.Ref.Date
	if s.Ref.IsImports() {
		day = "imports"
	}
	return fmt.Sprintf("%d-%s-%.16s", s.Ref.MigrationID, day, s.Content)
}

// describedBy returns the segmentName in the path of a manifest, "" if it has none.
func describedBy(manifest string) string {
	_, name, _ := strings.Cut(path.Base(manifest), "-")
	end := strings.LastIndexByte(name, '-')
	return name[:max(end, 0)]
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
