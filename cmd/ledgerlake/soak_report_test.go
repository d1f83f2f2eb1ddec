package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/faults"
)

// report sums up episodes.
type report struct {
	episodes int
	kinds    map[string]int
	// without counts episodes in which no fault fired: they prove nothing and are not
	// among those that passed.
	without int
	failed  []faults.Seed
	damage  harm
	tally   faults.Tally
	// told and found count lies by name, and how they were found out.
	told  map[string]int
	found map[string]map[string]int
	// untold counts lies that never came to be told.
	untold int
	// honest counts episodes without a lie, falseAlarms those that were stopped as if
	// there had been one.
	honest, falseAlarms int
	busy                time.Duration
	printed             time.Time
}

func (r *report) take(seed faults.Seed, res result, tally *faults.Tally) {
	if r.kinds == nil {
		r.kinds, r.told, r.found = make(map[string]int), make(map[string]int), make(map[string]map[string]int)
	}
	r.episodes++
	r.kinds[res.kind]++
	r.busy += res.elapsed
	r.damage.add(res.damage)
	r.tally.Merge(tally)
	if len(res.findings) > 0 {
		r.failed = append(r.failed, seed)
	} else if res.fired == 0 {
		r.without++
	}
	switch {
	case res.kind != lieKind:
		r.honest++
		if slices.ContainsFunc(res.findings, func(f string) bool { return strings.HasPrefix(f, errFalseAlarm.Error()) }) {
			r.falseAlarms++
		}
	case res.untold:
		r.untold++
	default:
		r.told[res.lie]++
		if r.found[res.lie] == nil {
			r.found[res.lie] = make(map[string]int)
		}
		if res.found != "" {
			r.found[res.lie][res.found]++
		}
	}
}

// String is the whole report.
func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d episodes (", r.episodes)
	for i, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", r.kinds[kind], kind)
	}
	fmt.Fprintf(&b, "), %.2f s each: %d passed, %d without a fault, %d failed\n", r.busy.Seconds()/float64(max(1, r.episodes)),
		r.episodes-r.without-len(r.failed), r.without, len(r.failed))
	if len(r.failed) > 0 {
		fmt.Fprintf(&b, "seeds of the failed: %v\n", r.failed)
	}
	fmt.Fprintf(&b, "damage: %s\n", r.damage)
	fmt.Fprintf(&b, "faults fired: %d\n%s", r.tally.Total(), &r.tally)
	r.lies(&b)
	return b.String()
}

func (r *report) lies(b *strings.Builder) {
	told, found, vain := 0, 0, 0
	for lie, n := range r.told {
		told += n
		for _, m := range r.found[lie] {
			found += m
		}
		vain += r.found[lie][string(notBelieved)]
	}
	fmt.Fprintf(b, "lies detected: %d of %d; %d more changed nothing in the store, %d never came to be told; %d false alarms in %d honest episodes\n",
		found-vain, told-vain, vain, r.untold, r.falseAlarms, r.honest)
	for _, lie := range slices.Sorted(maps.Keys(r.told)) {
		n := 0
		var by []string
		for _, means := range slices.Sorted(maps.Keys(r.found[lie])) {
			n += r.found[lie][means]
			by = append(by, fmt.Sprintf("%s %d", means, r.found[lie][means]))
		}
		fmt.Fprintf(b, "%8s  %-30s %s\n", fmt.Sprintf("%d/%d", n, r.told[lie]), lie, strings.Join(by, ", "))
	}
}

// print writes the report to the test's log, or to standard error for who waits for it.
func (r *report) print(t *testing.T, waiting bool) {
	t.Helper()
	if waiting {
		fmt.Fprint(os.Stderr, r)
		return
	}
	t.Log(r)
}

// lieKind is the kind of episodes in which the upstream lies.
const lieKind = "lie"
