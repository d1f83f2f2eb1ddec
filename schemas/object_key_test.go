package schemas

import "testing"

func TestObjectKeys(t *testing.T) {
	scan := SegmentRef{ScanStream, 3, "2026-07-01"}
	hour := SegmentRef{ScanStream, 3, "2026-07-01T05"}
	imports := SegmentRef{ScanStream, 3, ""}
	node := SegmentRef{"node:alice::12/é", 0, "2026-12-31"}
	tests := []struct{ name, got, want string }{
		{"updates of a day", ObjectKey(ParquetUpdates, scan, 0), "updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet"},
		{"a later part", ObjectKey(ParquetEvents, scan, 12), "events/v1/migration_id=3/date=2026-07-01/part-00012.parquet"},
		{"active contracts", ObjectKey(ParquetACS, scan, 0), "acs/v1/migration_id=3/date=2026-07-01/part-00000.parquet"},
		{"verdicts", ObjectKey(ParquetVerdicts, scan, 0), "verdicts/v1/migration_id=3/date=2026-07-01/part-00000.parquet"},
		{"traffic", ObjectKey(ParquetTraffic, scan, 0), "traffic/v1/migration_id=3/date=2026-07-01/part-00000.parquet"},
		{"app activity", ObjectKey(ParquetAppActivity, scan, 0), "app_activity/v1/migration_id=3/date=2026-07-01/part-00000.parquet"},
		{"movements", ObjectKey(ParquetMovements, hour, 0), "movements/v1/migration_id=3/date=2026-07-01/hour=05/part-00000.parquet"},
		{"movements of imports", ObjectKey(ParquetMovements, imports, 1), "movements/v1/migration_id=3/date=1900-01-01/part-00001.parquet"},
		{"description of derived tables", DerivedKey(scan), "derived/v1/migration_id=3/date=2026-07-01.json"},
		{"those of imports", DerivedKey(imports), "derived/v1/migration_id=3/imports.json"},
		{"imports have no date", ObjectKey(ParquetImports, imports, 0), "imports/v1/migration_id=3/part-00000.parquet"},
		{"manifest of a day", ManifestKey(scan), "manifests/v1/migration_id=3/date=2026-07-01.json"},
		{"manifest of imports", ManifestKey(imports), "manifests/v1/migration_id=3/imports.json"},
		{"other streams have a prefix", ObjectKey(ParquetUpdates, node, 0), "stream=node%3Aalice%3A%3A12%2F%C3%A9/updates/v1/migration_id=0/date=2026-12-31/part-00000.parquet"},
		{"an Iceberg table", IcebergFolder(ScanStream, ParquetEvents), "iceberg/v1/events"},
		{"of another stream", IcebergFolder(node.Stream, ParquetACS), "stream=node%3Aalice%3A%3A12%2F%C3%A9/iceberg/v1/acs"},
		{"its hint", IcebergFileKey(ScanStream, ParquetEvents, "version-hint.text"), "iceberg/v1/events/metadata/version-hint.text"},
		{"its metadata", IcebergMetadataKey(ScanStream, ParquetEvents, 12), "iceberg/v1/events/metadata/v12.metadata.json"},
		{"updates of an hour", ObjectKey(ParquetUpdates, hour, 0), "updates/v1/migration_id=3/date=2026-07-01/hour=05/part-00000.parquet"},
		{"a later part of one", ObjectKey(ParquetACS, hour, 12), "acs/v1/migration_id=3/date=2026-07-01/hour=05/part-00012.parquet"},
		{"manifest of an hour", ManifestKey(hour), "manifests/v1/migration_id=3/date=2026-07-01/hour=05.json"},
		{"link of a day", ChainKey(scan), "chain/v1/migration_id=3/date=2026-07-01.json"},
		{"link of an hour", ChainKey(hour), "chain/v1/migration_id=3/date=2026-07-01/hour=05.json"},
		{"lookup objects of an hour", LookupKey(hour, 1), "lookup/v1/migration_id=3/date=2026-07-01/hour=05/part-00001.jsonl.zst"},
		{"their index", LookupIndexKey(hour), "lookup/v1/migration_id=3/date=2026-07-01/hour=05/index.json"},
		{"an hour in the log", hour.String(), "scan:3:2026-07-01T05"},
		{"their manifests too", ManifestKey(node), "stream=node%3Aalice%3A%3A12%2F%C3%A9/manifests/v1/migration_id=0/date=2026-12-31.json"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestDaySegment(t *testing.T) {
	tests := []struct{ name, at, want string }{
		{"within a day", "2026-07-01T12:00:00Z", "2026-07-01"},
		{"midnight ends the day before", "2026-07-02T00:00:00Z", "2026-07-01"},
		{"the first instant of a day", "2026-07-02T00:00:00.000001Z", "2026-07-02"},
		{"before 1970", "1969-12-31T23:59:59Z", "1969-12-31"},
		{"the end of a year", "2027-01-01T00:00:00Z", "2026-12-31"},
	}
	for _, tt := range tests {
		at, err := ParseTime(tt.at)
		if err != nil {
			t.Fatal(err)
		}
		ref := DaySegments.Of(ScanStream, 1, at)
		start, end, err := ref.Bounds()
		if err != nil || ref.Date != tt.want || at <= start || at > end || end-start != 24*3600*1e6 {
			t.Errorf("%s: %s is in %s (%s, %s], %v; want %s", tt.name, tt.at, ref, start, end, err, tt.want)
		}
	}
}

func TestSegmentRefCheck(t *testing.T) {
	for _, bad := range []SegmentRef{{"", 1, "2026-07-01"}, {"scan", -1, "2026-07-01"}, {"scan", 1, "2026-02-30"}, {"scan", 1, "07/01"},
		{"scan", 1, "2026-07-01T24"}, {"scan", 1, "2026-07-01T5"}, {"scan", 1, "2026-07-01T"}, {"scan", 1, "2026-07-01T05Z"}, {"scan", 1, "2026-07-01 05"}, {"scan", 1, "2026-02-30T05"}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes as a segment", bad)
		}
	}
	if err := (SegmentRef{"scan", 0, ""}).Check(); err != nil {
		t.Errorf("imports: %v", err)
	}
}

func TestParseObjectKey(t *testing.T) {
	refs := []SegmentRef{{ScanStream, 3, "2026-07-01"}, {ScanStream, 0, ""}, {"node:alice::12/é", 12, "2026-12-31"}, {"node:b", 1, ""},
		{ScanStream, 3, "2026-07-01T00"}, {ScanStream, 3, "2026-07-01T23"}, {"node:b", 1, "2026-12-31T09"}}
	for _, ref := range refs {
		for _, table := range append(ref.Tables(), ref.DerivedTables()...) {
			for _, part := range []int{0, 7, 123456} {
				key := ObjectKey(table, ref, part)
				if gotTable, got, gotPart, ok := ParseObjectKey(key); !ok || gotTable != table || got != ref || gotPart != part {
					t.Errorf("%s parses as %s %+v %d, %v", key, gotTable, got, gotPart, ok)
				}
			}
		}
	}
	for _, ref := range refs {
		for _, key := range []string{LookupKey(ref, 0), LookupKey(ref, 123456), LookupIndexKey(ref)} {
			if got, ok := ParseLookupKey(key); !ok || got != ref {
				t.Errorf("%s parses as a lookup object of %+v, %v", key, got, ok)
			}
		}
		if got, ok := ParseChainKey(ChainKey(ref)); !ok || got != ref {
			t.Errorf("%s parses as a link of %+v, %v", ChainKey(ref), got, ok)
		}
		if got, ok := ParseDerivedKey(DerivedKey(ref)); !ok || got != ref {
			t.Errorf("%s parses as a description of %+v, %v", DerivedKey(ref), got, ok)
		}
		if got, ok := ParseManifestKey(ManifestKey(ref)); !ok || got != ref {
			t.Errorf("%s parses as a manifest of %+v, %v", ManifestKey(ref), got, ok)
		}
	}
	for _, key := range []string{
		"lookup/v1/migration_id=3/date=2026-07-01/part-0.jsonl.zst", "lookup/v1/migration_id=3/date=2026-07-01/index",
		"lookup/v2/migration_id=3/date=2026-07-01/index.json", "lookup/v1/migration_id=3/date=2026-02-30/index.json",
		"chain/v1/migration_id=3/date=2026-02-30.json", "chain/v1/migration_id=3/import.json", "chain/v1/migration_id=3/date=.json",
		"updates/v1/migration_id=3/date=2026-07-01/hour=5/part-00000.parquet", "updates/v1/migration_id=3/date=2026-07-01/hour=24/part-00000.parquet",
		"updates/v1/migration_id=3/date=2026-07-01T05/part-00000.parquet", "updates/v1/migration_id=3/hour=05/part-00000.parquet",
		"updates/v1/migration_id=3/date=2026-07-01/hour=05/hour=05/part-00000.parquet", "updates/v1/migration_id=3/hour=05/date=2026-07-01/part-00000.parquet",
		"imports/v1/migration_id=3/date=2026-07-01/hour=05/part-00000.parquet", "chain/v1/migration_id=3/date=2026-07-01/hour=5.json", "chain/v1/migration_id=3/date=2026-07-01T05.json",
		"manifests/v1/migration_id=3/date=2026-07-01/hour=05.json",
		"chain/v1/migration_id=3", "chain/v1/migration_id=x/imports.json", "stream=%zz/chain/v1/migration_id=3/imports.json",
		"", "updates", "private/secrets.json", "manifests/v1/migration_id=3/date=2026-07-01.json",
		"updates/v2/migration_id=3/date=2026-07-01/part-00000.parquet",
		"updates/v1/migration_id=03/date=2026-07-01/part-00000.parquet",
		"updates/v1/migration_id=-1/date=2026-07-01/part-00000.parquet",
		"updates/v1/migration_id=3/date=2026-02-30/part-00000.parquet",
		"updates/v1/migration_id=3/date=/part-00000.parquet",
		"updates/v1/migration_id=3/date=2026-07-01/part-0.parquet",
		"updates/v1/migration_id=3/date=2026-07-01/part--0001.parquet",
		"updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet/x",
		"updates/v1/migration_id=3/part-00000.parquet", // of imports only
		"movements/v1/migration_id=3/part-00000.parquet",
		"imports/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
		"secrets/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
		"stream=scan/updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
		"stream=node:b/updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
		"stream=%zz/updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
		"stream=", "//updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
	} {
		if table, ref, part, ok := ParseObjectKey(key); ok {
			t.Errorf("%q parses as %s %+v %d", key, table, ref, part)
		}
		lookup, isLookup := ParseLookupKey(key)
		link, isLink := ParseChainKey(key)
		if isLookup || isLink {
			t.Errorf("%q parses as a lookup object of %+v, %v, or as a link of %+v, %v", key, lookup, isLookup, link, isLink)
		}
	}
}

func TestParseIcebergVersion(t *testing.T) {
	if version, ok := ParseIcebergVersion(IcebergMetadataKey(ScanStream, ParquetEvents, 12)); !ok || version != 12 {
		t.Errorf("version 12 is read as %d, %v", version, ok)
	}
	for _, key := range []string{"a/v0.metadata.json", "a/v-1.metadata.json", "a/v012.metadata.json", "a/12.metadata.json", "a/v12.json", "a/version-hint.text", "v12.metadata.json/x"} {
		if version, ok := ParseIcebergVersion(key); ok {
			t.Errorf("%s passes as version %d", key, version)
		}
	}
}
