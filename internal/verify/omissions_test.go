package verify_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// omission is something that a sole upstream leaves out, always and for good, of one item.
type omission struct {
	name string
	// of selects the items that it can be left out of.
	of func(it *schemas.Item) bool
	// leave changes what is left of the item; false if nothing is.
	leave func(it *schemas.Item) bool
	// found is whether verification must find it: always, never, or where history that comes
	// after contradicts it.
	found knowledge
}

type knowledge int

const (
	never knowledge = iota
	sometimes
	always
)

func accepted(it *schemas.Item) bool {
	return it.Verdict != nil && it.Verdict.Result == "VERDICT_RESULT_ACCEPTED"
}

func transaction(it *schemas.Item) bool {
	return it.Update != nil && !it.Update.IsImport() && it.Update.Kind == schemas.Transaction
}

func gone(*schemas.Item) bool { return false }

var omissions = []omission{
	{"a transaction, its verdict kept", transaction, func(it *schemas.Item) bool { it.Update = nil; return true }, always},
	{"a verdict, its transaction kept", transaction, func(it *schemas.Item) bool {
		it.Verdict, it.Traffic, it.AppActivity = nil, nil, nil
		return true
	}, always},
	{"a contract that was carried over", func(it *schemas.Item) bool { return it.Update != nil && it.Update.IsImport() }, gone, sometimes},
	{"a transaction with its verdict", transaction, gone, sometimes},
	{"a reassignment", func(it *schemas.Item) bool { return it.Update != nil && it.Update.Reassignment != nil }, gone, sometimes},
	{"an accepted verdict of a private transaction", func(it *schemas.Item) bool { return it.Update == nil && accepted(it) }, gone, never},
	{"a rejected verdict", func(it *schemas.Item) bool { return it.Update == nil && !accepted(it) }, gone, never},
	{"a traffic summary", func(it *schemas.Item) bool { return it.Traffic != nil }, func(it *schemas.Item) bool { it.Traffic = nil; return true }, never},
	{"app activity", func(it *schemas.Item) bool { return it.AppActivity != nil }, func(it *schemas.Item) bool { it.AppActivity = nil; return true }, never},
}

// without is a history without what is left out of item i.
func (o *omission) without(items []schemas.Item, i int) []schemas.Item {
	left := items[i]
	if !o.leave(&left) {
		return slices.Delete(slices.Clone(items), i, i+1)
	}
	list := slices.Clone(items)
	list[i] = left
	return list
}

// subjects are some of the items that it can be left out of, none of the last ones: what a
// history ends with, nothing that comes after can contradict.
func (o *omission) subjects(r *rand.Rand, items []schemas.Item, n int) []int {
	var fit []int
	for i := range items[:len(items)*9/10] {
		if o.of(&items[i]) && i > 0 {
			fit = append(fit, i)
		}
	}
	r.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	return fit[:min(n, len(fit))]
}

// What a sole upstream leaves out for good is found where what is left contradicts itself.
// LEDGERLAKE_OMISSIONS is how many of each kind are left out, for the table of
// docs/operations.md; a few by default.
func TestOmissionsOfASoleUpstream(t *testing.T) {
	each, err := strconv.Atoi(cmp.Or(os.Getenv("LEDGERLAKE_OMISSIONS"), "1"))
	if err != nil {
		t.Fatal(err)
	}
	const perSeed = 10 // of each kind
	f := newFixture(t)
	found, told := make([]int, len(omissions)), make([]int, len(omissions))
	by := make([]map[string]int, len(omissions))
	for seed := uint64(1); seed <= uint64((each+perSeed-1)/perSeed); seed++ {
		_, items := network(t, devnet.Config{Updates: 500, Seed: seed, Days: 3})
		r := rand.New(rand.NewPCG(seed, 0))
		if checks := f.foundWith(t, items); len(checks) > 0 {
			t.Fatalf("seed %d: nothing is left out, and checks %v find something", seed, checks)
		}
		for k := range omissions {
			o := &omissions[k]
			if by[k] == nil {
				by[k] = make(map[string]int)
			}
			for _, i := range o.subjects(r, items, min(each, perSeed)) {
				told[k]++
				checks := f.foundWith(t, o.without(items, i))
				for _, check := range checks {
					by[k][check]++
				}
				if len(checks) > 0 {
					found[k]++
				}
				if o.found == always && len(checks) == 0 || o.found == never && len(checks) > 0 {
					t.Errorf("seed %d: %s is left out at %s: found by %v", seed, o.name, items[i].Position(), checks)
				}
			}
		}
	}
	for k, o := range omissions {
		t.Logf("%s: %d of %d found, by %v", o.name, found[k], told[k], by[k])
		if told[k] == 0 {
			t.Errorf("%s was never left out", o.name)
		}
	}
}

// foundWith names the checks that find something wrong in a store of the items alone.
func (f *fixture) foundWith(t *testing.T, items []schemas.Item) []string {
	t.Helper()
	for _, table := range append([]string{"contract_ends"}, tables...) {
		f.exec(t, "TRUNCATE TABLE IF EXISTS "+table)
	}
	f.write(t, items, 2000)
	var names []string
	checks := withoutIndexes // which ask the store about what it has, and nothing about what it lacks
	if schematest.Long() {
		checks = append(slices.Clone(checks), verify.Indexes)
	}
	for _, c := range f.verify(t, verify.Config{Checks: checks, SkipDigests: true}).Checks {
		if !c.OK {
			names = append(names, c.Name)
			if testing.Verbose() {
				t.Log(strings.TrimSpace(fmt.Sprint(c.Findings[0])))
			}
		}
	}
	return names
}

// Ingest may be anywhere when verification looks, also among the imports of a migration: what
// is still to come is not missing.
func TestHistoryUnderWayHasNoFindings(t *testing.T) {
	f := newFixture(t)
	_, items := network(t, devnet.Config{Updates: 300, Seed: 26, Days: 1})
	first := slices.IndexFunc(items, func(it schemas.Item) bool { return it.Update != nil && it.Update.IsImport() })
	imports := 0
	for items[first+imports].Position().RecordTime == schemas.MinMicros {
		imports++
	}
	for _, end := range []int{first / 2, first, first + imports/2, first + imports, first + imports + 1} {
		if checks := f.foundWith(t, items[:end]); len(checks) > 0 {
			t.Errorf("history up to item %d of %d, imports from %d to %d: found by %v", end, len(items), first, first+imports, checks)
		}
	}
}
