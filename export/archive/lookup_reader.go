package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// Found is an update that was looked up.
type Found struct {
	// Segment is the one whose objects hold the update.
	Segment schemas.SegmentRef
	// Update is its canonical JSON, as /v2/updates gives it; of an import, as
	// /v0/backfilling/import-updates does.
	Update []byte
	// Event is the canonical JSON of the event that created the contract or took it in,
	// when a contract was asked for.
	Event []byte
	// Cost is what the lookup took of the bucket.
	Cost LookupCost
}

// LookupCost counts the requests of a lookup, and apart from them those for what is fetched
// once per segment and kept, if there is a cache: indexes and filters of lookup objects.
type LookupCost struct {
	Requests, KeptRequests int
	Bytes, KeptBytes       int64
}

// Update looks an update up by its id. What no segment has is schemas.ErrNotFound.
func (a *Archive) Update(ctx context.Context, updateID string) (Found, error) {
	return a.find(ctx, lookupQuery{id: updateID, key: UpdateKey(updateID), search: parquetSearch.update, match: func(line []byte) (Found, bool, error) {
		var u wireLine
		if err := json.Unmarshal(line, &u); err != nil || u.UpdateID != updateID {
			return Found{}, false, err
		}
		return Found{Update: bytes.Clone(line)}, true, nil
	}})
}

// Contract looks up the first event that created a contract or took it in: a creation,
// an assignment or an import.
func (a *Archive) Contract(ctx context.Context, contractID string) (Found, error) {
	return a.find(ctx, lookupQuery{id: contractID, key: ContractKey(contractID), search: parquetSearch.contract, match: func(line []byte) (Found, bool, error) {
		return matchContract(line, contractID)
	}})
}

// matchContract finds the event in the line of an update.
func matchContract(line []byte, contractID string) (Found, bool, error) {
	var u wireLine
	if err := json.Unmarshal(line, &u); err != nil {
		return Found{}, false, err
	}
	for _, raw := range append([]json.RawMessage{u.Event.Created}, u.events()...) {
		var e struct {
			ContractID string `json:"contract_id"`
			EventType  string `json:"event_type"`
		}
		if raw == nil {
			continue
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return Found{}, false, err
		}
		if e.ContractID == contractID && (e.EventType == "created_event" || e.EventType == "") {
			return Found{Update: bytes.Clone(line), Event: bytes.Clone(raw)}, true, nil
		}
	}
	return Found{}, false, nil
}

// wireLine is what lookups read of an update's line.
type wireLine struct {
	UpdateID   string                     `json:"update_id"`
	EventsByID map[string]json.RawMessage `json:"events_by_id"`
	Event      struct {
		Created json.RawMessage `json:"created_event"`
	} `json:"event"`
}

func (l *wireLine) events() []json.RawMessage {
	list := make([]json.RawMessage, 0, len(l.EventsByID))
	for _, e := range l.EventsByID {
		list = append(list, e)
	}
	return list
}

// lookupQuery is what is looked up.
type lookupQuery struct {
	id  string
	key LookupKey
	// search finds the update in Parquet objects.
	search func(parquetSearch, context.Context, string) (*schemas.Update, error)
	// match takes what was asked for out of a line, if it is there.
	match func(line []byte) (Found, bool, error)
}

// find goes through the segments in order.
func (a *Archive) find(ctx context.Context, q lookupQuery) (Found, error) {
	var cost LookupCost
	for _, s := range a.segments {
		found, ok, err := a.findIn(ctx, s.Manifest, q, &cost)
		if err != nil {
			return Found{Cost: cost}, fmt.Errorf("looking up %s in segment %s: %w", q.id, s.Ref(), err)
		}
		if ok {
			found.Segment, found.Cost = s.Ref(), cost
			return found, nil
		}
	}
	return Found{Cost: cost}, fmt.Errorf("no published segment has %s: %w", q.id, schemas.ErrNotFound)
}

// findIn asks the lookup objects of a segment, or the Parquet objects if it has none.
func (a *Archive) findIn(ctx context.Context, m *published.Manifest, q lookupQuery, cost *LookupCost) (Found, bool, error) {
	x, err := a.lookupIndex(ctx, m, cost)
	if err != nil {
		return Found{}, false, err
	}
	if x == nil {
		u, err := q.search(parquetSearch{objects: a.cfg.Objects, manifest: m, cost: cost}, ctx, q.id)
		if u == nil || err != nil {
			return Found{}, false, err
		}
		return q.match(AppendLine(nil, u))
	}
	for i := range x.Parts {
		l := lookup{archive: a, part: &x.Parts[i], lookupQuery: q, id: jsonscan.AppendString(nil, []byte(q.id)), cost: cost}
		found, ok, err := l.find(ctx)
		if err != nil || ok {
			return found, ok, err
		}
	}
	return Found{}, false, nil
}

