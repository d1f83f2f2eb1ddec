package engine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// place creates an executable file and returns its path.
func place(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLocateOrder takes the places away one by one, the first one first.
func TestLocateOrder(t *testing.T) {
	base := t.TempDir()
	pkg := filepath.FromSlash(npmPackage(runtime.GOOS, runtime.GOARCH))
	project := filepath.Join(base, "project")
	root := filepath.Join(project, "cmd", "ledgerlake")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(base, "bin"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(base, "cache"))
	explicit := place(t, base, "explicit", "libchdb.so")
	t.Setenv(EnvLibrary, place(t, base, "env", "clickhouse"))
	for _, c := range []struct {
		name     string
		explicit string
		path     string
		binary   bool
	}{
		{"configuration", explicit, explicit, false},
		{"configured folder", filepath.Dir(explicit), explicit, false},
		{"environment", "", os.Getenv(EnvLibrary), true},
		{"PATH", "", place(t, base, "bin", "clickhouse"), true},
		{"deploy/engine above", "", place(t, project, "deploy", "engine", "node_modules", pkg, libraryName), false},
		{"node_modules above", "", place(t, project, "node_modules", pkg, libraryName), false},
		{"cache", "", place(t, base, "cache", "ledgerlake", "engine", libraryName), false},
	} {
		got, err := Locate(c.explicit, []string{root})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got.Path != c.path || got.Binary != c.binary || got.Source == "" {
			t.Errorf("%s: got %+v, want %s, binary %t", c.name, got, c.path, c.binary)
		}
		switch c.name {
		case "configuration", "configured folder":
		case "environment":
			t.Setenv(EnvLibrary, "")
		default:
			if err := os.Remove(c.path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestLocateNothing(t *testing.T) {
	base := t.TempDir()
	t.Setenv("PATH", filepath.Join(base, "bin"))
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", filepath.Join(base, "home"))
	t.Setenv(EnvLibrary, "")
	_, err := Locate("", []string{base})
	if !errors.Is(err, ErrMissing) {
		t.Fatalf("Locate: %v, want ErrMissing", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the message has several lines: %v", err)
	}
	for _, want := range []string{
		EnvLibrary, "clickhouse on PATH", npmPackage(runtime.GOOS, runtime.GOARCH), base,
		filepath.Join(base, "home", ".cache", "ledgerlake", "engine", libraryName), "`make setup`", "--engine PATH",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message %q does not name %s", err, want)
		}
	}
	_, err = Start(t.Context(), Config{DataDir: t.TempDir(), SearchRoots: []string{base}, Log: quiet})
	if !errors.Is(err, ErrMissing) {
		t.Errorf("Start without an engine: %v, want ErrMissing", err)
	}
}

func TestLocateNamedButAbsent(t *testing.T) {
	empty := t.TempDir()
	for name, path := range map[string]string{"file": filepath.Join(empty, "libchdb.so"), "empty folder": empty} {
		t.Run(name, func(t *testing.T) {
			_, err := Locate(path, nil)
			if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "make setup") {
				t.Errorf("Locate(%s): %v, want ErrMissing with the path and the fix", path, err)
			}
		})
	}
}

func TestNPMPackage(t *testing.T) {
	for _, c := range []struct{ goos, goarch, want string }{
		{"linux", "amd64", "@chdb/lib-linux-x64-gnu"},
		{"linux", "arm64", "@chdb/lib-linux-arm64-gnu"},
		{"darwin", "arm64", "@chdb/lib-darwin-arm64"},
		{"darwin", "amd64", "@chdb/lib-darwin-x64"},
	} {
		if got := npmPackage(c.goos, c.goarch); got != c.want {
			t.Errorf("npmPackage(%s, %s) = %s, want %s", c.goos, c.goarch, got, c.want)
		}
	}
}
