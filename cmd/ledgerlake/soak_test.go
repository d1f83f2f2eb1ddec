package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// soakOptions come from the environment, as `make soak` sets it.
type soakOptions struct {
	episodes int
	seed     faults.Seed // of the first episode; the others follow
	verbose  bool        // print plans, and diaries of failures
	progress bool        // print how far it is
}

const (
	soakEpisodesEnv = "LEDGERLAKE_SOAK_EPISODES"
	soakSeedEnv     = "LEDGERLAKE_SOAK_SEED"
	soakVerboseEnv  = "LEDGERLAKE_SOAK_VERBOSE"

	// soakFirst is the first seed of an ordinary run, so that there are episodes of all kinds but of
	// clients that leave, which take minutes, and of kills, which TestKillAtAnyMoment has.
	soakFirst = 27
	// soakers is how many episodes run at a time: most of an episode is waiting.
	soakers = 8
)

func readSoakOptions(t *testing.T) soakOptions {
	t.Helper()
	o := soakOptions{episodes: schematest.Rounds(9, 200), seed: soakFirst, verbose: os.Getenv(soakVerboseEnv) != ""}
	if text := os.Getenv(soakEpisodesEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, not a number of episodes", soakEpisodesEnv, text)
		}
		o.episodes, o.progress = n, true
	}
	if text := os.Getenv(soakSeedEnv); text != "" {
		n, err := strconv.ParseUint(text, 10, 62)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, not a seed: a number from 1 on", soakSeedEnv, text)
		}
		o.seed = faults.Seed(n)
	}
	return o
}

// TestSoak runs the product through faults, stops and lies, an episode per seed, and
// compares what it stored and published with undisturbed runs.
//
//	make soak EPISODES=1000                   many seeds
//	make soak SEED=123 EPISODES=1 VERBOSE=1   one of them again
func TestSoak(t *testing.T) {
	t.Parallel()
	options := readSoakOptions(t)
	begun := time.Now()
	l := newLab(t)
	t.Logf("the undisturbed runs took %s: %d requests and %d engine turns each", time.Since(begun).Round(time.Millisecond), l.extent.Requests, l.extent.EngineTurns)
	s := &soak{t: t, lab: l, options: options, begun: time.Now()}
	s.run()
	s.report.print(t, options.progress)
}

// soak runs the episodes and gathers their results.
type soak struct {
	t       *testing.T
	lab     *lab
	options soakOptions
	begun   time.Time

	mu     sync.Mutex
	report report
}

func (s *soak) run() {
	seeds := make(chan faults.Seed)
	var running sync.WaitGroup
	for range min(soakers, s.options.episodes) {
		running.Go(func() {
			for seed := range seeds {
				s.episode(seed)
			}
		})
	}
	for i := range s.options.episodes {
		seeds <- s.options.seed + faults.Seed(i)
	}
	close(seeds)
	running.Wait()
}

// episode runs the episode of a seed and takes its result in.
func (s *soak) episode(seed faults.Seed) {
	begun := time.Now()
	ctx := s.t.Context()
	res, ep := s.lab.runSeed(ctx, seed)
	res.elapsed = time.Since(begun)
	if err := ep.close(); err != nil {
		res.findings = append(res.findings, err.Error())
	}
	// A failed episode's database stays, to look into, until the engine ends.
	if len(res.findings) == 0 {
		if err := s.lab.dropDatabase(ctx, ep.database); err != nil {
			res.findings = append(res.findings, err.Error())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.take(seed, res, &ep.tally)
	if s.options.verbose {
		s.t.Logf("%s episode, %s, %s\n%sfired:\n%sfindings: %q", res.kind, res.elapsed, ep.configured(), ep.plan, &ep.tally, res.findings)
	}
	if len(res.findings) > 0 {
		s.t.Errorf("seed %d (%s): %q\nrun it again with: make soak SEED=%d EPISODES=1 VERBOSE=1\n%s", seed, res.kind, res.findings, seed, ep.plan)
	}
	// What depends on timing may not come again, so a failure's diary is always kept.
	if len(res.findings) > 0 || s.options.verbose && s.options.episodes == 1 {
		s.t.Logf("diary of seed %d:\n%s", seed, ep.diary.String())
	}
	if s.options.progress {
		s.progress()
	}
}

// progress prints one line every few seconds.
func (s *soak) progress() {
	done, all := s.report.episodes, s.options.episodes
	if time.Since(s.report.printed) < 5*time.Second && done < all {
		return
	}
	s.report.printed = time.Now()
	elapsed := time.Since(s.begun)
	eta := time.Duration(float64(elapsed) / float64(done) * float64(all-done))
	fmt.Fprintf(os.Stderr, "soak: %d of %d episodes, %d failed, %.2f s each, ETA %s\n",
		done, all, len(s.report.failed), elapsed.Seconds()/float64(done), eta.Round(time.Second))
}

// runSeed runs the episode that belongs to a seed: of a hundred seeds a quarter are lies,
// every lie in turn, of scan services and of nodes; some ten are exports, some fifteen read
// a node, one kills real processes, and four are people: clients that leave early, and commands
// that are stopped.
func (l *lab) runSeed(ctx context.Context, seed faults.Seed) (result, *episode) {
	lies, whole := faults.Lies(), l.shards == nil // of what has an engine of its own, there are no shards
	switch {
	case whole && seed%50 == 25:
		return l.runLeavingClients(ctx, seed)
	case whole && seed%50 == 35:
		return l.runOperator(ctx, seed)
	case seed%8 == 7:
		return l.runNodeLie(ctx, seed, int(seed/8))
	case seed%8 == 3:
		n := int(seed / 8)
		return l.runLie(ctx, seed, lies[n%len(lies)], company(n/len(lies)%int(companions)))
	case whole && seed%100 == 50:
		return l.runKill(ctx, seed, seed%200 > 100)
	case seed%10 == 0:
		return l.runExport(ctx, seed)
	case seed%5 == 2:
		return l.runNode(ctx, seed)
	default:
		return l.runIngest(ctx, seed)
	}
}