// lookupIndex returns the lookup index of a segment from the cache or the bucket, or nil if
// it has none.
func (a *Archive) lookupIndex(ctx context.Context, m *published.Manifest, cost *LookupCost) (*published.LookupIndex, error) {
	cache, key := cache(a.cfg.CacheDir), schemas.LookupIndexKey(m.Ref())
	data, err := cache.load(key, m.Root)
	if err != nil {
		return nil, err
	}
	if data != nil {
		if x, err := published.DecodeLookupIndex(data); err == nil && x.Check(m) == nil {
			return x, nil
		} // else the copy is damaged, and is replaced
	}
	x, data, err := ReadLookupIndex(ctx, a.cfg.Objects, m)
	cost.KeptRequests++
	cost.KeptBytes += int64(len(data))
	if x == nil || err != nil {
		return nil, err
	}
	return x, cache.save(key, m.Root, data)
}

// lookup looks for a key in one part.
type lookup struct {
	archive *Archive
	part    *published.LookupPart
	lookupQuery
	id   []byte // as a JSON text
	cost *LookupCost
}

func (l *lookup) find(ctx context.Context) (Found, bool, error) {
	filter, err := l.filter(ctx)
	if err != nil || !l.key.Passes(filter) {
		return Found{}, false, err
	}
	frames, err := l.frames(ctx)
	if err != nil {
		return Found{}, false, err
	}
	for _, f := range frames {
		found, ok, err := l.findInFrame(ctx, f)
		if err != nil || ok {
			return found, ok, err
		}
	}
	return Found{}, false, nil
}

// filter returns the part's filter from the cache or the bucket.
func (l *lookup) filter(ctx context.Context) ([]byte, error) {
	cache, p := cache(l.archive.cfg.CacheDir), l.part
	data, err := cache.load(p.Key, p.FilterSHA256)
	if err != nil {
		return nil, err
	}
	if data != nil && hexSum(data) == p.FilterSHA256 {
		return data, nil
	}
	if data, err = l.get(ctx, p.FilterOffset, p.FilterBytes); err != nil {
		return nil, err
	}
	l.cost.KeptRequests++
	l.cost.KeptBytes += int64(len(data))
	if sum := hexSum(data); sum != p.FilterSHA256 {
		return nil, published.Mismatchf("its filter has SHA-256 %s, the manifest says %s", sum, p.FilterSHA256)
	}
	return data, cache.save(p.Key, p.FilterSHA256, data)
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// frame is the place of a zstd frame in a lookup object.
type frame struct {
	offset int64
	length int
}

// frames reads the bucket of the index that the key belongs to.
func (l *lookup) frames(ctx context.Context) ([]frame, error) {
	at := l.part.IndexOffset + int64(l.key.BucketOf(l.part.Buckets))*int64(l.part.BucketBytes)
	bucket, err := l.fetch(ctx, at, l.part.BucketBytes)
	if err != nil {
		return nil, err
	}
	return framesOf(bucket, l.key, l.part)
}

// framesOf lists the frames that a bucket of the index names for a key.
func framesOf(bucket []byte, key LookupKey, part *published.LookupPart) ([]frame, error) {
	var frames []frame
	for ; len(bucket) >= published.LookupEntryBytes; bucket = bucket[published.LookupEntryBytes:] {
		var lower, offset [8]byte
		copy(lower[8-LookupKeyBytes:], bucket)
		copy(offset[3:], bucket[LookupKeyBytes:])
		f := frame{int64(binary.BigEndian.Uint64(offset[:])), int(binary.BigEndian.Uint32(bucket[LookupKeyBytes+5:]))}
		if f.length == 0 || binary.BigEndian.Uint64(lower[:]) != key.Lower() {
			continue
		}
		if f.offset+int64(f.length) > part.IndexOffset {
			return nil, published.Mismatchf("its index names a frame at byte %d of %d bytes, beyond the lines", f.offset, f.length)
		}
		frames = append(frames, f)
	}
	return frames, nil
}

func (l *lookup) findInFrame(ctx context.Context, f frame) (Found, bool, error) {
	compressed, err := l.fetch(ctx, f.offset, f.length)
	if err != nil {
		return Found{}, false, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return Found{}, false, fmt.Errorf("making a zstd decoder: %w", err)
	}
	defer decoder.Close()
	lines, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return Found{}, false, published.Mismatchf("decompressing the frame at byte %d: %w", f.offset, err)
	}
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(line, l.id) {
			continue
		}
		found, ok, err := l.match(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil || ok {
			return found, ok, err
		}
	}
	return Found{}, false, nil
}

// fetch is get, and counted.
func (l *lookup) fetch(ctx context.Context, from int64, size int) ([]byte, error) {
	data, err := l.get(ctx, from, size)
	l.cost.Requests++
	l.cost.Bytes += int64(len(data))
	return data, err
}

// get reads a range of the part.
func (l *lookup) get(ctx context.Context, from int64, size int) ([]byte, error) {
	return readRange(ctx, l.archive.cfg.Objects, l.part.Key, from, size)
}
