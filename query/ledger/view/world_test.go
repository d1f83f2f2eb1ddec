package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// world is what a simulated node tells, as it was told and as ingest understood it.
type world struct {
	url     string
	stream  string
	frames  []frame
	updates []schemas.Update
	created map[string]event // by contract id
	// parties see something; templates occur. Both are sorted.
	parties   []string
	templates []occurring
	// interfaces are the ids of those of which the node computes views.
	interfaces []string
}

// frame is an update as the node gives it to who asks for everything.
type frame struct {
	kind  string
	value map[string]any
}

// event is the object of an event.
type event map[string]any

type occurring struct{ pkg, id string }

// newWorld runs a node and reads all of it. With decorations the node also tells what the
// simulated one never does.
func newWorld(t testing.TB, c devnet.Config, decorated bool) *world {
	t.Helper()
	return newWorldInto(t, c, decorated, nil)
}

// newWorldInto also writes the stream to a sink, unless it is nil.
func newWorldInto(t testing.TB, c devnet.Config, decorated bool, sink stream.Sink) *world {
	t.Helper()
	c.SkipCompact, c.Dir = true, t.TempDir()
	ledger, err := devnet.New(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	handler, err := ledger.NodeHandler(devnet.NodeOptions{ListLimit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := &world{url: server.URL, created: map[string]event{}}
	for _, id := range ledger.Names.Interfaces {
		if strings.Contains(id, ":Splice.") {
			w.interfaces = append(w.interfaces, id)
		}
	}
	told := httptest.NewServer(w.listening(t, handler, decorated))
	defer told.Close()
	ing, err := node.New(node.Config{BaseURL: told.URL, Settings: stream.Settings{Sink: &updatesSink{world: w, next: sink}, Log: slog.New(slog.DiscardHandler)}, Source: node.Lists})
	if err != nil {
		t.Fatal(err)
	}
	if err := ing.Backfill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(w.frames) != len(w.updates) || len(w.frames) == 0 {
		t.Fatalf("%d frames became %d updates", len(w.frames), len(w.updates))
	}
	w.learn()
	return w
}

// updatesSink keeps the updates of a stream, and passes them on to next, if that is set.
type updatesSink struct {
	world *world
	next  stream.Sink
}

func (s *updatesSink) Resume(ctx context.Context, stream string) (schemas.Resume, error) {
	if s.world.stream = stream; s.next != nil {
		return s.next.Resume(ctx, stream)
	}
	return schemas.Resume{Committed: schemas.Start}, nil
}

func (s *updatesSink) Write(ctx context.Context, b *schemas.Batch) error {
	if s.next != nil {
		if err := s.next.Write(ctx, b); err != nil {
			return err
		}
	}
	for i := range b.Items {
		s.world.updates = append(s.world.updates, *b.Items[i].Update)
	}
	return nil
}

// listening passes requests on, and keeps the updates that are answered.
func (w *world) listening(t testing.TB, node http.Handler, decorated bool) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			http.NotFound(rw, r) // a recorder cannot be a websocket
			return
		}
		rec := httptest.NewRecorder()
		node.ServeHTTP(rec, r)
		body := rec.Body.Bytes()
		var list []map[string]map[string]map[string]any
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		if r.URL.Path == "/v2/updates" && rec.Code == http.StatusOK {
			if err := d.Decode(&list); err != nil {
				t.Errorf("the node answers %.200s: %v", body, err)
			}
			for _, element := range list {
				for kind, update := range element["update"] {
					f := frame{kind, update["value"].(map[string]any)}
					if kind == "OffsetCheckpoint" {
						continue
					}
					if decorated {
						f.decorate()
					}
					w.frames = append(w.frames, f)
				}
			}
			if decorated {
				body, _ = json.Marshal(list) // it was just read
			}
		}
		maps.Copy(rw.Header(), rec.Header())
		rw.Header().Set("Content-Length", fmt.Sprint(len(body)))
		rw.WriteHeader(rec.Code)
		rw.Write(body) // the client counts what it gets
	})
}

// decorate adds what real nodes tell and the simulated one does not, here and there.
func (f *frame) decorate() {
	offset := number(f.value["offset"])
	r := rand.New(rand.NewPCG(uint64(offset), 77))
	if r.IntN(4) == 0 {
		f.value["novel"] = map[string]any{"said": "of \"all\""}
	}
	events := f.value["events"].([]any)
	switch f.kind {
	case "TopologyTransaction":
		other, _ := json.Marshal(events[0])
		var second any
		if err := json.Unmarshal(bytes.ReplaceAll(other, []byte(`"partyId":"`), []byte(`"partyId":"x`)), &second); err != nil {
			panic(err)
		}
		f.value["events"] = append(events, second)
		return
	case "Reassignment":
		f.value["events"] = append(events, another(events[0], r))
	case "Transaction":
		if r.IntN(5) == 0 {
			f.value["externalTransactionHash"] = "EiD/+w=="
		}
	}
	for _, e := range f.value["events"].([]any) {
		for kind, body := range e.(map[string]any) {
			ev := body.(map[string]any)
			if kind == "JsAssignmentEvent" {
				if r.IntN(2) == 0 {
					ev["novelAround"] = true
				}
				ev = ev["createdEvent"].(map[string]any)
			}
			if kind == "JsUnassignedEvent" {
				ev = ev["value"].(map[string]any)
			}
			decorateEvent(ev, r)
		}
	}
}

