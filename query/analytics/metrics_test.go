package analytics

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
)

// metrics asks for each metric in one of its grains, with all its groups, and for some in all forms.
func (w *world) metrics() {
	status, body, _ := w.get("metrics")
	var catalog struct{ Metrics []metricAnswer }
	if err := json.Unmarshal(body, &catalog); err != nil || status != http.StatusOK || len(catalog.Metrics) != len(metrics.Catalog) {
		w.Fatalf("%d %v %.300s", status, err, body)
	}
	some := 0
	for i, m := range catalog.Metrics {
		grain := m.Grains[i%len(m.Grains)]
		with := []string{"grain", grain, "group_by", strings.Join(m.GroupBy, ",")}
		if len(m.GroupBy) == 0 {
			with = with[:2]
		}
		status, body, _ := w.get("metrics/"+m.Name, with...)
		var page answer
		if err := json.Unmarshal(body, &page); err != nil || status != http.StatusOK {
			w.Fatalf("%s by %s: %d %v %.300s", m.Name, grain, status, err, body)
		}
		if some += len(page.Rows); i%8 > 0 {
			continue
		}
		_, text, _ := w.get("metrics/"+m.Name, append(with, "format", "csv")...)
		if lines := strings.Count(string(text), "\n"); lines != len(page.Rows)+1 {
			w.Errorf("%s by %s has %d rows and %d lines of CSV", m.Name, grain, len(page.Rows), lines)
		}
		_, text, _ = w.get("metrics/"+m.Name, append(with, "format", "arrow")...)
		read, err := ipc.NewReader(bytes.NewReader(text))
		if err != nil || !read.Next() || int(read.RecordBatch().NumRows()) != len(page.Rows) {
			w.Errorf("%s by %s has %d rows and others in Arrow: %v", m.Name, grain, len(page.Rows), err)
		}
	}
	if some < 50 {
		w.Errorf("all metrics together have %d rows", some)
	}
	for _, c := range []struct{ path, want string }{
		{"suply", `There is no metric "suply"; the nearest is "supply".`},
		{"supply grain dy", `there is no grain of supply "dy"; the nearest is "day"`},
		{"holders grain round", `there is no grain of holders "round"`},
		{"minted group_by party", `there is no group of minted "party"; the nearest is "class"`},
		{"updates group_by class", `there is no group of updates "class"`},
		{"supply from 2026-13-01", `"2026-13-01" is no day such as`},
		{"supply from 2026-07-02 to 2026-07-01", `from: it must be before to`},
		{"supply grain round from x", `"x" is no number of a round`},
		{"supply format xml", `format`},
	} {
		parts := strings.Fields(c.path)
		status, body, _ := w.get("metrics/"+parts[0], parts[1:]...)
		if status != http.StatusBadRequest || !strings.Contains(strings.ReplaceAll(string(body), `\"`, `"`), c.want) {
			w.Errorf("%s: %d %s, want %s", c.path, status, body, c.want)
		}
	}
}
