package lab

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

func TestCursorFollowsAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want Cursor
	}{
		"updates":             {`{"transactions":[{"migration_id":0,"record_time":"a"},{"migration_id":1,"record_time":"b"}]}`, Cursor{1, "b"}},
		"a reassignment":      {`{"transactions":[{"event":{"migration_id":2,"x":1},"record_time":"c"}]}`, Cursor{2, "c"}},
		"a page of nothing":   {`{"transactions":[]}`, Cursor{}},
		"without its time":    {`{"transactions":[{"migration_id":1}]}`, Cursor{}},
		"migration no number": {`{"migration_id":x,"record_time":"d"}`, Cursor{}},
	} {
		var got Cursor
		if err := got.take([]byte(tt.body)); got != tt.want || (err == nil) != (tt.want != Cursor{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A simulated network is read to its end: each update once, in pages as in one piece.
func TestHistoryIsReadToItsEnd(t *testing.T) {
	n, err := devnet.New(t.Context(), devnet.Config{Updates: 2300, Seed: NetworkSeed, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	server := httptest.NewServer(n.Handler())
	defer server.Close()
	want := int64(n.Digests().Tables["updates"].Rows)
	c := NewReadClient(server.URL)
	last, updates, size, err := c.UpdatesAfter(t.Context(), nil)
	if err != nil || updates != want || size < want*100 {
		t.Errorf("read %d updates, %d bytes, error %v; there are %d", updates, size, err, want)
	}
	if _, more, _, err := c.UpdatesAfter(t.Context(), last); err != nil || more != 0 {
		t.Errorf("after the last update there are %d, error %v", more, err)
	}
	ids := map[string]bool{}
	if err := EachEvent(t.Context(), server.URL, func(id string, event []byte) error {
		if ids[id] || id == "" || !bytes.Contains(event, []byte(id)) {
			t.Errorf("event %q comes twice, or is another: %.100s", id, event)
		}
		ids[id] = true
		return nil
	}); err != nil || int64(len(ids)) < want {
		t.Errorf("%d events, error %v; there are %d updates", len(ids), err, want)
	}
}
