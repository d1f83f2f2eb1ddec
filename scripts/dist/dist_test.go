package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var testRelease = release{version: "v1.2.3", commit: "0123456789abcdef", time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), engine: "9.8.7"}

func TestArchivesHaveNothingOfTheMachine(t *testing.T) {
	files := []file{{"ledgerlake", []byte("program"), 0o755}, {"LICENSE", []byte("terms"), 0o644}}
	packed, err := pack("ledgerlake-1.2.3-linux-amd64", files, testRelease.time)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	again, err := pack("ledgerlake-1.2.3-linux-amd64", files, testRelease.time)
	if err != nil || !bytes.Equal(packed, again) {
		t.Errorf("another order of files gives other bytes, or an error: %v", err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(testRelease.time) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s is of %s and belongs to %d:%d %q:%q", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname, h.Gname)
		}
		if (h.Mode&0o111 != 0) != (h.Typeflag == tar.TypeDir || strings.HasSuffix(h.Name, "/ledgerlake")) {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
	}
	if want := []string{"ledgerlake-1.2.3-linux-amd64/", "ledgerlake-1.2.3-linux-amd64/LICENSE", "ledgerlake-1.2.3-linux-amd64/ledgerlake"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

func TestReadmeIsFilledIn(t *testing.T) {
	for _, p := range platforms {
		text := string(testRelease.readme(p))
		if left := regexp.MustCompile(`\{[A-Z]+\}`).FindString(text); left != "" {
			t.Errorf("%s: %s was not replaced", p, left)
		}
		for _, part := range []string{"ledgerlake 1.2.3, " + p.String(), p.engine + "@9.8.7"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in the README", p, part)
			}
		}
	}
}

// The binary of this test is one that the Go tool has made, too.
func TestModulesAreListed(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := testRelease.modules(platforms[0], binary)
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Errorf("serial number %q", b.Serial)
	}
	if c := b.Metadata.Component; c.PURL != "pkg:golang/github.com/ledgerlake/ledgerlake@v1.2.3" || b.Metadata.Timestamp != "2026-02-03T04:05:06Z" {
		t.Errorf("the list is of %+v", b.Metadata)
	}
	if len(b.Components) == 0 || !strings.HasPrefix(b.Components[0].PURL, "pkg:golang/std@1.") {
		t.Errorf("components %+v", b.Components)
	}
	if _, err := testRelease.modules(platforms[0], []byte("no program")); err == nil {
		t.Error("what is no binary has modules")
	}
}

func TestChoose(t *testing.T) {
	if got, err := choose("darwin/arm64,linux/amd64"); err != nil || len(got) != 2 || got[0].engine != "@chdb/lib-darwin-arm64" {
		t.Errorf("chosen: %v, %v", got, err)
	}
	if _, err := choose("plan9/amd64"); err == nil {
		t.Error("an unknown platform was chosen")
	}
	if got, err := choose(""); err != nil || len(got) != len(platforms) {
		t.Errorf("chosen by default: %v, %v", got, err)
	}
}
