package export

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestProofs proves updates of every segment, and that a proof with any byte changed
// does not hold.
func TestProofs(t *testing.T) {
	client, items := publishedHistory(t, twoMigrations(81, 60), nil)
	a := openArchive(t, client)
	last, err := a.CheckChain(t.Context())
	if err != nil || len(last) != 64 {
		t.Fatalf("the chain ends with %q, %v", last, err)
	}
	proven := make(map[schemas.SegmentRef]string)
	for i := range items {
		u := items[i].Update
		if u == nil || i%7 > 0 {
			continue
		}
		p, err := a.Prove(t.Context(), u.UpdateID)
		if err != nil {
			t.Fatal(err)
		}
		row := sha256.Sum256(schemas.AppendUpdate(nil, u, schemas.UpdateForm{WithOffset: u.IsImport()}))
		if p.ID != u.UpdateID || p.Row != row || !p.Chained {
			t.Fatalf("update %s with SHA-256 %x is proven as %+v", u.UpdateID, row, p)
		}
		proven[p.Segment] = checkProofText(t, p)
	}
	if len(proven) < 4 {
		t.Errorf("only segments %v have proofs", proven)
	}
	if _, err := a.Prove(t.Context(), "absent"); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("proving what is not there: %v", err)
	}
}

// checkProofText hands a proof on as text and returns its link.
func checkProofText(t *testing.T, p *schemas.SegmentProof) string {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil || len(text) > 2048 {
		t.Fatalf("a proof has %d bytes, %v", len(text), err)
	}
	var back schemas.SegmentProof
	if err := errors.Join(json.Unmarshal(text, &back), back.Check()); err != nil {
		t.Fatal(err)
	}
	same, err := json.Marshal(back)
	if err != nil || string(same) != string(text) {
		t.Fatalf("a proof reads back as %s, %v; was %s", same, err, text)
	}
	random := rand.New(rand.NewPCG(uint64(p.Index), 3))
	for range 60 {
		at := random.IntN(len(text))
		changed := []byte(string(text))
		changed[at] = "0123456789abcdefXYZ\"{"[random.IntN(21)]
		var other schemas.SegmentProof
		if changed[at] == text[at] || json.Unmarshal(changed, &other) != nil {
			continue
		}
		if again, err := json.Marshal(other); err == nil && string(again) == string(text) {
			continue // the same in other words
		}
		if err := other.Check(); !errors.Is(err, schemas.ErrProof) {
			t.Fatalf("byte %d of the proof can be %q: %v\n%s", at, changed[at], err, text)
		}
	}
	return string(p.Link[:])
}

// TestProofOfMillions is as long as a proof gets.
func TestProofOfMillions(t *testing.T) {
	p := schemas.SegmentProof{
		Segment: schemas.SegmentRef{Stream: "scan", MigrationID: 12, Date: "2026-07-01"}, Table: schemas.ParquetUpdates,
		ID: "1220" + strings.Repeat("a", 64), Index: 1<<24 - 2, Rows: 1 << 24, Siblings: make([]schemas.Hash, 24), Tables: make([]schemas.Hash, 6), Chained: true,
	}
	if text, err := json.Marshal(p); err != nil || len(text) > 2048 {
		t.Errorf("the proof of a row among 16 million has %d bytes, %v", len(text), err)
	}
}

