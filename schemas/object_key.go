package schemas

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ParquetVersion stands in every object key and names the row layout. A change that
// an old reader would misread gets a new version, beside which the old objects stay.
const ParquetVersion = "v1"

// SegmentRef names a segment: what one export run publishes, all or nothing.
type SegmentRef struct {
	Stream      string `json:"stream"`
	MigrationID int64  `json:"migration_id"`
	// Date is a UTC day D such as "2026-07-01" and stands for the record times in
	// (D 00:00, D+1 00:00], or an hour of one such as "2026-07-01T05", for those in
	// (05:00, 06:00]. "" stands for the import updates of the migration.
	Date string `json:"date"`
}

// Next names the segment that follows. Of an imports segment, or of a date that is none,
// it is the segment itself.
func (s SegmentRef) Next() SegmentRef {
	if _, end, err := s.Bounds(); err == nil && !s.IsImports() {
		s.Date = s.Length().date(end)
	}
	return s
}

// Length is how much time the segment holds, "" for imports and for a date that is none.
func (s SegmentRef) Length() SegmentLength {
	for _, l := range SegmentLengths {
		if _, ok := l.parse(s.Date); ok {
			return l
		}
	}
	return ""
}

// Compare orders segments of a stream: by migration, its imports first, then by time.
func (s SegmentRef) Compare(t SegmentRef) int {
	return cmp.Or(strings.Compare(s.Stream, t.Stream), cmp.Compare(s.MigrationID, t.MigrationID), strings.Compare(s.Date, t.Date))
}

// IsImports reports whether the segment holds the import updates of its migration.
func (s SegmentRef) IsImports() bool { return s.Date == "" }

// Bounds returns the record times of the segment: start exclusive, end inclusive.
// The imports segment has MinMicros for both. A date of another form is an error.
func (s SegmentRef) Bounds() (start, end Micros, err error) {
	if s.IsImports() {
		return MinMicros, MinMicros, nil
	}
	return SegmentBounds(s.Date)
}

// Check returns an error unless the reference can name a segment.
func (s SegmentRef) Check() error {
	if s.Stream == "" || s.MigrationID < 0 {
		return fmt.Errorf("segment %s lacks a stream or has a negative migration", s)
	}
	_, _, err := s.Bounds()
	return err
}

// Tables lists the tables of the segment in the order of its manifest.
func (s SegmentRef) Tables() []ParquetTable {
	if s.IsImports() {
		return []ParquetTable{ParquetImports}
	}
	return []ParquetTable{ParquetUpdates, ParquetEvents, ParquetACS, ParquetVerdicts, ParquetTraffic, ParquetAppActivity}
}

// DerivedTables lists the tables that are derived from history and published beside the segment's
// own, in the order of their description.
func (s SegmentRef) DerivedTables() []ParquetTable { return []ParquetTable{ParquetMovements} }

// String names the segment for logs, errors and tasks: "scan:3:2026-07-01",
// "scan:3:2026-07-01T05", or "scan:3:imports".
func (s SegmentRef) String() string {
	part := s.Date
	if s.IsImports() {
		part = "imports"
	}
	return s.Stream + ":" + strconv.FormatInt(s.MigrationID, 10) + ":" + part
}

// ObjectKey names one part of a table of a segment. Parts count from 0 and are
// padded to five digits, so that keys sort in the order of the rows:
//
//	updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet
//	updates/v1/migration_id=3/date=2026-07-01/hour=05/part-00000.parquet
//	imports/v1/migration_id=3/part-00000.parquet
//	movements/v1/migration_id=3/date=1900-01-01/part-00000.parquet, of imports
//	stream=node%3Aalice/updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet
//
// Only streams other than ScanStream are named in the key. The form name=value is
// that of Hive partitions, which DuckDB, Spark and Polars read as columns.
func ObjectKey(table ParquetTable, s SegmentRef, part int) string {
	if s.IsImports() && slices.Contains(s.DerivedTables(), table) {
		s.Date = openingsDate
	}
	return fmt.Sprintf("%s%s/%s%s/part-%05d.parquet", streamPrefix(s.Stream), table, ParquetVersion, segmentPath(s, ""), part)
}

