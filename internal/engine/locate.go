package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// EnvLibrary is the environment variable that names the engine to use when the
// configuration does not.
const EnvLibrary = "LEDGERLAKE_ENGINE"

const (
	libraryName = "libchdb.so" // the same name on every platform
	binaryName  = "clickhouse"
)

// Location is an engine that was found.
type Location struct {
	Path   string // absolute
	Binary bool   // a clickhouse binary; otherwise a library that ChildMain loads
	Source string // where it was found, such as "configuration" or "PATH"
}

// Locate finds the engine: explicit (may be empty) and then the places in this order.
//
//  1. the configuration: explicit, else the environment variable LEDGERLAKE_ENGINE
//  2. clickhouse on PATH
//  3. deploy/engine/node_modules and node_modules with the npm package of this
//     platform, in each of roots and every folder above it
//  4. ledgerlake/engine/libchdb.so in $XDG_CACHE_HOME or ~/.cache
//
// An engine that is named but not there is an error: falling back to another one would
// run a version nobody asked for. Errors wrap ErrMissing. Nil roots are the working
// directory and the folder of our executable.
func Locate(explicit string, roots []string) (Location, error) {
	if explicit != "" {
		return named(explicit, "configuration")
	}
	if path := os.Getenv(EnvLibrary); path != "" {
		return named(path, EnvLibrary)
	}
	if path, err := exec.LookPath(binaryName); err == nil {
		return absolute(Location{Path: path, Binary: true, Source: "PATH"})
	}
	if roots == nil {
		roots = defaultRoots()
	}
	pkg := npmPackage(runtime.GOOS, runtime.GOARCH)
	for _, root := range roots {
		if path := findUpwards(root, pkg); path != "" {
			return absolute(Location{Path: path, Source: "npm package " + pkg})
		}
	}
	cached := cachedLibrary()
	if isFile(cached) {
		return absolute(Location{Path: cached, Source: "cache"})
	}
	return Location{}, missing(pkg, roots, cached)
}

// missing names what was looked for, in the order of the search, and the fix.
func missing(pkg string, roots []string, cached string) error {
	return fmt.Errorf("%w: looked for --engine, %s, %s on PATH, %s in node_modules or deploy/engine/node_modules at or above %s, and %s; run `make setup` or pass --engine PATH",
		ErrMissing, EnvLibrary, binaryName, pkg, strings.Join(roots, " and "), cached)
}

// named resolves a path that a person gave.
func named(path, source string) (Location, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Location{}, fmt.Errorf("%w: %s names %s: %w; run `make setup` or pass --engine PATH", ErrMissing, source, path, reason(err))
	}
	if info.IsDir() {
		return namedFolder(path, source)
	}
	return absolute(Location{Path: path, Binary: !isLibrary(path), Source: source})
}

func namedFolder(dir, source string) (Location, error) {
	for _, name := range []string{libraryName, binaryName} {
		if path := filepath.Join(dir, name); isFile(path) {
			return absolute(Location{Path: path, Binary: name == binaryName, Source: source})
		}
	}
	return Location{}, fmt.Errorf("%w: %s names folder %s, which contains neither %s nor %s; run `make setup` or pass --engine PATH",
		ErrMissing, source, dir, libraryName, binaryName)
}

// reason drops the operation and path that the caller's sentence already has.
func reason(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func isLibrary(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".dylib") || strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

// npmPackage names the npm package of a platform: linux and amd64 give
// @chdb/lib-linux-x64-gnu.
func npmPackage(goos, goarch string) string {
	arch := goarch
	if goarch == "amd64" {
		arch = "x64"
	}
	if goos == "linux" {
		arch += "-gnu"
	}
	return "@chdb/lib-" + goos + "-" + arch
}

// findUpwards returns the package's library below dir or the nearest folder above it,
// or "".
func findUpwards(dir, pkg string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		for _, sub := range []string{"deploy/engine", "."} {
			path := filepath.Join(dir, filepath.FromSlash(sub), "node_modules", filepath.FromSlash(pkg), libraryName)
			if isFile(path) {
				return path
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func cachedLibrary() string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			home = "~" // for the message only: no file has this path
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "ledgerlake", "engine", libraryName)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func absolute(l Location) (Location, error) {
	path, err := filepath.Abs(l.Path)
	if err != nil {
		return Location{}, fmt.Errorf("resolving engine path %s: %w", l.Path, err)
	}
	l.Path = path
	return l, nil
}
