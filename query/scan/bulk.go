package scan

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// bulkObjects lists the objects that are published and serves their bytes.
type bulkObjects struct {
	bulk        Bulk // nil when no object storage is configured
	formats     []Format
	publicURL   string
	tokens      tokens
	maxPageSize int

	listings *listings // nil without bulk
	// The progress of exports, as it was read last.
	progress  *memo.Value[[]Pipeline]
	published *memo.Value[schemas.Micros]
}

func newBulkObjects(cfg *Config, tokens tokens) *bulkObjects {
	b := &bulkObjects{bulk: cfg.Bulk, formats: cfg.BulkFormats, publicURL: cfg.PublicURL, tokens: tokens, maxPageSize: cfg.MaxPageSize}
	if cfg.Bulk != nil {
		b.listings = newListings(cfg.Bulk, cfg.Now)
		b.progress = slowValue(cfg.Bulk.Progress, cfg.Now)
		b.published = slowValue(b.publishedByAll, cfg.Now)
	}
	return b
}

// requireBulk is an Error of class Disabled unless bulk objects can be offered.
func (b *bulkObjects) requireBulk() error {
	if b.bulk == nil {
		return query.Errorf(query.Disabled, "Bulk storage is not configured.")
	}
	return nil
}

// requireListing is requireBulk for operations that give URLs.
func (b *bulkObjects) requireListing() error {
	if err := b.requireBulk(); err != nil {
		return err
	}
	if b.publicURL == "" {
		return query.Errorf(query.Disabled, "Bulk storage needs a public URL to be configured.")
	}
	return nil
}

// requireFormat is an Error of class Disabled for a format that is not published.
func (b *bulkObjects) requireFormat(f Format) error {
	if !slices.Contains(b.formats, f) {
		return query.Errorf(query.Disabled, "Bulk objects are not published in this format: ask for format=%s.", b.formats[0])
	}
	return nil
}

func formatOf(p *query.Params) Format {
	return Format(p.OneOf("format", string(JSONZstd), string(Parquet)))
}

type objectRef struct {
	URL    string `json:"url"`
	Digest string `json:"digest"`
}

func (b *bulkObjects) appendRefs(refs []objectRef, objects []Object) []objectRef {
	for _, o := range objects {
		refs = append(refs, objectRef{
			URL:    b.publicURL + "/api/scan/v0/history/bulk/download/" + escapeKey(o.Key),
			Digest: base64.StdEncoding.EncodeToString(o.SHA256[:]),
		})
	}
	return refs
}

// escapeKey percent-encodes everything in an object key but letters, digits and -._
func escapeKey(key string) string {
	var text strings.Builder
	for i := range len(key) {
		c := key[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' {
			text.WriteByte(c)
		} else {
			fmt.Fprintf(&text, "%%%02X", c)
		}
	}
	return text.String()
}

// activeSet lists the objects of the latest published active contract set.
func (b *bulkObjects) activeSet(ctx context.Context, r *query.Request) error {
	p := r.Query()
	at, format := p.Time("at_or_before_record_time"), formatOf(p)
	if err := cmp.Or(p.Err(), b.requireListing(), b.requireFormat(format)); err != nil {
		return err
	}
	recordTime, objects, err := b.bulk.ActiveSet(ctx, format, at)
	if errors.Is(err, schemas.ErrNotFound) {
		return query.Errorf(query.NotFound, "No active contract set was published at or before %s.", at)
	}
	if err != nil {
		return err
	}
	return r.JSON(struct {
		RecordTime string      `json:"record_time"`
		ObjectRefs []objectRef `json:"object_refs"`
	}{recordTime.String(), b.appendRefs([]objectRef{}, objects)})
}

// segmentKey is the order of segments.
type segmentKey struct {
	start       schemas.Micros
	migrationID int64
}

func (k segmentKey) before(s *Segment) bool {
	if k.start != s.Start {
		return k.start < s.Start
	}
	return k.migrationID < s.MigrationID
}

