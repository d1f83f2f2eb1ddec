package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// newDB is a store of the test's own.
func newDB(t *testing.T) *store.DB {
	t.Helper()
	return storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
}

// newLease is the part of a process in stream scan.
func newLease(db *store.DB, process string, silence time.Duration) *Lease {
	return New(Config{
		DB: db, Log: slog.New(slog.DiscardHandler), Process: process,
		Beat: silence / 10, Valid: silence / 2, Silence: silence, Look: silence / 20,
	})
}

// acquire takes the lease, for which nobody else may be alive.
func acquire(ctx context.Context, t *testing.T, l *Lease) *Hold {
	t.Helper()
	hold, err := l.Acquire(ctx, schemas.ScanStream)
	if err != nil {
		t.Fatal(err)
	}
	return hold
}

// waiting starts to acquire a lease, and returns once it is known whom it waits for.
func waiting(t *testing.T, l *Lease) (acquired <-chan *Hold, waitsFor string) {
	t.Helper()
	got := make(chan *Hold, 1)
	go func() {
		if hold, err := l.Acquire(t.Context(), schemas.ScanStream); err == nil {
			got <- hold
		}
	}()
	for begin := time.Now(); waitsFor == ""; time.Sleep(time.Millisecond) {
		if _, waitsFor = l.State(); time.Since(begin) > time.Minute {
			t.Fatal("it waits for nobody")
		}
	}
	return got, waitsFor
}

// rows counts the signs of life of a process.
func rows(t *testing.T, db *store.DB, process string) uint64 {
	t.Helper()
	n, _, err := store.SelectOne(t.Context(), db, "SELECT count() AS n FROM leases WHERE process = {process:String}",
		store.Params{"process": store.Text(process)}, store.NewRecords[store.Count]())
	if err != nil {
		t.Fatal(err)
	}
	return n.N
}

// A lease that is released passes on at once, however long the silence is that a death takes.
func TestReleasedLeasesPassOnAtOnce(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	one, two := newLease(db, "one", time.Hour), newLease(db, "two", time.Hour)
	one.cfg.Look, two.cfg.Look = 10*time.Millisecond, 10*time.Millisecond
	// A store without signs whose server has only just been started: anybody may be alive.
	hold, err := one.Seize(t.Context(), schemas.ScanStream)
	if err != nil {
		t.Fatal(err)
	}
	acquired, waitsFor := waiting(t, two)
	if waitsFor != "one" {
		t.Errorf("it waits for %q", waitsFor)
	}
	if err := two.Check(t.Context()); !errors.Is(err, schemas.ErrReplaced) {
		t.Errorf("a process that waits may write: %v", err)
	}
	hold.Release()
	next := <-acquired
	if err := two.Check(t.Context()); err != nil {
		t.Errorf("the next one may not write: %v", err)
	}
	if held, other := two.State(); !held || other != "" {
		t.Errorf("it has the lease: %v, and waits for %q", held, other)
	}
	if err := one.Check(t.Context()); !errors.Is(err, schemas.ErrReplaced) {
		t.Errorf("the first one may write after its release: %v", err)
	}
	next.Release()
	acquire(t.Context(), t, one).Release() // nobody is waited for
}

// A holder that is silent is replaced, no earlier than it should be; when it wakes up it writes
// nothing.
func TestSilentHoldersAreReplaced(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const silence = time.Second
	one, two := newLease(db, "one", silence), newLease(db, "two", silence)
	ctx, kill := context.WithCancel(t.Context())
	first := acquire(ctx, t, one)
	acquired, _ := waiting(t, two)
	kill() // it shows no more life, and releases nothing
	<-first.ended
	last := first.sent
	second := <-acquired
	if took := time.Since(last); took < silence {
		t.Errorf("it was replaced %s after its last sign of life, before %s", took, silence)
	}
	before := rows(t, db, "one")
	fenced := db.Fenced(one.Check)
	for first.isValid() { // the machine may be slow, or fast
		time.Sleep(time.Millisecond)
	}
	block := store.NewRecords[store.LeaseRow]()
	block.Append(store.LeaseRow{Process: "one"})
	if err := fenced.Insert(t.Context(), "leases", "", block); !errors.Is(err, schemas.ErrReplaced) {
		t.Errorf("the one that was replaced inserts: %v", err)
	}
	if err := fenced.Exec(t.Context(), "TRUNCATE TABLE leases", "", nil); !errors.Is(err, schemas.ErrReplaced) {
		t.Errorf("the one that was replaced executes a statement: %v", err)
	}
	if after := rows(t, db, "one"); after != before {
		t.Errorf("it wrote %d signs of life after it was replaced", after-before)
	}
	if !first.Taken(t.Context()) || !errors.Is(context.Cause(second.Context()), nil) {
		t.Error("the first one does not know that its lease was taken, or the second one has lost it")
	}
	second.Release()
}

