package schemas

import "testing"

func networkTime(t *testing.T, text string) Micros {
	t.Helper()
	at, err := ParseTime(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestNetworkKeys(t *testing.T) {
	second, third := networkTime(t, "2026-07-02T00:00:00Z"), networkTime(t, "2026-07-03T00:00:00Z")
	day := func(kind NetworkKind) NetworkRef { return NetworkRef{ScanStream, kind, second, third} }
	first := NetworkRef{ScanStream, NetworkUpdates, MinMicros, second}
	node := NetworkRef{"node:alice", NetworkACS, second, third}
	tests := []struct {
		name     string
		ref      NetworkRef
		encoding Encoding
		n        int
		want     string
	}{
		{"updates", day(NetworkUpdates), CompactJSON, 0, "2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/updates_compact_json_0.zstd"},
		{"contracts", day(NetworkACS), CompactJSON, 3, "2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/ACS_compact_json_3.zstd"},
		{"numbers are not padded", day(NetworkACS), ProtobufJSON, 12, "2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/ACS_protobuf_json_12.zstd"},
		{"the first folder", first, ProtobufJSON, 0, "0001-01-01T00:00:00Z~2026-07-02T00:00:00Z/updates_protobuf_json_0.zstd"},
		{"other streams have a prefix", node, CompactJSON, 0, "stream=node%3Aalice/2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/ACS_compact_json_0.zstd"},
	}
	for _, tt := range tests {
		got := NetworkKey(tt.ref, tt.encoding, tt.n)
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		ref, encoding, n, ok := ParseNetworkKey(got)
		if !ok || ref != tt.ref || encoding != tt.encoding || n != tt.n {
			t.Errorf("%s: %s is read as %v %s %d, %v", tt.name, got, ref, encoding, n, ok)
		}
		if _, _, _, ok := ParseObjectKey(got); ok {
			t.Errorf("%s: %s is read as the key of a Parquet object", tt.name, got)
		}
	}
}

func TestParseNetworkKeyRefusesOthers(t *testing.T) {
	const folder = "2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/"
	for _, key := range []string{
		"", "/", folder, folder + "updates_compact_json_0", folder + "updates_compact_json_00.zstd", folder + "updates_compact_json_-1.zstd",
		folder + "updates_xml_0.zstd", folder + "acs_compact_json_0.zstd", folder + "updates_0.zstd", folder + "../updates_compact_json_0.zstd",
		"2026-07-02T00:00:00Z/updates_compact_json_0.zstd",
		"2026-07-02T00:00:00.000Z~2026-07-03T00:00:00Z/updates_compact_json_0.zstd",
		"2026-07-02T00:00:00Z~2026-07-04T00:00:00Z/updates_compact_json_0.zstd",
		"2026-07-02T01:00:00Z~2026-07-03T01:00:00Z/updates_compact_json_0.zstd",
		"stream=%zz/" + folder + "updates_compact_json_0.zstd", "stream=/" + folder + "updates_compact_json_0.zstd",
		"stream=scan/" + folder + "updates_compact_json_0.zstd",
		"updates/v1/migration_id=3/date=2026-07-01/part-00000.parquet",
	} {
		if ref, _, _, ok := ParseNetworkKey(key); ok {
			t.Errorf("%q is read as %v", key, ref)
		}
	}
}

func FuzzParseNetworkKey(f *testing.F) {
	f.Add("2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/updates_compact_json_0.zstd")
	f.Add("stream=node%3Aalice/0001-01-01T00:00:00Z~2026-07-03T00:00:00Z/ACS_protobuf_json_7.zstd")
	f.Fuzz(func(t *testing.T, key string) {
		if ref, encoding, n, ok := ParseNetworkKey(key); ok && NetworkKey(ref, encoding, n) != key {
			t.Errorf("%q is read as %v, %s, %d", key, ref, encoding, n)
		}
	})
}