func (k segmentKey) payload() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(k.start))
	return binary.BigEndian.AppendUint64(b, uint64(k.migrationID))
}

// updatesListing is a request for a page of bulk updates.
type updatesListing struct {
	start, end schemas.Micros
	format     Format
	size       int
	token      string
}

func (b *bulkObjects) updatesListing(p *query.Params) (updatesListing, error) {
	l := updatesListing{
		start: p.Time("start_record_time"), end: p.Time("end_record_time"),
		size: p.Limit("page_size", b.maxPageSize), format: formatOf(p),
	}
	l.token, _ = p.OptionalText("next_page_token")
	if p.Err() == nil && l.end <= l.start {
		p.Fail("end_record_time must be after start_record_time.")
	}
	return l, p.Err()
}

func (l *updatesListing) digest() []byte {
	return fmt.Appendf(nil, "bulk updates %d %d %s", l.start, l.end, l.format)
}

// updates lists the objects of the segments that overlap a stretch of time. A page
// holds whole segments. As long as the stretch goes beyond what is published there is
// a token, with which the caller can ask again later.
func (b *bulkObjects) updates(ctx context.Context, r *query.Request) error {
	l, err := b.updatesListing(r.Body())
	if err != nil {
		return err
	}
	if err := cmp.Or(b.requireListing(), b.requireFormat(l.format)); err != nil {
		return err
	}
	after := segmentKey{start: schemas.MinMicros, migrationID: -1}
	if l.token != "" {
		payload, err := b.tokens.open(l.digest(), l.token)
		if err != nil {
			return query.Errorf(query.Invalid, "Invalid next_page_token: it must come from a request with the same parameters.")
		}
		after = segmentKey{schemas.Micros(binary.BigEndian.Uint64(payload)), int64(binary.BigEndian.Uint64(payload[8:]))}
	}
	refs, after, complete, err := b.listObjects(ctx, &l, after)
	if err != nil {
		return err
	}
	answer := struct {
		ObjectRefs    []objectRef `json:"object_refs"`
		NextPageToken string      `json:"next_page_token,omitempty"`
	}{ObjectRefs: refs}
	if !complete {
		answer.NextPageToken = b.tokens.Seal(l.digest(), after.payload())
	}
	return r.JSON(answer)
}

// segmentsAtOnce is how many segments are read at a time for a listing, however many there
// are: years of hours are tens of thousands.
const segmentsAtOnce = 500

// listObjects lists the objects of segments after a key until the page is full, and returns
// the key of the last one. complete says that nothing is left, nor will be.
func (b *bulkObjects) listObjects(ctx context.Context, l *updatesListing, after segmentKey) (refs []objectRef, last segmentKey, complete bool, err error) {
	refs = []objectRef{}
	for {
		segments, published, err := b.bulk.Segments(ctx, l.format, max(l.start, after.start), l.end, segmentsAtOnce)
		if err != nil {
			return nil, after, false, err
		}
		var whole bool
		if refs, after, whole, err = b.appendSegments(refs, segments, after, l.size); err != nil {
			return nil, after, false, err
		}
		if !whole || len(segments) < segmentsAtOnce {
			return refs, after, whole && published >= l.end, nil
		}
	}
}

// appendSegments adds the objects of segments after a key until there are size of them, and
// returns the key of the last segment; whole is false when some are left.
func (b *bulkObjects) appendSegments(refs []objectRef, segments []Segment, after segmentKey, size int) (_ []objectRef, last segmentKey, whole bool, err error) {
	for i := range segments {
		s := &segments[i]
		if !after.before(s) {
			continue
		}
		if len(refs)+len(s.Objects) > size {
			if len(refs) == 0 {
				return nil, after, false, query.Errorf(query.Invalid,
					"page_size %d is too small: the next segment has %d objects.", size, len(s.Objects))
			}
			return refs, after, false, nil
		}
		refs = b.appendRefs(refs, s.Objects)
		after = segmentKey{s.Start, s.MigrationID}
	}
	return refs, after, true, nil
}

