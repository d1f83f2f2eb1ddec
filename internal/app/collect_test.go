package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestWorkerCollectsGarbage has a worker remove what was left over, once per interval.
func TestWorkerCollectsGarbage(t *testing.T) {
	s := openTestApp(t)
	const hours = 3600 * 1e6
	ingestItems(t, s, schematest.New(schematest.Config{Seed: 3, Items: 10, Migrations: 1, Step: 5 * hours}).Items)
	e, err := s.objects.newExporter()
	if err != nil {
		t.Fatal(err)
	}
	exportAll(t, e)
	segments, err := s.objects.catalog.PublishedSegments(t.Context(), schemas.MinMicros, schemas.MaxMicros)
	if err != nil || len(segments) == 0 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	var objects int64
	for i := range segments {
		objects += segments[i].Objects
	}
	over := schemas.ObjectKey(segments[0].Ref().Tables()[0], segments[0].Ref(), 99)
	content := []byte("left over")
	if err := s.objects.bucket.Put(t.Context(), over, bytes.NewReader(content), int64(len(content)), sha256.Sum256(content), ""); err != nil {
		t.Fatal(err)
	}
	s.p.cfg.GCGrace = time.Nanosecond // younger than allowed outside of tests
	garbage, err := s.objects.newCollections()
	if err != nil {
		t.Fatal(err)
	}
	if due, err := garbage.CollectionDue(t.Context()); err != nil || !due {
		t.Errorf("before the first collection it is due: %v, %v", due, err)
	}
	worker, err := s.worker.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- worker(ctx) }()
	for due := true; due && t.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
		if due, err = garbage.CollectionDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if sums := sumsOf(t, s); sums[over] != [32]byte{} {
		t.Errorf("%s is still there", over)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 || v.ObjectsChecked < objects {
		t.Errorf("after the collection: %+v, %v", v, err)
	}
	if done, err := s.objects.collect(t.Context()); err != nil || done.Objects != 0 {
		t.Errorf("a second collection removed %d objects, %v", done.Objects, err)
	}
}
