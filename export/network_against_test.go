package export

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/export/network"
)

// zstdLines compresses lines as one frame, which the network's own files are not.
func zstdLines(t *testing.T, lines ...string) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return encoder.EncodeAll([]byte(strings.Join(lines, "")), nil)
}

// TestAgainstFilesOfTheNetwork compares published files, and damaged ones, with history.
func TestAgainstFilesOfTheNetwork(t *testing.T) {
	objects := openMemory(nil)
	e := newTestExporter(t, largeDays(31), objects, &memoryCatalog{}, func(c *testConfig) { c.NetworkCut = smallCut })
	exportDueNetwork(t, e)
	const folder = "2026-07-02T00:00:00Z~2026-07-03T00:00:00Z/"
	whole := fstest.MapFS{"README": {Data: []byte("not a file of the network")}}
	var day []string // the lines of the updates of a day in compact_json
	for _, key := range slices.Sorted(maps.Keys(objects.objects)) {
		whole[key] = &fstest.MapFile{Data: objects.objects[key]}
		if strings.HasPrefix(key, folder+"updates_compact_json_") {
			for line := range jsonLines(t, bytes.NewReader(objects.objects[key])) {
				day = append(day, string(line)+"\n")
			}
		}
	}
	against := func(files fstest.MapFS) network.Compared {
		t.Helper()
		c, err := e.Network().Against(t.Context(), files, func(int64) {})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := against(whole); len(c.Findings) > 0 || c.Folders != 8 || c.Lines < int64(4*len(day)) {
		t.Errorf("what was published: %d folders, %d lines, %v", c.Folders, c.Lines, c.Findings)
	}
	if !strings.Contains(strings.Join(day, ""), `"interface_id":null`) {
		t.Error("exercises of a template's own choice lack interface_id: null")
	}
	older := make([]string, len(day)) // as a release writes them that knows fewer optional fields
	for i, line := range day {
		older[i] = strings.ReplaceAll(line, `"interface_id":null,`, "")
	}
	const first = folder + "updates_compact_json_0.zstd"
	if c := against(fstest.MapFS{first: {Data: zstdLines(t, older...)}}); len(c.Findings) > 0 || c.OtherNulls == 0 {
		t.Errorf("lines that lack what is null: %d of %d, %v", c.OtherNulls, len(day), c.Findings)
	}
	other := strings.Replace(day[7], `"record_time":"2026`, `"record_time":"2027`, 1)
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  []string
	}{
		"cut otherwise":   {fstest.MapFS{first: {Data: zstdLines(t, day[:9]...)}, folder + "updates_compact_json_1.zstd": {Data: zstdLines(t, day[9:]...)}}, nil},
		"a line differs":  {fstest.MapFS{first: {Data: zstdLines(t, slices.Concat(day[:7], []string{other}, day[8:])...)}}, []string{"a line differs, line 8"}},
		"a line too many": {fstest.MapFS{first: {Data: zstdLines(t, append(slices.Clone(day), other)...)}}, []string{fmt.Sprintf("the number of lines differs %d %d", len(day), len(day)+1)}},
		"the last lines are missing": {fstest.MapFS{first: {Data: zstdLines(t, day[:len(day)-2]...)}},
			[]string{fmt.Sprintf("the number of lines differs %d %d", len(day), len(day)-2)}},
		"the first line is missing": {fstest.MapFS{first: {Data: zstdLines(t, day[1:]...)}},
			[]string{"a line differs, line 1", "a line differs, line 2", "a line differs, line 3", "a line differs, line 4", "a line differs, line 5",
				fmt.Sprintf("%d more lines differ", len(day)-6), fmt.Sprintf("the number of lines differs %d %d", len(day), len(day)-1)}},
		"a file is missing": {fstest.MapFS{folder + "updates_compact_json_1.zstd": {Data: zstdLines(t, day...)}}, []string{"a file is missing"}},
		"all files but one with a large number are missing": {fstest.MapFS{folder + "updates_compact_json_1000000.zstd": {Data: zstdLines(t, day...)}}, []string{"a file is missing"}},
		"a day that is not over": {fstest.MapFS{"2026-07-09T00:00:00Z~2026-07-10T00:00:00Z/updates_compact_json_0.zstd": {Data: zstdLines(t, day...)}},
			[]string{"no such folder"}},
	} {
		var got []string
		for _, d := range against(c.files).Findings {
			text := d.What
			if _, line, ok := strings.Cut(d.Where, ", line "); ok {
				text += ", line " + line
			}
			if strings.HasPrefix(text, "the number") {
				text += " " + d.Expected + " " + d.Found
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"nothing":           {fstest.MapFS{}, "no files of the network's layout"},
		"another name":      {fstest.MapFS{folder + "updates_0.zstd": {}}, "is not named as in the network's layout"},
		"no zstd":           {fstest.MapFS{first: {Data: []byte(day[0])}}, "decompressing " + first},
		"a line is cut off": {fstest.MapFS{first: {Data: zstdLines(t, day[0][:40])}}, "the last line is cut off"},
	} {
		if _, err := e.Network().Against(t.Context(), c.files, func(int64) {}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
