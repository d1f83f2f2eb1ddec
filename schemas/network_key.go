package schemas

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// NetworkKind is a kind of object in the network's own bulk layout. It is written as it
// stands in the keys.
type NetworkKind string

const (
	// NetworkUpdates holds the updates of a folder's time.
	NetworkUpdates NetworkKind = "updates"
	// NetworkACS holds the contracts active at a folder's start.
	NetworkACS NetworkKind = "ACS"
)

// NetworkEncodings are those in which each object of the network's layout exists, the one
// that its listings give first.
var NetworkEncodings = [...]Encoding{CompactJSON, ProtobufJSON}

// NetworkRef names what is published at once in the network's layout: all objects of one
// kind in one folder. A folder holds the record times in (Start, End]. Both are midnights,
// a day apart; only the first folder begins at MinMicros.
type NetworkRef struct {
	Stream string      `json:"stream"`
	Kind   NetworkKind `json:"kind"`
	Start  Micros      `json:"start"`
	End    Micros      `json:"end"`
}

const dayMicros Micros = 24 * 3600 * 1e6

// Check returns an error unless the reference can name something.
func (r NetworkRef) Check() error {
	switch {
	case r.Stream == "":
		return errors.New("objects in the network's layout need a stream")
	case r.Kind != NetworkUpdates && r.Kind != NetworkACS:
		return fmt.Errorf("objects in the network's layout are of kind %s or %s, not %q", NetworkUpdates, NetworkACS, r.Kind)
	case r.End <= MinMicros || r.End > MaxMicros || r.End.DayStart() != r.End:
		return fmt.Errorf("a folder must end at midnight, not at %s", r.End)
	case r.Start != r.End-dayMicros && r.Start != MinMicros:
		return fmt.Errorf("the folder that ends at %s cannot begin at %s", r.End, r.Start)
	}
	return nil
}

// Folder names the folder: "2026-07-01T00:00:00Z~2026-07-02T00:00:00Z".
func (r NetworkRef) Folder() string {
	name := append(AppendShortTime(nil, r.Start), '~')
	return string(AppendShortTime(name, r.End))
}

// String names the reference for logs, errors and tasks:
// "scan:updates:2026-07-01T00:00:00Z~2026-07-02T00:00:00Z".
func (r NetworkRef) String() string { return r.Stream + ":" + string(r.Kind) + ":" + r.Folder() }

// NetworkKey names object n, from 0 on, of an encoding:
//
//	2026-07-01T00:00:00Z~2026-07-02T00:00:00Z/updates_compact_json_0.zstd
//	0001-01-01T00:00:00Z~2026-07-01T00:00:00Z/updates_protobuf_json_0.zstd
//	stream=node%3Aalice/2026-07-01T00:00:00Z~2026-07-02T00:00:00Z/ACS_compact_json_12.zstd
//
// Only streams other than ScanStream are named.
func NetworkKey(r NetworkRef, encoding Encoding, n int) string {
	return fmt.Sprintf("%s%s/%s_%s_%d.zstd", streamPrefix(r.Stream), r.Folder(), r.Kind, encoding, n)
}

// ParseNetworkKey is the inverse of NetworkKey. ok is false for any text that NetworkKey
// does not give.
func ParseNetworkKey(key string) (r NetworkRef, encoding Encoding, n int, ok bool) {
	stream, path, ok := cutStream(key)
	if !ok {
		return NetworkRef{}, "", 0, false
	}
	folder, name, _ := strings.Cut(path, "/")
	start, end, _ := strings.Cut(folder, "~")
	kind, rest, _ := strings.Cut(strings.TrimSuffix(name, ".zstd"), "_")
	last := strings.LastIndexByte(rest, '_')
	if last < 0 {
		return NetworkRef{}, "", 0, false
	}
	r, encoding = NetworkRef{Stream: stream, Kind: NetworkKind(kind)}, Encoding(rest[:last])
	var errs [3]error
	r.Start, errs[0] = ParseTime(start)
	r.End, errs[1] = ParseTime(end)
	n, errs[2] = strconv.Atoi(rest[last+1:])
	// What was read loosely above must give the same key again.
	if errors.Join(errs[:]...) != nil || n < 0 || r.Check() != nil ||
		!slices.Contains(NetworkEncodings[:], encoding) || NetworkKey(r, encoding, n) != key {
		return NetworkRef{}, "", 0, false
	}
	return r, encoding, n, true
}