func decorateEvent(e event, r *rand.Rand) {
	if r.IntN(5) == 0 {
		e["novelty"] = []any{"ä", nil, json.Number("1.50")}
	}
	if e["createArgument"] == nil {
		return
	}
	if r.IntN(3) == 0 {
		e["contractKey"], e["contractKeyHash"] = map[string]any{"k": "v"}, "aGFzaA=="
	}
	switch r.IntN(6) {
	case 0, 1:
		e["interfaceViews"] = []any{map[string]any{
			"interfaceId": holdingID, "viewStatus": map[string]any{"code": json.Number("0"), "message": ""}, "viewValue": map[string]any{"owner": "x"},
		}}
	case 2:
		e["interfaceViews"] = []any{failedView(holdingID), failedView(lockedID)}
	}
}

// another is the reassignment of one more contract, which fewer parties see.
func another(first any, r *rand.Rand) any {
	text, _ := json.Marshal(first) // it came as JSON
	text = bytes.ReplaceAll(text, []byte(`"contractId":"`), []byte(`"contractId":"ee`))
	text = bytes.ReplaceAll(text, []byte(`"nodeId":0`), []byte(`"nodeId":3`))
	var copied map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&copied); err != nil {
		panic(err)
	}
	for _, body := range copied {
		outer := body.(map[string]any)
		e := outer
		if c, ok := outer["createdEvent"]; ok {
			e = c.(map[string]any)
		} else {
			e = outer["value"].(map[string]any)
			outer = e
		}
		outer["source"] = "elsewhere::1220"
		w := e["witnessParties"].([]any)
		e["witnessParties"] = w[r.IntN(len(w)):]
	}
	return copied
}

// learn finds out what occurs and adds to exercises the contracts that they end, as the
// store does.
func (w *world) learn() {
	parties, templates := map[string]bool{}, map[occurring]bool{}
	for _, f := range w.frames {
		for kind, e := range f.events() {
			if kind == "CreatedEvent" || kind == "JsAssignmentEvent" {
				w.created[e.text("contractId")] = e
			}
			for _, p := range e.list("witnessParties") {
				parties[p] = true
			}
			templates[occurring{e.text("packageName"), e.text("templateId")}] = true
		}
	}
	w.parties = slices.Sorted(maps.Keys(parties))
	w.templates = slices.SortedFunc(maps.Keys(templates), func(a, b occurring) int { return strings.Compare(a.id, b.id) })
	for i := range w.updates {
		for j := range w.updates[i].Events {
			e := &w.updates[i].Events[j]
			if e.Kind == schemas.Exercised && e.Consuming && e.Local.ACSDelta {
				c := w.created[e.ContractID]
				e.Local.Contract = &schemas.EndedContract{TemplateID: c.text("templateId"), Signatories: c.list("signatories"), Observers: c.list("observers")}
			}
		}
	}
}

// events goes through the objects of a frame's events that have contracts, by kind.
func (f *frame) events() func(func(string, event) bool) {
	return func(yield func(string, event) bool) {
		if f.kind == "TopologyTransaction" {
			return
		}
		for _, e := range f.value["events"].([]any) {
			for kind, body := range e.(map[string]any) {
				ev := event(body.(map[string]any))
				switch kind {
				case "JsAssignmentEvent":
					ev = ev["createdEvent"].(map[string]any)
				case "JsUnassignedEvent":
					ev = ev["value"].(map[string]any)
				}
				if !yield(kind, ev) {
					return
				}
			}
		}
	}
}

func (e event) text(key string) string {
	s, _ := e[key].(string) // "" when absent
	return s
}

func (e event) list(key string) (list []string) {
	all, _ := e[key].([]any) // none when absent
	for _, s := range all {
		list = append(list, s.(string))
	}
	return list
}

func number(v any) int64 {
	n, err := v.(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	return n
}

// known is what the store of the world knows.
func (w *world) known() *view.Known {
	k := view.NewKnown(nil)
	for _, t := range w.templates {
		k.AddTemplate(t.pkg, t.id)
		for _, i := range implements(t.pkg, t.id) {
			k.AddImplementation(t.pkg, t.id, i)
		}
	}
	k.AddInterface(nobodysID)
	return k
}

// knownByCatalogue is what the store of the world knows, when it has the catalogue and the node never
// told of interfaces.
func (w *world) knownByCatalogue() *view.Known {
	k := view.NewKnown(values.Default())
	for _, t := range w.templates {
		k.AddTemplate(t.pkg, t.id)
	}
	return k
}

// Interfaces that filters of tests name.
const (
	holdingID = "aa11:Splice.Api.Token.HoldingV1:Holding"
	lockedID  = "bb22:Test.Locked:Locked"
	nobodysID = "cc33:Test.Nobody:Nobody"
)

// implements are the interfaces of a template.
func implements(pkg, id string) []string {
	switch _, name, _ := strings.Cut(id, ":"); {
	case pkg == "splice-amulet" && name == "Splice.Amulet:Amulet":
		return []string{holdingID}
	case pkg == "splice-amulet" && name == "Splice.Amulet:LockedAmulet":
		return []string{holdingID, lockedID}
	}
	return nil
}

// canonical brings any JSON into one form.
func canonical(t testing.TB, text []byte) string {
	t.Helper()
	out, err := jsonscan.AppendCanonical(nil, text)
	if err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return string(out)
}

// post asks the node itself.
func (w *world) post(t testing.TB, path, body string) (int, []byte) {
	t.Helper()
	resp, err := http.Post(w.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
