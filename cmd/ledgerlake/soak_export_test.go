package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// exporting is an episode that publishes the undisturbed history. It reads from the
// database of the undisturbed run, and has a catalogue of segments, a part of the
// bucket and a queue of its own.
type exporting struct {
	*episode
	bucket *faults.TCP
	redis  *faults.TCP // nil: the queue is within the process
	temp   string
}

// exportLife bounds a life with faults. A worker that dies keeps its tasks for half a
// minute; an operator who waits less starts over with an empty queue, and so do we.
const exportLife = 2500 * time.Millisecond

func (l *lab) newExporting(seed faults.Seed, plan faults.Plan) (*exporting, error) {
	ep := &exporting{episode: l.newEpisode(seed, plan)}
	ep.shape.source = scan.Events
	var err error
	if ep.temp, err = os.MkdirTemp(l.dir, "export-"); err != nil {
		return ep, fmt.Errorf("making a folder for objects: %w", err)
	}
	proxy := func(name, target string, planned []faults.TCPFault) (*faults.TCP, error) {
		p, err := faults.NewTCP(faults.TCPConfig{Name: name, Target: target, Faults: planned, Fragile: name == "engine", Tally: &ep.tally})
		if err == nil {
			ep.closers = append(ep.closers, p.Close)
		}
		return p, err
	}
	if ep.engine, err = proxy("engine", l.address, plan.Engine); err != nil {
		return ep, err
	}
	store, err := url.Parse(l.gateway.Endpoint)
	if err != nil {
		return ep, fmt.Errorf("reading the gateway's address: %w", err)
	}
	if ep.bucket, err = proxy("bucket", store.Host, plan.Bucket); err != nil {
		return ep, err
	}
	if l.redis != "" && seed%2 == 0 {
		ep.redis, err = proxy("redis", l.redis, plan.Redis)
	}
	return ep, err
}

// publish runs the worker from one stop to the next, and in the end without faults until
// nothing is due. All errors it returns are findings.
func (ep *exporting) publish(ctx context.Context) error {
	if err := ep.create(ctx, ep.database, "segments", "network_folders"); err != nil {
		return err
	}
	for i := range ep.plan.Stops {
		err := ep.publishUntil(ctx, &ep.plan.Stops[i], exportLife)
		ep.diary.note("life %d ended: %v", i+1, err)
		if errors.Is(err, errFalseAlarm) {
			return err
		}
		if err := ep.loseQueue(ctx); err != nil {
			return err
		}
	}
	err := ep.publishUntil(ctx, nil, exportLife)
	ep.diary.note("last life with faults ended: %v", err)
	if errors.Is(err, errFalseAlarm) {
		return err
	}
	if err := ep.loseQueue(ctx); err != nil {
		return err
	}
	for _, p := range ep.proxies() {
		p.Pass()
	}
	if err := ep.publishUntil(ctx, nil, lifeTimeout); err != nil {
		return fmt.Errorf("life without faults: %w", err)
	}
	return nil
}

func (ep *exporting) proxies() []*faults.TCP {
	proxies := []*faults.TCP{ep.engine, ep.bucket}
	if ep.redis != nil {
		proxies = append(proxies, ep.redis)
	}
	return proxies
}

// publishUntil is one life of the worker.
func (ep *exporting) publishUntil(ctx context.Context, stop *faults.Stop, most time.Duration) error {
	alive, die := context.WithCancelCause(ctx)
	defer die(nil)
	timer := time.AfterFunc(most, func() { die(errHangs) })
	defer timer.Stop()
	var watch sync.WaitGroup
	ended := make(chan struct{})
	if stop != nil {
		turn := ep.engine.Turn(ep.engine.Turns() + stop.Turn)
		watch.Go(func() {
			select {
			case <-turn:
				if !stop.Gentle {
					for _, p := range ep.proxies() {
						p.Kill()
					}
				}
				ep.tally.Add("worker: " + map[bool]string{true: "stop", false: "kill"}[stop.Gentle])
				die(errKilled)
			case <-ended:
			}
		})
	}
	err := ep.work(alive)
	cause := context.Cause(alive)
	close(ended)
	watch.Wait()
	for _, p := range ep.proxies() {
		p.Revive()
	}
	if cause != nil && !errors.Is(err, errFalseAlarm) {
		return cause
	}
	return err
}

