package faults

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

const nodeFrame = `{"update":{"Transaction":{"value":{"events":[{"CreatedEvent":{"createArgument":{"amount":{"initialAmount":"10.0000000000"}},"nodeId":0,"offset":12,"templateId":"abc:M:T"}}],` +
	`"offset":12,"recordTime":"2026-07-01T00:00:00Z","synchronizerId":"s::1220","updateId":"1220aa"}}}}`

func TestNodeLiesAreToldAboutTheirSubjectOnly(t *testing.T) {
	subject, ok := ReadNodeSubject([]byte(nodeFrame))
	if !ok || subject.UpdateID != "1220aa" || subject.Offset != 12 {
		t.Fatalf("read %+v, %v", subject, ok)
	}
	if _, ok := ReadNodeSubject([]byte(`{"update":{"OffsetCheckpoint":{"value":{"offset":7}}}}`)); ok {
		t.Error("a checkpoint is taken for an update")
	}
	other := strings.ReplaceAll(nodeFrame, "1220aa", "1220bb")
	for _, lie := range NodeLies() {
		if !lie.CanTell(subject) {
			t.Errorf("%s cannot be told about a create", lie.Name)
			continue
		}
		l := NewNodeLiar(3, lie, subject)
		if lie.Late {
			if got := l.frames([]byte(nodeFrame)); len(got) != 1 || string(got[0]) != nodeFrame || l.Told() != 0 {
				t.Errorf("%s is told before it begins", lie.Name)
			}
			l.Begin()
		}
		first, again := l.frames([]byte(nodeFrame)), l.frames([]byte(nodeFrame))
		if len(first) == 1 && string(first[0]) == nodeFrame || l.Told() != 2 {
			t.Errorf("%s is the truth, told %d times", lie.Name, l.Told())
		}
		if !slices.EqualFunc(first, again, func(a, b []byte) bool { return string(a) == string(b) }) {
			t.Errorf("%s is not always the same", lie.Name)
		}
		if got := l.frames([]byte(other)); len(got) != 1 || string(got[0]) != other || l.Told() != 2 {
			t.Errorf("%s is told about another update", lie.Name)
		}
		list := string(l.rewrite([]byte("[" + other + "," + nodeFrame + "]")))
		if !strings.HasPrefix(list, "["+other) || strings.Contains(list, nodeFrame) && lie.Name[:4] != "dupl" && lie.Name != "wrong order" {
			t.Errorf("%s in a list: %.300s", lie.Name, list)
		}
	}
}

func TestPlansOfFramesKeepToWhatAClientMayBelieve(t *testing.T) {
	kinds := make(map[FrameKind]int)
	for seed := range Seed(300) {
		p := NewPlan(seed, Extent{Requests: 20, Frames: 50})
		misled := 0
		for _, f := range p.Upstream {
			if misleading[f.Kind] {
				misled++
			}
		}
		for _, f := range p.Frames {
			kinds[f.Kind]++
			if damaging[f.Kind] {
				misled++
			}
			if f.Frame < 1 || f.Frame > 50 || !strings.Contains(p.String(), f.String()) {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
		if misled > mostMisleading {
			t.Errorf("seed %d has %d faults that a client may believe", seed, misled)
		}
	}
	for _, kind := range FrameKinds() {
		if kinds[kind] == 0 {
			t.Errorf("%s is never planned", kind)
		}
	}
}

// startFrames serves a websocket that answers a request with frames a, b and c.
func startFrames(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		if _, request, err := conn.Read(r.Context()); err != nil || string(request) != "all" {
			return
		}
		for _, frame := range []string{"aaaa", "bbbb", "cccc"} {
			if conn.Write(r.Context(), websocket.MessageText, []byte(frame)) != nil {
				return
			}
		}
		_ = conn.Close(websocket.StatusNormalClosure, "") // the test sees what came
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestFramesAreFaultyAsPlanned(t *testing.T) {
	for kind, want := range map[FrameKind]string{
		"":         "aaaa bbbb cccc end",
		FrameCut:   "aaaa broken",
		FrameHalf:  "aaaa bb cccc end",
		FrameTwice: "aaaa bbbb bbbb cccc end",
		FrameSwap:  "aaaa cccc bbbb end",
		FrameSlow:  "aaaa bbbb cccc end",
		FrameError: "aaaa " + notNow + " broken",
		FrameStale: "aaaa " + staleToken + " broken",
	} {
		var tally Tally
		p, err := NewHTTP(HTTPConfig{
			Name: "node", Target: startFrames(t), Tokens: true, Tally: &tally, Frames: []FrameFault{{Frame: 2, Kind: kind, Part: 0.5}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		before := p.Token()
		if got := converse(t, p); got != want {
			t.Errorf("%q: got %q, want %q", kind, got, want)
		}
		if stale := p.Token() != before; stale != (kind == FrameStale) || kind != "" && tally.Counts()["node: "+string(kind)] != 1 {
			t.Errorf("%q: token changed %v, counted %v", kind, stale, tally.Counts())
		}
		r, err := http.Get(p.URL())
		if err != nil {
			t.Fatal(err)
		}
		if _ = r.Body.Close(); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("without a token the answer has status %d", r.StatusCode)
		}
	}
}

// converse asks for all frames and says how the stream ended.
func converse(t *testing.T, p *HTTP) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(p.URL(), "http"), &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + p.Token()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, []byte("all")); err != nil {
		t.Fatal(err)
	}
	for said := ""; ; {
		_, frame, err := conn.Read(ctx)
		switch {
		case websocket.CloseStatus(err) == websocket.StatusNormalClosure:
			return said + "end"
		case err != nil:
			return said + "broken"
		}
		said += string(frame) + " "
	}
}