type checksum struct {
	Value string `json:"value,omitempty"`
}

// checksums gives the digests of objects, in the order of the request; an unknown
// object has none. Peers ask for those of objects that wait for them to agree.
func (b *bulkObjects) checksums(ctx context.Context, r *query.Request) error {
	p := r.Body()
	keys := p.AllTexts("object_keys")
	if err := cmp.Or(p.Err(), b.requireBulk()); err != nil {
		return err
	}
	found, err := b.bulk.Checksums(ctx, keys...)
	if err != nil {
		return err
	}
	sums := make([]checksum, len(keys))
	for i, key := range keys {
		if sum, ok := found[key]; ok {
			sums[i].Value = base64.StdEncoding.EncodeToString(sum[:])
		}
	}
	return r.JSON(struct {
		Checksums []checksum `json:"checksums"`
	}{sums})
}

// How progress is kept: to read it takes the catalogs of all segments, and anybody may ask.
const (
	// progressTTL is how long what was said is said again.
	progressTTL = time.Second
	// progressStale is for how much longer it is to those who have waited for progressMaxWait
	// while it is read again, which a busy store may take up to progressTimeout for.
	progressStale   = time.Minute
	progressMaxWait = 100 * time.Millisecond
	progressTimeout = time.Minute
)

// slowValue remembers what is said of the progress of exports.
func slowValue[T any](load func(context.Context) (T, error), now func() time.Time) *memo.Value[T] {
	return &memo.Value[T]{Load: load, TTL: progressTTL, Stale: progressStale, MaxWait: progressMaxWait, Timeout: progressTimeout, Now: now}
}

// exportProgress tells whether everything up to a record time is published, in all formats.
// Without a record time it says how far each kind of export is.
func (b *bulkObjects) exportProgress(ctx context.Context, r *query.Request) error {
	p := r.Query()
	at, asked := p.OptionalTime("record_time")
	if err := cmp.Or(p.Err(), b.requireBulk()); err != nil {
		return err
	}
	if !asked {
		return b.pipelines(ctx, r)
	}
	published, err := b.published.Get(ctx)
	if err != nil {
		return err
	}
	return r.JSON(struct {
		Beyond bool `json:"beyond_requested_record_time"`
	}{published >= at})
}

// publishedByAll is the record time up to which everything is published in all formats.
func (b *bulkObjects) publishedByAll(ctx context.Context) (schemas.Micros, error) {
	published := schemas.MaxMicros
	for _, format := range b.formats {
		through, err := b.bulk.Published(ctx, format)
		if err != nil {
			return 0, err
		}
		published = min(published, through)
	}
	return published, nil
}

type bulkPipeline struct {
	Name    string   `json:"name"`
	Done    int      `json:"done"`
	Staged  int      `json:"staged"`
	Total   int      `json:"total"`
	Through string   `json:"through,omitempty"`
	Rate    float64  `json:"rate_per_second"`
	ETA     *float64 `json:"eta_seconds,omitempty"`
}

// pipelines says how far each kind of export is.
func (b *bulkObjects) pipelines(ctx context.Context, r *query.Request) error {
	progress, err := b.progress.Get(ctx)
	if err != nil {
		return err
	}
	list := make([]bulkPipeline, len(progress))
	for i, p := range progress {
		list[i] = bulkPipeline{Name: p.Name, Done: p.Done, Staged: p.Staged, Total: p.Total, Rate: p.Rate}
		if p.Through > schemas.MinMicros {
			list[i].Through = p.Through.String()
		}
		if p.ETA >= 0 {
			list[i].ETA = &progress[i].ETA
		}
	}
	return r.JSON(struct {
		Pipelines []bulkPipeline `json:"pipelines"`
	}{list})
}
