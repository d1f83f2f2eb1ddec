package export

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// operator is an exporter with a bucket of its own, and a peer of others.
type operator struct {
	*Exporter
	name    string
	objects *memoryObjects
	down    bool
}

func (o *operator) Upstream() string { return o.name }

func (o *operator) BulkChecksums(ctx context.Context, keys []string) ([]string, error) {
	if o.down {
		return nil, errors.New("connection refused")
	}
	found, err := o.catalog.Checksums(ctx, keys...)
	if err != nil {
		return nil, err
	}
	sums := make([]string, len(keys))
	for i, key := range keys {
		if sum, ok := found[key]; ok {
			sums[i] = hex.EncodeToString(sum[:])
		}
	}
	return sums, nil
}

func newOperator(t *testing.T, name string, src testSource, readers *bucket.Client) *operator {
	o := &operator{name: name, objects: openMemory(readers)}
	o.Exporter = newTestExporter(t, src, o.objects, &memoryCatalog{}, func(c *testConfig) { c.NetworkCut, c.Layout = smallCut, published.DefaultLayout })
	return o
}

func (o *operator) needs(agree int, peers ...*operator) {
	for _, p := range peers {
		o.cfg.Peers = append(o.cfg.Peers, p)
	}
	o.cfg.Agree = agree
	o.publisher.mustAgree, o.publisher.peers = agree, o.cfg.Peers
}

func (o *operator) recorded() []store.ExportDisagreementRow {
	return o.catalog.Journal.(*memoryJournal).Disagreements
}

// keys are those in staging, and those that are not.
func (o *operator) keys() (staging, released []string) {
	for _, key := range slices.Sorted(maps.Keys(o.objects.sums())) {
		if strings.HasPrefix(key, schemas.StagingPrefix) {
			staging = append(staging, key)
		} else {
			released = append(released, key)
		}
	}
	return staging, released
}

// exports are the two kinds of what is published at once.
var exports = map[string]func(*testing.T, *operator) error{
	"segment": func(t *testing.T, o *operator) error { return o.ExportSegment(t.Context(), crashSegment) },
	"folder":  func(t *testing.T, o *operator) error { return o.network.Export(t.Context(), crashFolder) },
}

// crashSegment is the first day of the second migration of largeDays.
var crashSegment = schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-02"}

// TestPeersAgreeBeforeAnythingIsPublished has two operators each wait for the other.
func TestPeersAgreeBeforeAnythingIsPublished(t *testing.T) {
	src := largeDays(51)
	readers := openBucket(t)
	for name, run := range exports {
		t.Run(name, func(t *testing.T) {
			alone := newOperator(t, "alone", src, readers)
			if err := run(t, alone); err != nil {
				t.Fatal(err)
			}
			a, b := newOperator(t, "a", src, readers), newOperator(t, "b", src, readers)
			a.needs(1, b)
			b.needs(1, a)
			for range 2 { // the second time nothing is written again
				if err := run(t, a); !errors.Is(err, ErrNotAgreed) {
					t.Fatalf("while the peer has nothing: %v", err)
				}
			}
			staging, released := a.keys()
			if len(staging) < 3 || len(released) > 0 {
				t.Fatalf("in staging are %q, released %q", staging, released)
			}
			key := strings.TrimPrefix(staging[0], schemas.StagingPrefix)
			if found, err := a.catalog.Find(t.Context(), key); err != nil || len(found) > 0 {
				t.Errorf("a staged object is found: %v, %v", found, err)
			}
			if err := errors.Join(run(t, b), run(t, a)); err != nil {
				t.Fatal(err)
			}
			for _, o := range []*operator{a, b} {
				if !maps.Equal(o.objects.sums(), alone.objects.sums()) {
					t.Errorf("%s has %v, without peers it is %v", o.name, o.objects.sums(), alone.objects.sums())
				}
				if len(o.recorded()) > 0 {
					t.Errorf("recorded are %+v", o.recorded())
				}
			}
		})
	}
}

