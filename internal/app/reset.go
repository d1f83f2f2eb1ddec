package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
)

func newReset(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "delete what ledgerlake keeps in a data folder",
		Long: `reset deletes what ledgerlake keeps in --data: the embedded store, the objects of the
embedded S3 gateway, the simulated network, keys and caches. Other files of the folder stay,
and so do a ClickHouse, a Redis and an S3 store of their own. Without --yes it only says what
it would delete.`,
		Example: "  ledgerlake reset --data ./ledgerlake-data\n  ledgerlake reset --yes --data ./ledgerlake-data",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return a.reset(yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete it")
	return cmd
}

// dataPart is a file or folder that ledgerlake keeps in a data folder.
type dataPart struct {
	name string
	// lock is a file in it that a process holds for as long as it uses the part, "" if others
	// guard it.
	lock string
	// signs are names of which the part has at least one. A folder of the same name without
	// them is somebody else's. Without signs the part goes if any other one does.
	signs []string
}

var dataParts = []dataPart{
	{"engine", "engine.lock", []string{"engine.lock", "store"}},
	{"bucket", "LOCK", []string{"gateway.json", "objects"}},
	{"devnet", "devnet.lock", []string{"journal.jsonl", "updates_protobuf.s2"}},
	{name: "cache"}, {name: "tmp"}, {name: "token.key"},
}

// reset deletes the parts of the data folder, or only lists them.
func (a *app) reset(yes bool) (err error) {
	found, err := partsOf(a.cfg.Data)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("%s has nothing of ledgerlake: name its data folder with --data", a.cfg.Data)
	}
	for _, p := range found {
		release, err := p.take(a.cfg.Data)
		if err != nil {
			return err
		}
		defer release()
	}
	if !yes {
		return a.listParts(found)
	}
	for _, p := range found {
		if err := os.RemoveAll(filepath.Join(a.cfg.Data, p.name)); err != nil {
			return fmt.Errorf("deleting the data folder: %w", err)
		}
	}
	fmt.Fprintf(a.stdout, "deleted from %s: %s\n", a.cfg.Data, partNames(found))
	_ = os.Remove(a.cfg.Data) // unless somebody else keeps something in it
	return nil
}

// partsOf returns the parts that a folder has.
func partsOf(dir string) (found []dataPart, err error) {
	ours := false
	for _, p := range dataParts {
		if _, err := os.Lstat(filepath.Join(dir, p.name)); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("looking into the data folder: %w", err)
		}
		if len(p.signs) == 0 && !ours || len(p.signs) > 0 && !p.signed(dir) {
			continue
		}
		ours = true
		found = append(found, p)
	}
	return found, nil
}

func (p dataPart) signed(dir string) bool {
	for _, sign := range p.signs {
		if _, err := os.Lstat(filepath.Join(dir, p.name, sign)); err == nil {
			return true
		}
	}
	return false
}

// take makes sure that no process uses the part until release.
func (p dataPart) take(dir string) (release func(), err error) {
	if p.lock == "" {
		return func() {}, nil
	}
	lock := flock.New(filepath.Join(dir, p.name, p.lock))
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("locking the data folder: %w", err)
	case !ok:
		return nil, fmt.Errorf("%s is in use: stop the ledgerlake that uses it first", dir)
	}
	return func() { _ = lock.Close() }, nil // the file may be gone
}

// listParts says what would be deleted.
func (a *app) listParts(found []dataPart) error {
	var size int64
	for _, p := range found {
		err := filepath.WalkDir(filepath.Join(a.cfg.Data, p.name), func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("looking into the data folder: %w", err)
		}
	}
	return fmt.Errorf("nothing was deleted: add --yes to delete %s of %s (%.1f MB)", partNames(found), a.cfg.Data, float64(size)/1e6)
}

func partNames(parts []dataPart) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}