// openingsDate is the partition of rows that are derived from imports: their record time is that of
// the store for what is before history. Readers of Hive partitions want all of them for each file.
const openingsDate = "1900-01-01"

// LookupKey names one part of the objects by which single updates of a segment are found:
//
//	lookup/v1/migration_id=3/date=2026-07-01/part-00000.jsonl.zst
func LookupKey(s SegmentRef, part int) string {
	return fmt.Sprintf("%spart-%05d.jsonl.zst", lookupFolder(s), part)
}

// LookupIndexKey names what describes a segment's parts under LookupKey:
//
//	lookup/v1/migration_id=3/date=2026-07-01/index.json
func LookupIndexKey(s SegmentRef) string { return lookupFolder(s) + "index.json" }

func lookupFolder(s SegmentRef) string {
	return streamPrefix(s.Stream) + "lookup/" + ParquetVersion + segmentPath(s, "") + "/"
}

// ParseLookupKey is the inverse of LookupKey and LookupIndexKey: it says which segment a
// key belongs to.
func ParseLookupKey(key string) (s SegmentRef, ok bool) {
	_, s, file, ok := splitKey(key)
	if !ok || s.Check() != nil {
		return SegmentRef{}, false
	}
	if key == LookupIndexKey(s) {
		return s, true
	}
	part, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(file, "part-"), ".jsonl.zst"))
	if err != nil || part < 0 || LookupKey(s, part) != key {
		return SegmentRef{}, false
	}
	return s, true
}

// ParseObjectKey is the inverse of ObjectKey. ok is false for any text that ObjectKey
// does not give.
func ParseObjectKey(key string) (table ParquetTable, s SegmentRef, part int, ok bool) {
	first, s, file, ok := splitKey(key)
	if !ok {
		return "", SegmentRef{}, 0, false
	}
	table = ParquetTable(first)
	if s.Date == openingsDate && slices.Contains(s.DerivedTables(), table) {
		s.Date = ""
	}
	part, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(file, "part-"), ".parquet"))
	if err != nil {
		return "", SegmentRef{}, 0, false
	}
	// What was read loosely above must give the same key again.
	if s.Check() != nil || part < 0 || !slices.Contains(slices.Concat(s.Tables(), s.DerivedTables()), table) || ObjectKey(table, s, part) != key {
		return "", SegmentRef{}, 0, false
	}
	return table, s, part, true
}

// splitKey reads the folders of a key loosely: the first one and those of a segment.
func splitKey(key string) (first string, s SegmentRef, file string, ok bool) {
	stream, path, ok := cutStream(key)
	if !ok {
		return "", SegmentRef{}, "", false
	}
	s.Stream = stream
	names := strings.Split(path, "/")
	if len(names) < 4 {
		return "", SegmentRef{}, "", false
	}
	last := len(names) - 1
	var err error
	s.MigrationID, err = strconv.ParseInt(strings.TrimPrefix(names[2], "migration_id="), 10, 64)
	s.Date = joinDate(names[3:last])
	return names[0], s, names[last], err == nil
}

// joinDate is loosely the inverse of datePath, as the names of folders.
func joinDate(names []string) string {
	return strings.Replace(strings.TrimPrefix(strings.Join(names, "/"), "date="), "/hour=", "T", 1)
}

// StagingKey names the place at which an object waits until peers agree with it.
func StagingKey(key string) string { return StagingPrefix + key }

// StagingPrefix begins the keys of objects that are not published.
const StagingPrefix = "staging/"

