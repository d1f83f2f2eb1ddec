package export

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// TestUpdatesOfFiles reads the updates of published files back.
func TestUpdatesOfFiles(t *testing.T) {
	objects, src := openMemory(nil), &memorySource{}
	for _, it := range schematest.New(schematest.Config{Seed: 9, Items: 120, Migrations: 2, Step: 45 * 60 * 1e6}).Items {
		switch u := it.Update; {
		case u == nil:
		case u.IsImport():
			src.imports = append(src.imports, *u)
		default:
			src.updates = append(src.updates, *u)
			src.watermark, src.contracts = it.Position(), it.Position()
		}
	}
	e := newTestExporter(t, src, objects, &memoryCatalog{}, func(c *testConfig) { c.NetworkCut = smallCut })
	exportDueNetwork(t, e)
	read := func(dir fstest.MapFS, after schemas.Position) (list []schemas.Update, err error) {
		err = network.Files{Dir: dir, Values: values.Default()}.Updates(t.Context(), after, func(u *schemas.Update) error {
			list = append(list, *u)
			return nil
		})
		return list, err
	}
	files := func(part string) fstest.MapFS {
		dir := fstest.MapFS{}
		for key, data := range objects.objects {
			if strings.Contains(key, part) {
				dir[key] = &fstest.MapFile{Data: data}
			}
		}
		return dir
	}
	all, err := read(files(""), schemas.Start)
	if err != nil || len(all) < 50 {
		t.Fatalf("%d updates, %v", len(all), err)
	}
	for i := range all {
		want := schemas.AppendUpdate(nil, &src.updates[i], schemas.UpdateForm{})
		if got := schemas.AppendUpdate(nil, &all[i], schemas.UpdateForm{}); src.updates[i].Encoding == schemas.ProtobufJSON && string(got) != string(want) {
			t.Fatalf("update %d is\n%s, want\n%s", i, got, want)
		}
	}
	for name, dir := range map[string]fstest.MapFS{"in compact_json": files("compact_json"), "in protobuf_json": files("protobuf_json")} {
		middle := all[len(all)/2].Position()
		list, err := read(dir, middle)
		if err != nil || len(list) != len(all)-len(all)/2-1 || list[0].Position() != all[len(all)/2+1].Position() {
			t.Errorf("%s there are %d updates of %d after the middle, %v", name, len(list), len(all), err)
		}
	}

	day := ""
	for key := range objects.objects {
		if folder, _, _ := strings.Cut(key, "/"); strings.Contains(key, "/updates_") && !strings.HasPrefix(key, "0001") && (day == "" || folder+"/" < day) {
			day = folder + "/"
		}
	}
	gap := files("")
	for key := range gap {
		if strings.HasPrefix(key, day) {
			delete(gap, key)
		}
	}
	hole := files("")
	hole[day+"updates_protobuf_json_1.zstd"] = hole[day+"updates_protobuf_json_0.zstd"]
	delete(hole, day+"updates_protobuf_json_0.zstd")
	spoilt := files("")
	spoilt[day+"updates_protobuf_json_0.zstd"] = &fstest.MapFile{Data: zstdLines(t, `{"no":"update"}`+"\n")}
	for want, dir := range map[string]fstest.MapFS{
		"the folder that begins at " + day[:10]: gap,
		"a file is missing":                     hole,
		"malformed history":                     spoilt,
		"there are no files":                    {},
	} {
		if _, err := read(dir, schemas.Start); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	stop := errors.New("enough")
	if err := (network.Files{Dir: files(""), Values: values.Default()}).Updates(t.Context(), schemas.Start, func(*schemas.Update) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a caller that has enough gets %v", err)
	}
}