// A holder whose last sign is too old shows life before it writes, and may go on if nobody has taken
// over.
func TestSlowHoldersGoOn(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	one := newLease(db, "one", time.Minute)
	one.cfg.Beat = time.Hour
	hold := acquireYoung(t, one)
	defer hold.Release()
	before := rows(t, db, "one")
	if err := one.Check(t.Context()); err != nil || rows(t, db, "one") != before {
		t.Errorf("a recent sign is not enough: %v, %d more signs", err, rows(t, db, "one")-before)
	}
	hold.mu.Lock()
	hold.sent = hold.sent.Add(-time.Hour)
	hold.mu.Unlock()
	if err := one.Check(t.Context()); err != nil || rows(t, db, "one") != before+1 {
		t.Errorf("nobody else is there, and it may not write: %v, %d more signs", err, rows(t, db, "one")-before)
	}
}

// acquireYoung takes the lease of a store whose server may have been started just now.
func acquireYoung(t *testing.T, l *Lease) *Hold {
	t.Helper()
	hold, err := l.Seize(t.Context(), schemas.ScanStream)
	if err != nil {
		t.Fatal(err)
	}
	return hold
}

// Signs of life are in the memory of the server: without them who waits gives the holder the time to
// show life again.
func TestLostSignsReplaceNobody(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const silence = 2 * time.Second
	one, two := newLease(db, "one", silence), newLease(db, "two", silence)
	hold := acquireYoung(t, one)
	acquired, _ := waiting(t, two)
	for range 3 {
		if err := db.Exec(t.Context(), "TRUNCATE TABLE leases", "", nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-acquired:
			t.Fatal("a holder that lives was replaced")
		case <-time.After(silence):
		}
	}
	if err := one.Check(t.Context()); err != nil {
		t.Errorf("the holder may not write: %v", err)
	}
	hold.Release()
	(<-acquired).Release()
}

// Who seizes a lease gets it from a holder that lives, and begins when that has ended.
func TestSeizedLeasesAreLost(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const silence = 4 * time.Second
	one, two := newLease(db, "one", silence), newLease(db, "two", silence)
	first := acquireYoung(t, one)
	begin := time.Now()
	second, err := two.Seize(t.Context(), schemas.ScanStream)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < two.cfg.Valid {
		t.Errorf("it begins after %s, when the other one may still write for %s", took, two.cfg.Valid-took)
	}
	<-first.Context().Done()
	if err := context.Cause(first.Context()); !errors.Is(err, schemas.ErrReplaced) {
		t.Errorf("the first one ended with %v", err)
	}
	if err := one.Check(t.Context()); !errors.Is(err, schemas.ErrReplaced) {
		t.Errorf("the first one may write: %v", err)
	}
	first.Release()
	second.Release()
}

// statement is when a process asked whether it might write, and when it wrote.
type statement struct {
	process           string
	asked, begin, end time.Time
}

// TestTwoNeverWrite has several processes take leases, release them, die, and sleep while they write,
// at random, and makes sure that none writes while another one does.
func TestTwoNeverWrite(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	const silence = 300 * time.Millisecond
	var mu sync.Mutex
	var statements []statement
	holds, lost := 0, 0
	// A busy machine lets few processes hold a lease for long.
	const usual, most = 6 * time.Second, time.Minute
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	var all sync.WaitGroup
	for i := range 5 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for life := 0; ctx.Err() == nil; life++ {
				l := newLease(db, fmt.Sprintf("process %d, life %d", i, life), silence)
				wrote, replaced := oneLife(ctx, l, random)
				mu.Lock()
				statements = append(statements, wrote...)
				if len(wrote) > 0 {
					holds++
				}
				if replaced {
					lost++
				}
				if holds >= 5 && lost > 0 && time.Since(begun) > usual {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d statements, %d leases, %d of them lost", len(statements), holds, lost)
	if holds < 5 || lost == 0 {
		t.Errorf("%d leases, %d of them lost: want some of both", holds, lost)
	}
	// A statement that takes as long as a lease is good for longer than it is valid may meet the next
	// holder: only a busy machine makes one here.
	statements = slices.DeleteFunc(statements, func(s statement) bool { return s.end.Sub(s.asked) > silence/2 })
	slices.SortFunc(statements, func(a, b statement) int { return a.begin.Compare(b.begin) })
	for i := 1; i < len(statements); i++ {
		if a, b := statements[i-1], statements[i]; a.process != b.process && b.begin.Before(a.end) {
			t.Errorf("%s writes while %s does, %s before its end", b.process, a.process, a.end.Sub(b.begin))
		}
	}
}

// oneLife takes the lease, writes for a while and ends in one of several ways.
func oneLife(ctx context.Context, l *Lease, random *rand.Rand) (wrote []statement, replaced bool) {
	ctx, die := context.WithCancel(ctx)
	defer die()
	hold, err := l.Acquire(ctx, schemas.ScanStream)
	if err != nil {
		return nil, false
	}
	for range random.IntN(30) {
		if random.IntN(20) == 0 {
			hold.showing.Lock() // what shows life sleeps as well
			time.Sleep(time.Duration(random.Int64N(int64(2 * l.cfg.Silence))))
			hold.showing.Unlock()
		}
		asked := time.Now()
		if err := l.Check(ctx); err != nil {
			replaced = errors.Is(err, schemas.ErrReplaced)
			break
		}
		begin := time.Now()
		time.Sleep(time.Millisecond)
		wrote = append(wrote, statement{l.cfg.Process, asked, begin, time.Now()})
	}
	if random.IntN(2) == 0 {
		hold.Release()
		return wrote, replaced
	}
	die() // without a word
	<-hold.ended
	return wrote, replaced
}