// work is what the worker does in one life, until nothing is due.
func (ep *exporting) work(ctx context.Context) (err error) {
	log := ep.logger()
	source := ep.truths[scan.Events].database
	db, err := ep.lab.open(ctx, source, ep.engine.Addr())
	if err != nil {
		return err
	}
	defer db.Close()
	tables, err := ep.lab.open(ctx, ep.database, ep.engine.Addr())
	if err != nil {
		return err
	}
	defer tables.Close()
	objects, err := ep.client(ctx, ep.bucket.Addr())
	if err != nil {
		return err
	}
	reader := history.NewReader(db, schemas.ScanStream)
	catalog, err := published.New(published.Config{Tables: published.InStore(tables, schemas.ScanStream), History: reader})
	if err != nil {
		return err
	}
	exporter, err := export.New(export.Config{
		Source: reader, Catalog: catalog, Objects: objects, TempDir: ep.temp, Log: log, PageRows: 100,
	})
	if err != nil {
		return err
	}
	queue, err := jobs.Open(ctx, jobs.Config{
		RedisURL: ep.redisURL(), Log: log, Rescan: 200 * time.Millisecond, Drain: 100 * time.Millisecond,
		Backoff: func(int) time.Duration { return soakPoll },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, queue.Close()) }()
	work := app.NewExportJobs(exporter, ep.temp, []string{settings.LayoutParquet, settings.LayoutNetwork})
	if err := queue.Register(work.Handlers()...); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- queue.Run(running) }()
	err = ep.awaitNothingDue(ctx, queue, work)
	stop()
	return errors.Join(err, <-ran)
}

// awaitNothingDue waits until all closed days are published. A job that gives up for
// good is a finding: nothing was wrong but connections.
func (ep *exporting) awaitNothingDue(ctx context.Context, queue *jobs.Queue, work app.ExportJobs) error {
	for ctx.Err() == nil {
		left, err := work.Due(ctx)
		if err == nil && len(left) == 0 {
			return nil
		}
		if err != nil {
			ep.diary.note("listing what is due: %v", err)
		}
		if dead, err := queue.Dead(ctx); err == nil && len(dead) > 0 {
			return fmt.Errorf("%w: %s: %s", errFalseAlarm, dead[0].ID, dead[0].LastError)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lifetimesPoll):
		}
	}
	return context.Cause(ctx)
}

// client opens the episode's part of the bucket.
func (ep *exporting) client(ctx context.Context, address string) (*bucket.Client, error) {
	cfg := ep.gateway.Config(soakBucket)
	cfg.Endpoint, cfg.Prefix = "http://"+address, ep.database
	cfg.Timeouts = bucket.Timeouts{Connect: time.Second, Stall: time.Second, Call: 5 * time.Second}
	return bucket.New(ctx, cfg)
}

func (ep *exporting) redisURL() string {
	if ep.redis == nil {
		return ""
	}
	return fmt.Sprintf("redis://%s/%d", ep.redis.Addr(), ep.seed%redisDatabases)
}

// loseQueue empties the episode's database of Redis: a lost queue loses no work.
func (ep *exporting) loseQueue(ctx context.Context) error {
	if ep.redis == nil {
		return nil
	}
	client := redis.NewClient(&redis.Options{Addr: ep.lab.redis, DB: int(ep.seed % redisDatabases)})
	defer client.Close()
	if err := client.FlushDB(ctx).Err(); err != nil {
		return fmt.Errorf("emptying the queue: %w", err)
	}
	return nil
}

// published returns the digests of the episode's objects by key, read back whole.
func (ep *exporting) published(ctx context.Context) (map[string]string, error) {
	client, err := ep.client(ctx, ep.bucket.Addr())
	if err != nil {
		return nil, err
	}
	return digestsIn(ctx, client)
}

// digestsIn returns the digests of all objects of a client by key, read back whole.
func digestsIn(ctx context.Context, client *bucket.Client) (map[string]string, error) {
	digests := make(map[string]string)
	for object, err := range client.All(ctx, "") {
		if err != nil {
			return nil, err
		}
		reader, err := client.Get(ctx, object.Key, 0, -1)
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		_, err = io.Copy(h, reader)
		if err := errors.Join(err, reader.Close()); err != nil {
			return nil, fmt.Errorf("reading %s: %w", object.Key, err)
		}
		digests[object.Key] = fmt.Sprintf("%x", h.Sum(nil))
	}
	return digests, nil
}

