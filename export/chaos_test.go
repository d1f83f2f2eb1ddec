package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/published"
)

// TestExportThroughChaos has two workers export everything in both layouts, each unit by
// both at the same time, into a store that refuses every tenth request, loses replies and
// cuts bodies off. What is listed must be there whole at any time, the end must be that of
// an undisturbed export, and no upload may stay open.
func TestExportThroughChaos(t *testing.T) {
	src := largeDays(81)
	g := buckettest.Gateway(t)
	calm := buckettest.Open(t, bucketConfig(g, "calm/"))
	cut := func(c *testConfig) { c.NetworkCut, c.Layout = smallCut, published.DefaultLayout }
	alone := newTestExporter(t, src, calm, &memoryCatalog{}, cut)
	exportDue(t, alone)
	exportDueNetwork(t, alone)
	for _, agree := range []int{0, 1} {
		t.Run(fmt.Sprintf("%d peers must agree", agree), func(t *testing.T) {
			t.Parallel() // it mostly waits to try again
			proxy := buckettest.Flaky(t, g.Endpoint, faults.Seed(82+agree), faults.Rates{Errors: 0.1, Lost: 0.05, Truncated: 0.05})
			prefix := fmt.Sprintf("chaos-%d/", agree)
			direct := buckettest.Open(t, bucketConfig(g, prefix))
			segments, folders := &memoryCatalog{}, &memoryNetworkCatalog{}
			worker := func(objects Objects) *Exporter {
				e := newTestExporter(t, src, objects, segments, func(c *testConfig) {
					cut(c)
					c.Agree, c.Log = agree, slog.New(slog.DiscardHandler)
					for range agree {
						c.Peers = append(c.Peers, &operator{Exporter: alone, name: "peer"})
					}
				})
				e.catalog.Folders = folders
				return e
			}
			observer := worker(direct)
			stop := watchListing(t, observer, direct)
			var running errgroup.Group
			for range 2 {
				cfg := bucketConfig(g, prefix)
				cfg.Endpoint, cfg.MaxAttempts = proxy.URL(), 1 // what fails is for the next run
				client, err := bucket.New(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				e := worker(client)
				running.Go(func() error { return exportUntilDone(t.Context(), e) })
			}
			if err := running.Wait(); err != nil {
				t.Fatal(err)
			}
			stop()
			c, err := observer.Collect(t.Context(), direct, CollectRules{Grace: time.Nanosecond})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := stored(t, direct), stored(t, calm); !maps.Equal(got, want) {
				t.Errorf("after the collection of %+v there are %d objects, want %d, or others", c, len(got), len(want))
			}
			if v, err := observer.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
				t.Errorf("read back: %q, %v", v.Findings, err)
			}
			requests, met := proxy.Counts()
			if met < 10 || met < requests/20 {
				t.Errorf("only %d of %d requests met a fault", met, requests)
			}
			t.Logf("%d of %d requests met a fault", met, requests)
		})
	}
}

// exportUntilDone repeats what fails, as the queue does.
func exportUntilDone(ctx context.Context, e *Exporter) error {
	for range 200 {
		segments, err := e.DueSegments(ctx)
		if err != nil {
			return err
		}
		folders, err := e.catalog.DueFolders(ctx)
		if err != nil {
			return err
		}
		if len(segments)+len(folders) == 0 {
			return nil
		}
		for _, ref := range segments {
			if err := e.ExportSegment(ctx, ref); errors.Is(err, published.ErrConflict) || errors.Is(err, ErrDisagreed) {
				return err
			}
		}
		for _, ref := range folders {
			if err := e.network.Export(ctx, ref); errors.Is(err, published.ErrConflict) || errors.Is(err, ErrDisagreed) {
				return err
			}
		}
	}
	return errors.New("the export does not come to an end")
}

// watchListing checks over and over that what is listed is there with the digest that is
// listed, until stop is called.
func watchListing(t *testing.T, e *Exporter, c *bucket.Client) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	looks := 0
	watch.Go(func() {
		for ctx.Err() == nil {
			looks++
			for key, sum := range listedSums(t, e) {
				head, err := c.Head(ctx, key)
				if ctx.Err() == nil && (err != nil || fmt.Sprintf("%x", head.SHA256) != sum) {
					t.Errorf("%s is listed with SHA-256 %s, stored is %x, %v", key, sum, head.SHA256, err)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return func() {
		cancel()
		watch.Wait()
		if looks < 2 {
			t.Errorf("the listing was looked at %d times", looks)
		}
	}
}

func listedSums(t *testing.T, e *Exporter) map[string]string {
	t.Helper()
	sums := folderSums(t, e)
	for _, o := range listed(t, e) {
		sums[o.Key] = o.SHA256
	}
	return sums
}