// TestChainFollowsHistory publishes segments in another order than that of history, and
// one of them again with another content.
func TestChainFollowsHistory(t *testing.T) {
	src, client, c := twoMigrations(82, 30), openBucket(t), &memoryCatalog{}
	e := newTestExporter(t, src, client, c, nil)
	due, err := e.DueSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, ref := range slices.Backward(due) {
		if err := e.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if got := links(t, client); i > 0 && got != 0 {
			t.Fatalf("%d links before the first segment is published", got)
		}
	}
	if got := links(t, client); got != len(due) {
		t.Fatalf("%d links of %d segments", got, len(due))
	}
	before, err := openArchive(t, client).CheckChain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The same history gives the same chain, in whatever order.
	other := openBucket(t)
	exportDue(t, newTestExporter(t, src, other, &memoryCatalog{}, nil))
	if again, err := openArchive(t, other).CheckChain(t.Context()); err != nil || again != before {
		t.Errorf("the same history is chained to %s, %v; before to %s", again, err, before)
	}
	src.updates[0].WorkflowID = "another one"
	if err := e.Reexport(t.Context(), due[1]); err != nil {
		t.Fatal(err)
	}
	after, err := openArchive(t, client).CheckChain(t.Context())
	if err != nil || after == before || links(t, client) != len(due) {
		t.Errorf("after another content the chain ends with %s, %v; before with %s", after, err, before)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
	write(t, client, schemas.ChainKey(due[2]), read(t, other, schemas.ChainKey(due[2])))
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) != 1 || !strings.Contains(v.Findings[0], "the chain") {
		t.Errorf("a link of another history: findings %q, %v", v.Findings, err)
	}
}

// TestChainGoesThroughExpired lets segments expire before those after them are linked, and
// after; and one before it was ever published, at which the chain ends.
func TestChainGoesThroughExpired(t *testing.T) {
	src, client, c := twoMigrations(83, 30), openBucket(t), &memoryCatalog{}
	e := newTestExporter(t, src, client, c, nil)
	due, err := e.DueSegments(t.Context())
	if err != nil || len(due) < 4 {
		t.Fatalf("%v are due, %v", due, err)
	}
	for _, ref := range due[:2] {
		if err := e.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&sweep{catalog: e.catalog}).mark(t.Context(), due[1], published.Expired); err != nil {
		t.Fatal(err)
	}
	if err := e.ExportSegment(t.Context(), due[2]); err != nil {
		t.Fatal(err)
	}
	if err := (&sweep{catalog: e.catalog}).mark(t.Context(), due[3], published.Expired); err != nil {
		t.Fatal(err)
	}
	exportDue(t, e)
	if got := links(t, client); got != 3 {
		t.Errorf("%d links, want those before the segment that was never published", got)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
}

// TestChainIsMadeUpFor loses links of the catalog, as an exporter does that is cut off or
// overtaken, and objects of the bucket.
func TestChainIsMadeUpFor(t *testing.T) {
	src, client, c := twoMigrations(84, 30), openBucket(t), &memoryCatalog{}
	e := newTestExporter(t, src, client, c, nil)
	refs := exportDue(t, e)
	want := stored(t, client)
	for _, wrong := range []string{"", strings.Repeat("0", 64)} {
		for i, ref := range refs {
			row := c.Last(ref)
			row.Version++
			row.Link = wrong
			if err := c.Append(t.Context(), row); err != nil {
				t.Fatal(err)
			}
			if due := exportDue(t, e); !slices.Equal(due, refs[i:i+1]) {
				t.Errorf("with link %q of segment %s due are %v", wrong, ref, due)
			}
			if due, err := e.DueSegments(t.Context()); err != nil || len(due) > 0 {
				t.Errorf("after that %v are due, %v", due, err)
			}
		}
	}
	if err := client.Delete(t.Context(), schemas.ChainKey(refs[1])); err != nil {
		t.Fatal(err)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) != 1 || !strings.Contains(v.Findings[0], "has none") {
		t.Errorf("a link is missing in the middle: findings %q, %v", v.Findings, err)
	}
	if err := e.Reexport(t.Context(), refs[1]); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, client); !maps.Equal(got, want) {
		t.Errorf("after another export there are %d links of %d", links(t, client), len(refs))
	}
}

func links(t *testing.T, client *bucket.Client) int {
	t.Helper()
	n := 0
	for key := range stored(t, client) {
		if strings.HasPrefix(key, "chain/") {
			n++
		}
	}
	return n
}
