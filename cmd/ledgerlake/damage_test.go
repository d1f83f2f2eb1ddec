package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// counted are the tables of which a part that is gone without a trace is missed, and others those
// of which only a part that is broken or was set aside is.
var (
	counted = []string{"contracts_archived", "contracts_live", "events", "imports", "places", "updates", "verdicts"}
	others  = []string{"batches", "ended_contracts", "milestones", "network_facts", "wallet_contracts", "wallet_log"}
)

// TestDamagedStore damages a part of each table in each way that a disk or a person can, and starts
// what reads the store: it must end with an error that names the table and its part, where there
// is one, and publish nothing.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	needEngine(t)
	whole := t.TempDir()
	fillStore(t, whole)
	for _, c := range []struct {
		name   string
		damage func(part string) error
		tables []string
		// seen says that a start notices. Otherwise verify does, and whoever reads the files.
		seen, named bool
		// asked says that verify of the indexes alone notices.
		asked bool
	}{
		{"part folder removed", os.RemoveAll, counted, true, false, false},
		{"part folder of the journal removed", os.RemoveAll, []string{"batches"}, true, false, false},
		{"part moved to detached", detachPart, slices.Concat(counted, others), true, true, false},
		{"column file cut", func(part string) error { return os.Truncate(column(part), 30) }, slices.Concat(counted, others), true, true, false},
		{"bit of a column flipped", func(part string) error { return flip(column(part)) }, slices.Concat(counted, others[1:]), false, true, true},
		{"bit of an index flipped", func(part string) error {
			indexes, err := filepath.Glob(filepath.Join(part, "skp_idx_*bloom*.idx*"))
			if err != nil || len(indexes) == 0 {
				return fmt.Errorf("%s has no index: %v", part, err)
			}
			return flip(indexes[0])
		}, []string{"contracts_archived", "contracts_live", "events", "wallet_contracts", "wallet_log"}, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			copyFolder(t, whole, data)
			parts := make(map[string]string)
			for _, table := range c.tables {
				part := largestPart(t, data, table)
				parts[table] = filepath.Base(part)
				if err := c.damage(part); err != nil {
					t.Fatal(err)
				}
			}
			names := func(command, text string) {
				t.Helper()
				for table, part := range parts {
					if !strings.Contains(text, "table "+table) && !strings.Contains(text, ", "+table+":") || c.named && !strings.Contains(text, part) {
						t.Errorf("%s names neither table %s nor its part %s: %s", command, table, part, tail(text))
					}
				}
				if strings.Contains(text, "panic") {
					t.Errorf("%s panics: %s", command, text)
				}
			}
			verified := refused(t, "verify", "--data", data)
			names("verify", verified)
			if c.asked {
				if text := refused(t, "verify", "--data", data, "--check", "indexes"); !strings.Contains(text, "verify --check parts") {
					t.Errorf("verify of the indexes alone: %s", tail(text))
				}
			}
			if c.seen {
				names("export", refused(t, "export", "--data", data))
				names("serve", refused(t, "serve", "--data", data, "--listen", "127.0.0.1:0"))
				names("ingest", refused(t, "ingest", "--once", "--data", data, "--scan-url", "http://127.0.0.1:1"))
			}
			if published := objects(t, data); len(published) > 0 {
				t.Errorf("published %v", published)
			}
		})
	}
}

// fillStore ingests a small network and the stream of one of its nodes.
func fillStore(t *testing.T, data string) {
	t.Helper()
	_, url, node := networkWithNode(t, 600)
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", url, "--node-url", node)
	if err := os.RemoveAll(filepath.Join(data, "bucket")); err != nil {
		t.Fatal(err)
	}
}

// refused runs the product, which must fail, and returns all that it printed.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	l := start(t, args...)
	hung := time.AfterFunc(2*time.Minute, func() { _ = l.Process.Kill() }) // it serves, although it should not
	defer hung.Stop()
	err := l.Wait()
	text := l.stdout.String() + l.stderr.String()
	if err == nil {
		t.Errorf("ledgerlake %s succeeds: %s", strings.Join(args, " "), tail(text))
	}
	return text
}

// largestPart is the folder of the part of a table with the most bytes. Parts that were merged into
// others are removed: the engine would fall back on them.
func largestPart(t *testing.T, data, table string) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(filepath.Join(data, "engine/store/data/default", table))
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(folder, "*_*_*_*", "checksums.txt"))
	if err != nil || len(found) == 0 {
		t.Fatalf("table %s has no part: %v", table, err)
	}
	var parts []string
	for _, f := range found {
		part := filepath.Dir(f)
		if strings.HasPrefix(filepath.Base(part), "patch-") {
			continue
		}
		if slices.ContainsFunc(found, func(other string) bool { return covers(filepath.Dir(other), part) }) {
			if err := os.RemoveAll(part); err != nil {
				t.Fatal(err)
			}
			continue
		}
		parts = append(parts, part)
	}
	return slices.MaxFunc(parts, func(a, b string) int { return int(sizeOf(column(a)) - sizeOf(column(b))) })
}

// covers reports whether a part was merged of another one and more: names are
// PARTITION_FIRST_LAST_LEVEL.
func covers(a, b string) bool {
	var first, last, level [2]int
	var partition [2]string
	for i, part := range []string{a, b} {
		name := strings.Split(filepath.Base(part), "_")
		partition[i] = name[0]
		for n, to := range []*int{&first[i], &last[i], &level[i]} {
			if _, err := fmt.Sscan(name[n+1], to); err != nil {
				return false
			}
		}
	}
	return partition[0] == partition[1] && first[0] <= first[1] && last[0] >= last[1] && level[0] > level[1]
}

// column is the largest file of a part: that of all columns of a small one.
func column(part string) string {
	files, _ := filepath.Glob(filepath.Join(part, "*.bin")) // the pattern is right
	return slices.MaxFunc(files, func(a, b string) int { return int(sizeOf(a) - sizeOf(b)) })
}

func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

func detachPart(part string) error {
	return os.Rename(part, filepath.Join(filepath.Dir(part), "detached", filepath.Base(part)))
}

// flip flips a bit in the middle of a file.
func flip(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	raw[len(raw)/2] ^= 1
	if err := os.Remove(file); err != nil { // others may have a link to it
		return err
	}
	return os.WriteFile(file, raw, 0o644)
}

// objects are the files of the bucket that a reader could find: those of listed segments.
func objects(t *testing.T, data string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(data, "bucket"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "manifest") {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
