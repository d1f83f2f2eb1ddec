package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestDoctorNamesTheVersionOfTheStore has a store without tables, one of today and one that a later
// version has made.
func TestDoctorNamesTheVersionOfTheStore(t *testing.T) {
	s := enginetest.Start(t)
	a := &App{p: &process{cfg: &settings.Config{}}}
	a.p.cfg.ClickHouseDSN = s.DSN
	known := schemas.StoreVersion()
	check := func(ok bool, want string) {
		t.Helper()
		if f := a.checkClickHouse(t.Context()); f.OK != ok || !strings.HasSuffix(f.Detail, want) || ok == (f.Fix != "") {
			t.Errorf("%+v, want %v with %q", f, ok, want)
		}
	}
	check(true, "no tables yet")
	if err := indexer.Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	check(true, fmt.Sprintf("tables of version %d", known))
	setVersion := func(version int) {
		t.Helper()
		if err := s.Conn.Exec(t.Context(), "TRUNCATE TABLE goose_db_version"); err != nil {
			t.Fatal(err)
		}
		if err := s.Conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", version); err != nil {
			t.Fatal(err)
		}
	}
	setVersion(150)
	check(true, fmt.Sprintf("tables of version 150, which the next start brings to %d", known))
	setVersion(known + 1)
	check(false, fmt.Sprintf("tables of version %d", known+1))
}