func TestPeersWhoDiffer(t *testing.T) {
	src, other := largeDays(52), largeDays(53)
	readers := openBucket(t)
	tests := []struct {
		name                       string
		agree, good, bad, far, off int // peers with our history, with another, without any yet, and that are down
		want                       error
	}{
		{name: "the only one differs", agree: 1, bad: 1, want: ErrDisagreed},
		{name: "one of two is enough", agree: 1, good: 1, bad: 1},
		{name: "one of two is not", agree: 2, good: 1, bad: 1, want: ErrDisagreed},
		{name: "the rest may still come", agree: 2, good: 1, bad: 1, far: 1, want: ErrNotAgreed},
		{name: "one is down", agree: 2, good: 1, off: 1, want: ErrNotAgreed},
		{name: "one of three is down", agree: 2, good: 2, off: 1},
		{name: "nobody is asked", agree: 0, bad: 1},
	}
	for kind, run := range exports {
		good, bad := newOperator(t, "good", src, readers), newOperator(t, "bad", other, readers)
		far, off := newOperator(t, "far", src, readers), newOperator(t, "off", src, readers)
		off.down = true
		if err := errors.Join(run(t, good), run(t, bad)); err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(kind+" "+tt.name, func(t *testing.T) {
				o := newOperator(t, "we", src, readers)
				o.needs(tt.agree)
				for peer, n := range map[*operator]int{good: tt.good, bad: tt.bad, far: tt.far, off: tt.off} {
					for range n {
						o.publisher.peers = append(o.publisher.peers, peer)
					}
				}
				if err := run(t, o); !errors.Is(err, tt.want) {
					t.Fatalf("got %v, want %v", err, tt.want)
				}
				staging, released := o.keys()
				if done := tt.want == nil; done != (len(released) > 0) || done != (len(staging) == 0) {
					t.Errorf("in staging are %q, released %q", staging, released)
				}
				differed := tt.bad > 0 && tt.agree > 0
				if differed != (len(o.recorded()) > 0) {
					t.Errorf("recorded are %+v", o.recorded())
				}
				for _, d := range o.recorded() {
					if d.Peer != "bad" || d.Ours == d.Theirs || d.Theirs == "" {
						t.Errorf("recorded is %+v", d)
					}
				}
			})
		}
	}
}

// TestPeerWithMoreObjects has a peer with the same objects and one more.
func TestPeerWithMoreObjects(t *testing.T) {
	src := largeDays(54)
	o := newOperator(t, "we", src, openBucket(t))
	peer := &fixedPeer{sums: map[string]string{}}
	o.publisher.mustAgree, o.publisher.peers = 1, []Peer{peer}
	if err := o.network.Export(t.Context(), crashFolder); !errors.Is(err, ErrNotAgreed) {
		t.Fatal(err)
	}
	n := 0
	for key, sum := range o.objects.sums() {
		key = strings.TrimPrefix(key, schemas.StagingPrefix)
		peer.sums[key] = sum
		if strings.Contains(key, "compact") {
			n++
		}
	}
	more := schemas.NetworkKey(crashFolder, schemas.CompactJSON, n)
	peer.sums[more] = "ff"
	if err := o.network.Export(t.Context(), crashFolder); !errors.Is(err, ErrDisagreed) {
		t.Errorf("a peer with object %s, too: %v", more, err)
	}
	delete(peer.sums, more)
	if err := o.network.Export(t.Context(), crashFolder); err != nil {
		t.Errorf("a peer with our objects: %v", err)
	}
}

// fixedPeer has given digests.
type fixedPeer struct{ sums map[string]string }

func (p *fixedPeer) Upstream() string { return "fixed" }

func (p *fixedPeer) BulkChecksums(_ context.Context, keys []string) ([]string, error) {
	sums := make([]string, len(keys))
	for i, key := range keys {
		sums[i] = p.sums[key]
	}
	return sums, nil
}

