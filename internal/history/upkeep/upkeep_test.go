package upkeep

import (
	"math"
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// TestRead asks a server with a batch written just now.
func TestRead(t *testing.T) {
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	r, err := Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if r.Server.Version == "" || r.Server.Memory <= 0 || len(r.Disks) == 0 || r.Disks[0].Total < r.Disks[0].Free || r.Disks[0].Free <= 0 || !math.IsInf(r.Forecast.Left, 1) {
		t.Errorf("an empty store is %+v", r)
	}
	b := store.NewRecords[store.CollectionRow]()
	b.Append(store.CollectionRow{Stream: schemas.ScanStream})
	if err := db.Insert(t.Context(), "collections", "", b); err != nil {
		t.Fatal(err)
	}
	if r, err = Read(t.Context(), db); err != nil || len(r.Tables) == 0 || r.Bytes <= 0 {
		t.Errorf("with a row it is %+v, %v", r, err)
	}
}

// TestForecast holds that growth is a share of all bytes, and that what does not grow never fills a disk.
func TestForecast(t *testing.T) {
	disks := []Disk{{Name: "a", Free: 1000}, {Name: "b", Free: 500}}
	for name, c := range map[string]struct {
		grown growth
		want  Forecast
	}{
		"half of all in two days": {growth{Recent: 50, Everything: 100, Days: 2}, Forecast{Days: 2, BytesPerDay: 100, Left: 5}},
		"nothing lately":          {growth{Recent: 0, Everything: 100, Days: 7}, Forecast{Days: 7, Left: math.Inf(1)}},
		"some hours":              {growth{Recent: 50, Everything: 50, Days: 0.2}, Forecast{Days: 0.2, Left: math.Inf(1)}},
		"nothing yet":             {growth{}, Forecast{Left: math.Inf(1)}},
	} {
		if got := c.grown.forecast(400, disks); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
