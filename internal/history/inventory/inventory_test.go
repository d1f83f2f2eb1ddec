package inventory_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/inventory"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// TestInventory compares counts with what history itself has, at its end and in the middle of it.
func TestInventory(t *testing.T) {
	s := consoletest.NewStore(t, devnet.Config{Updates: 500, Seed: 4, Days: 3})
	reader, inv := history.NewReader(s.DB, schemas.ScanStream), inventory.NewReader(s.DB, schemas.ScanStream)
	end, err := reader.Watermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	updates, err := reader.Updates(t.Context(), history.Range{After: schemas.Start, Through: end, Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []schemas.Micros{end.RecordTime, updates[len(updates)*3/4].RecordTime} {
		migration := end.MigrationID
		transfers, events, ended := map[string]int64{}, map[string]int64{}, map[string]int64{}
		created := map[string]bool{}
		for _, u := range updates {
			if u.RecordTime > at {
				continue
			}
			own := map[string]bool{}
			for _, e := range u.Events {
				name := e.PackageName + ":" + template.Entity(e.TemplateID)
				events[e.PackageName]++
				if e.Kind == schemas.Created {
					own[e.ContractID], created[name] = true, true
					continue
				}
				if strings.HasSuffix(name, ":AmuletRules") {
					transfers[e.Choice]++
				}
				if e.Consuming && !own[e.ContractID] {
					ended[name]++
				}
			}
		}
		list, err := inv.Templates(t.Context(), migration, at)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]inventory.Template{}
		for _, one := range list {
			found[one.Name] = one
			if !strings.HasPrefix(one.Name, "harbor") && one.Ended != ended[one.Name] { // those are reassigned, too
				t.Errorf("at %s %d contracts of %s have ended, want %d", at, one.Ended, one.Name, ended[one.Name])
			}
		}
		if len(found) < 20 || found[template.OpenMiningRound].Live < 1 || found[template.Coin].Live == 0 {
			t.Errorf("at %s there are %d templates, and %+v", at, len(found), found[template.OpenMiningRound])
		}
		one, err := inv.Templates(t.Context(), migration, at, template.Coin)
		if err != nil || len(one) != 1 || one[0] != found[template.Coin] {
			t.Errorf("of the coin there are %+v, %v; want %+v", one, err, found[template.Coin])
		}
		choices, err := inv.Choices(t.Context(), at, template.CoinRules)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			transfers[c.Name] -= c.Times
			if c.Last > at {
				t.Errorf("at %s choice %s was exercised at %s", at, c.Name, c.Last)
			}
		}
		for name, rest := range transfers {
			if rest != 0 {
				t.Errorf("at %s choice %s was counted by %d too little", at, name, rest)
			}
		}
		packages, err := inv.Packages(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packages {
			events[p.Name] -= p.Events
			if len(p.ID) != 64 || p.First > p.Last || p.Last > at || p.Templates < 1 {
				t.Errorf("package %+v", p)
			}
		}
		for name, rest := range events {
			if rest != 0 {
				t.Errorf("at %s package %s has %d more events", at, name, rest)
			}
		}
	}
	if kept, err := inv.Kept(t.Context()); err != nil || len(kept) > 0 {
		t.Errorf("a store without packages has %v, %v", kept, err)
	}
	if typed, err := inv.Typed(t.Context(), template.Coin); err != nil || len(typed) > 0 {
		t.Errorf("a store without typed tables has %v, %v", typed, err)
	}
}