// TestCrashWhileStaged cuts an export with peers off before and after each outside write.
func TestCrashWhileStaged(t *testing.T) {
	src := largeDays(55)
	readers := openBucket(t)
	peer := newOperator(t, "peer", src, readers)
	for name, run := range exports {
		if err := run(t, peer); err != nil {
			t.Fatal(err)
		}
		want := newOperator(t, "alone", src, readers)
		if err := run(t, want); err != nil {
			t.Fatal(err)
		}
		for _, applied := range []bool{false, true} {
			after := int64(0)
			for ; ; after++ {
				o := newOperator(t, "we", src, readers)
				o.needs(1, peer)
				limit := &cut{applied: applied}
				limit.left.Store(after)
				whole := o.Exporter
				o.Exporter = over(t, whole, cutObjects{o.objects, limit}, limit)
				err := run(t, o)
				if err == nil && limit.left.Load() >= 0 {
					break
				}
				if err != nil && !errors.Is(err, errCut) && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				o.Exporter = whole
				if err := run(t, o); err != nil {
					t.Fatalf("finishing %s after %d writes (applied %v): %v", name, after, applied, err)
				}
				_, released := o.keys()
				for _, key := range released {
					if o.objects.sums()[key] != want.objects.sums()[key] {
						t.Errorf("%s after %d writes (applied %v): %s differs", name, after, applied, key)
					}
				}
				if len(released) != len(want.objects.sums()) {
					t.Errorf("%s after %d writes (applied %v): %q are released, want %v", name, after, applied, released, want.objects.sums())
				}
			}
			if after < 10 {
				t.Errorf("only %d writes of a %s were cut off", after, name)
			}
		}
	}
}

// TestLostStaging writes again what is missing or damaged in staging.
func TestLostStaging(t *testing.T) {
	src := largeDays(56)
	readers := openBucket(t)
	for name, run := range exports {
		for _, damage := range []func(map[string][]byte, string){
			func(objects map[string][]byte, key string) { delete(objects, key) },
			func(objects map[string][]byte, key string) { objects[key] = []byte("damaged") },
		} {
			t.Run(name, func(t *testing.T) {
				peer, o := newOperator(t, "peer", src, readers), newOperator(t, "we", src, readers)
				o.needs(1, peer)
				if err := run(t, o); !errors.Is(err, ErrNotAgreed) {
					t.Fatal(err)
				}
				staging, _ := o.keys()
				damage(o.objects.objects, staging[len(staging)-1])
				if err := run(t, peer); err != nil {
					t.Fatal(err)
				}
				if err := run(t, o); err == nil {
					t.Fatal("a damaged object was published")
				}
				if err := run(t, o); err != nil {
					t.Fatal(err)
				}
				if !maps.Equal(o.objects.sums(), peer.objects.sums()) {
					t.Errorf("published are %v, the peer has %v", o.objects.sums(), peer.objects.sums())
				}
			})
		}
	}
}

// TestTwoWorkersRelease has another worker publish everything and empty staging just when
// the first one has found that an object is not released yet.
func TestTwoWorkersRelease(t *testing.T) {
	src := largeDays(57)
	readers := openBucket(t)
	for name, run := range exports {
		t.Run(name, func(t *testing.T) {
			peer, o := newOperator(t, "peer", src, readers), newOperator(t, "we", src, readers)
			o.needs(1, peer)
			if err := run(t, o); !errors.Is(err, ErrNotAgreed) {
				t.Fatal(err)
			}
			if err := run(t, peer); err != nil {
				t.Fatal(err)
			}
			other := o.Exporter
			o.Exporter = over(t, other, &interrupted{Objects: o.objects, after: func() {
				if err := run(t, &operator{Exporter: other, objects: o.objects}); err != nil {
					t.Error(err)
				}
			}}, nil)
			if err := run(t, o); err != nil {
				t.Errorf("the first worker: %v", err)
			}
			if !maps.Equal(o.objects.sums(), peer.objects.sums()) {
				t.Errorf("published are %v, the peer has %v", o.objects.sums(), peer.objects.sums())
			}
		})
	}
}

// interrupted does something after the first object that is not found.
type interrupted struct {
	Objects
	after func()
}

func (i *interrupted) Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error) {
	r, err := i.Objects.Get(ctx, key, from, to)
	if after := i.after; errors.Is(err, bucket.ErrNotFound) && after != nil {
		i.after = nil
		after()
	}
	return r, err
}

func TestAgreementNeedsPeers(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	if _, err := New(Config{Source: &memorySource{}, Catalog: catalogOf(t, &memorySource{}, ""), Objects: openMemory(nil), Log: log, Agree: 1}); err == nil {
		t.Error("one of no peers can agree")
	}
}
