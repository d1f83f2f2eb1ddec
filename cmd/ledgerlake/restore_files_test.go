package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestRestoreFromTheNetworksFiles restores stores from files in the network's layout: in protobuf_json,
// which is exact, and in compact_json, of which the catalogue knows the types. Ingest then continues.
func TestRestoreFromTheNetworksFiles(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, url := networkOfDays(t, 250, 3)
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", url)
	mustRun(t, "export", "--data", data, "--bulk-layouts", "network", "--catalog", "../../bench/catalog")
	want := served(t, ledger)

	for _, encoding := range []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON} {
		t.Run(string(encoding), func(t *testing.T) {
			files, restored := filesIn(t, data, encoding), t.TempDir()
			mustRun(t, "restore", "--data", restored, "--from", files, "--scan-url", url, "--catalog", "../../bench/catalog")
			if encoding == schemas.CompactJSON {
				mustRun(t, "restore", "--data", restored, "--from", files, "--scan-url", url) // has no more to do
			}
			mustRun(t, "ingest", "--once", "--data", restored, "--scan-url", url) // which closes the last folder
			if encoding == schemas.CompactJSON {                                  // of the other one digests tell more
				against := start(t, "verify", "--json", "--data", restored, "--layout", "network", "--against", files, "--catalog", "../../bench/catalog")
				if err := against.Wait(); err != nil {
					t.Errorf("%v: %s", err, against.stdout.String())
				}
			}
			v := parse[app.Verification](t, mustRun(t, "verify", "--json", "--data", restored))
			if !v.OK {
				t.Errorf("findings %q", v.Findings)
			}
			for _, table := range []string{"updates", "events", "imports", "active_contracts"} {
				got := v.Tables[table]
				if exact := encoding == schemas.ProtobufJSON || table == "imports"; got != want[table] && (exact || got.Rows != want[table].Rows) || got.Rows == 0 {
					t.Errorf("table %s: %s, the network served %s", table, got, want[table])
				}
			}
		})
	}

	files := filesIn(t, data, schemas.CompactJSON)
	for want, args := range map[string][]string{
		"name a scan that has them with --scan-url": nil,
		"leave one of them out":                     {"--lines", "-"},
	} {
		l := start(t, append([]string{"restore", "--data", t.TempDir(), "--from", files}, args...)...)
		if err := l.Wait(); err == nil || !strings.Contains(l.stderr.String(), want) {
			t.Errorf("restore %v: %v, %s; want %q", args, err, l.stderr.String(), want)
		}
	}
}

// filesIn copies the files of an encoding in the network's layout out of a data folder.
func filesIn(t *testing.T, data string, encoding schemas.Encoding) string {
	t.Helper()
	to := t.TempDir()
	var found []string
	err := filepath.WalkDir(data, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(name), "_"+string(encoding)+"_") && filepath.Ext(name) == ".zstd" {
			found = append(found, name)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d files in %s: %v", len(found), encoding, err)
	}
	for _, name := range found {
		dir := filepath.Join(to, filepath.Base(filepath.Dir(name)))
		content, err := os.ReadFile(name)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(name)), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
