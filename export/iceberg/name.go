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