// ManifestKey names the manifest of a segment:
//
//	manifests/v1/migration_id=3/date=2026-07-01.json
//	manifests/v1/migration_id=3/date=2026-07-01/hour=05.json
//	manifests/v1/migration_id=3/imports.json
func ManifestKey(s SegmentRef) string {
	return ManifestPrefix(s.Stream) + strings.TrimPrefix(segmentPath(s, "/imports"), "/") + ".json"
}

// ParseManifestKey is the inverse of ManifestKey.
func ParseManifestKey(key string) (s SegmentRef, ok bool) { return parseJSONKey(key, ManifestKey) }

// ManifestPrefix is what the keys of all manifests of a stream begin with, and no others.
func ManifestPrefix(stream string) string {
	return streamPrefix(stream) + "manifests/" + ParquetVersion + "/"
}

// ChainKey names the link of a segment in the chain of its stream:
//
//	chain/v1/migration_id=3/date=2026-07-01.json
//	chain/v1/migration_id=3/imports.json
func ChainKey(s SegmentRef) string {
	return streamPrefix(s.Stream) + "chain/" + ParquetVersion + segmentPath(s, "/imports") + ".json"
}

// ParseChainKey is the inverse of ChainKey.
func ParseChainKey(key string) (s SegmentRef, ok bool) { return parseJSONKey(key, ChainKey) }

// DerivedKey names what describes the objects of a segment's derived tables:
//
//	derived/v1/migration_id=3/date=2026-07-01.json
//	derived/v1/migration_id=3/imports.json
func DerivedKey(s SegmentRef) string {
	return streamPrefix(s.Stream) + "derived/" + ParquetVersion + segmentPath(s, "/imports") + ".json"
}

// ParseDerivedKey is the inverse of DerivedKey.
func ParseDerivedKey(key string) (s SegmentRef, ok bool) { return parseJSONKey(key, DerivedKey) }

// parseJSONKey is the inverse of name, which gives each segment one key.
func parseJSONKey(key string, name func(SegmentRef) string) (s SegmentRef, ok bool) {
	stream, path, ok := cutStream(key)
	names := strings.Split(strings.TrimSuffix(path, ".json"), "/")
	if !ok || len(names) < 4 {
		return SegmentRef{}, false
	}
	s.Stream = stream
	var err error
	s.MigrationID, err = strconv.ParseInt(strings.TrimPrefix(names[2], "migration_id="), 10, 64)
	if names[3] != "imports" {
		s.Date = joinDate(names[3:])
	}
	if err != nil || s.Check() != nil || name(s) != key {
		return SegmentRef{}, false
	}
	return s, true
}

func segmentPath(s SegmentRef, imports string) string {
	path := "/migration_id=" + strconv.FormatInt(s.MigrationID, 10)
	if s.IsImports() {
		return path + imports
	}
	return path + datePath(s.Date)
}

// datePath gives a segment's time as Hive partitions: "/date=2026-07-01", and for an hour
// "/date=2026-07-01/hour=05".
func datePath(date string) string {
	day, hour, ok := strings.Cut(date, "T")
	if !ok {
		return "/date=" + day
	}
	return "/date=" + day + "/hour=" + hour
}

func streamPrefix(stream string) string {
	if stream == ScanStream {
		return ""
	}
	return "stream=" + escapePartition(stream) + "/"
}

// cutStream is the inverse of streamPrefix: it cuts the stream off the front of a key.
func cutStream(key string) (stream, rest string, ok bool) {
	after, named := strings.CutPrefix(key, "stream=")
	if !named {
		return ScanStream, key, true
	}
	escaped, rest, _ := strings.Cut(after, "/")
	stream, err := url.PathUnescape(escaped)
	return stream, rest, err == nil
}

// escapePartition writes a partition value the way Hive does: letters, digits and
// "-_." as they are, every other byte as % and two upper-case hex digits. A stream is
// also never "." or "..", since "stream=" stands before it.
func escapePartition(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
