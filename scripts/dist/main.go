// Command dist makes the archives of a release: for each platform the binary with what its user
// needs to run it, and a list of the modules in it (CycloneDX), and the checksums of all.
//
//	go run ./scripts/dist --out dist
//
// The same commit and the same Go give the same bytes, wherever and whenever it runs: files are
// sorted and belong to nobody, all times are that of the commit, and scripts/build.sh puts nothing
// of the machine into the binary.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// platforms are what is released, with the npm package of the engine for each.
var platforms = []platform{
	{"linux", "amd64", "@chdb/lib-linux-x64-gnu"},
	{"linux", "arm64", "@chdb/lib-linux-arm64-gnu"},
	{"darwin", "amd64", "@chdb/lib-darwin-x64"},
	{"darwin", "arm64", "@chdb/lib-darwin-arm64"},
}

type platform struct{ os, arch, engine string }

func (p platform) String() string { return p.os + "/" + p.arch }

// release is what all archives of a commit have in common.
type release struct {
	version string // such as v0.1.0, or v0.1.0-3-g1234567 between releases
	commit  string
	time    time.Time // of the commit
	engine  string    // version of the engine's npm packages
	out     string    // folder
}

func main() {
	out := flag.String("out", "dist", "`FOLDER` to make, which must not have anything else in it")
	only := flag.String("platforms", "", "comma-separated `LIST` such as linux/amd64; all when empty")
	flag.Parse()
	if err := run(*out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(out, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	r, err := describe(out)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, p := range chosen {
		files, err := r.archive(p)
		if err != nil {
			return fmt.Errorf("making the archive for %s: %w", p, err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(out, f.name), f.content, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.content), f.name)
			fmt.Printf("%s  %d bytes\n", filepath.Join(out, f.name), len(f.content))
		}
	}
	return os.WriteFile(filepath.Join(out, r.base()+"-checksums.txt"), sums.Bytes(), 0o644)
}

// choose returns the platforms of a list, or all.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var chosen []platform
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no platform %q, only %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// describe asks git for the version, and package.json for that of the engine.
func describe(out string) (r release, err error) {
	r.out = out
	var seconds string
	for _, of := range []struct {
		into *string
		args []string
	}{
		{&r.version, []string{"describe", "--tags", "--always", "--dirty"}},
		{&r.commit, []string{"rev-parse", "HEAD"}},
		{&seconds, []string{"show", "-s", "--format=%cI", "HEAD"}},
	} {
		text, err := exec.Command("git", of.args...).Output()
		if err != nil {
			return r, fmt.Errorf("asking git for what is released: git %s: %w", strings.Join(of.args, " "), err)
		}
		*of.into = strings.TrimSpace(string(text))
	}
	if r.time, err = time.Parse(time.RFC3339, seconds); err != nil {
		return r, fmt.Errorf("reading the time of the commit: %w", err)
	}
	r.time = r.time.UTC()
	text, err := os.ReadFile("deploy/engine/package.json")
	if err != nil {
		return r, err
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return r, fmt.Errorf("reading deploy/engine/package.json: %w", err)
	}
	if r.engine = manifest.Dependencies[platforms[0].engine]; r.engine == "" {
		return r, errors.New("deploy/engine/package.json does not name " + platforms[0].engine)
	}
	return r, nil
}

// base is how the names of all files of a release begin.
func (r release) base() string { return "ledgerlake-" + strings.TrimPrefix(r.version, "v") }

// file is a file of an archive or of the release.
type file struct {
	name    string
	content []byte
	mode    int64
}

// archive builds the binary for a platform and returns its archive and the list of its modules.
func (r release) archive(p platform) ([]file, error) {
	dir, err := os.MkdirTemp("", "ledgerlake-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledgerlake")
	build := exec.Command("scripts/build.sh", path)
	build.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		"VERSION="+r.version, "COMMIT="+r.commit, "COMMIT_TIME="+r.time.Format(time.RFC3339))
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building: %w", err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	modules, err := r.modules(p, binary)
	if err != nil {
		return nil, err
	}
	content := []file{{"ledgerlake", binary, 0o755}, {"README.md", r.readme(p), 0o644}, {"modules.cdx.json", modules, 0o644}}
	for _, name := range []string{"LICENSE", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		content = append(content, file{name, text, 0o644})
	}
	name := fmt.Sprintf("%s-%s-%s", r.base(), p.os, p.arch)
	packed, err := pack(name, content, r.time)
	return []file{{name: name + ".tar.gz", content: packed}, {name: name + ".cdx.json", content: modules}}, err
}