// catalogued returns how many segments and folders the catalogues list, and how often one is
// listed again under the same version with other objects, which never may be.
func (ep *exporting) catalogued(ctx context.Context) (segments, doubled uint64, err error) {
	query := fmt.Sprintf(`SELECT uniqExact(unit), toUInt64(countIf(n > 1)) FROM
		(SELECT unit, version, uniqExact(content) AS n FROM
			(SELECT concat(toString(migration_id), ':', segment_date) AS unit, version, manifest_sha256 AS content
			FROM %[1]s.segments WHERE state = 'published'
			UNION ALL
			SELECT concat(kind, toString(start_time)) AS unit, version, objects AS content
			FROM %[1]s.network_folders WHERE state = 'published')
		GROUP BY ALL)`, ep.database)
	err = ep.awaitShards(ctx, func() error { return ep.admins[0].QueryRow(ctx, query).Scan(&segments, &doubled) })
	if err != nil {
		return 0, 0, fmt.Errorf("reading the catalogue: %w", err)
	}
	return segments, doubled, nil
}

// prepareExport publishes the history undisturbed.
func (l *lab) prepareExport(t *testing.T) {
	t.Helper()
	ep, err := l.newExporting(0, faults.Plan{})
	if err == nil {
		err = ep.publish(t.Context())
	}
	if err != nil {
		t.Fatalf("undisturbed export: %v", err)
	}
	if l.objects, err = ep.published(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.segments, _, err = ep.catalogued(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(l.objects) < 10 || l.segments < 3 {
		t.Fatalf("an undisturbed export published %d objects of %d segments: too few to compare with", len(l.objects), l.segments)
	}
	// An undisturbed export is over in the first life; of the second there is only the
	// look at what is due.
	l.extent.BucketTurns = ep.bucket.Turns()
	l.exportTurns = ep.engine.Turns()
	if ep.redis != nil {
		l.extent.RedisTurns = ep.redis.Turns()
	}
	if err := ep.close(); err != nil {
		t.Fatal(err)
	}
}

// runExport is an episode with an undisturbed history and disturbed services.
func (l *lab) runExport(ctx context.Context, seed faults.Seed) (result, *episode) {
	res := result{kind: "export"}
	plan := faults.NewPlan(seed, faults.Extent{EngineTurns: l.exportTurns, BucketTurns: l.extent.BucketTurns, RedisTurns: l.extent.RedisTurns})
	ep, err := l.newExporting(seed, plan)
	if err == nil {
		err = ep.publish(ctx)
	}
	if err == nil {
		err = ep.checkPublished(ctx, &res)
	}
	if err != nil {
		res.findings = append(res.findings, err.Error())
	}
	res.fired = ep.tally.Total()
	return res, ep.episode
}

// compareObjects compares digests of objects with those of an undisturbed export.
func (l *lab) compareObjects(got map[string]string, res *result) {
	for _, key := range slices.Sorted(maps.Keys(l.objects)) {
		if got[key] != l.objects[key] {
			res.findings = append(res.findings, fmt.Sprintf("object %s has digest %q, want %s", key, got[key], l.objects[key]))
			res.damage.changed++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if l.objects[key] == "" {
			res.findings = append(res.findings, "there is an object "+key+" that an undisturbed export does not make")
			res.damage.doubled++
		}
	}
}

func (ep *exporting) checkPublished(ctx context.Context, res *result) error {
	got, err := ep.published(ctx)
	if err != nil {
		return err
	}
	ep.lab.compareObjects(got, res)
	segments, doubled, err := ep.catalogued(ctx)
	if err != nil {
		return err
	}
	if segments != ep.segments || doubled > 0 {
		res.findings = append(res.findings, fmt.Sprintf("the catalogues list %d segments and folders, %d in two versions of one number, want %d", segments, doubled, ep.segments))
		res.damage.lost += ep.segments - min(segments, ep.segments)
	}
	return nil
}
