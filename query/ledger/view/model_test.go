package view_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// evaluate cuts an update as the interface's documents say, the long way: it knows neither
// the product's types nor its way of going about it. The result is nil if nothing is
// visible.
func (w *world) evaluate(f *frame, q *wants) map[string]any {
	switch f.kind {
	case "TopologyTransaction":
		return w.topology(f, q)
	case "Reassignment":
		return w.cut(f, q.reassignments, false)
	}
	return w.cut(f, q.transactions, q.effects)
}

func (w *world) topology(f *frame, q *wants) map[string]any {
	if q.topology == nil {
		return nil
	}
	var events []any
	for _, e := range f.value["events"].([]any) {
		text := toJSON(e)
		about := func(party string) bool { return strings.Contains(text, `"partyId":"`+party+`"`) }
		if len(q.topology) == 0 || slices.ContainsFunc(q.topology, about) {
			events = append(events, e)
		}
	}
	if events == nil {
		return nil
	}
	value := maps.Clone(f.value)
	value["events"] = events
	if len(q.topology) > 0 {
		delete(value, "novel")
	}
	return wrap(f.kind, value)
}

func wrap(kind string, value map[string]any) map[string]any {
	return map[string]any{"update": map[string]any{kind: map[string]any{"value": value}}}
}

// cut keeps the events that are visible, and of them what is asked for.
func (w *world) cut(f *frame, q *eventWants, effects bool) map[string]any {
	if q == nil {
		return nil
	}
	var events []any
	for _, e := range f.value["events"].([]any) {
		for kind, body := range e.(map[string]any) {
			if out := w.event(kind, body.(map[string]any), q, effects); out != nil {
				events = append(events, out)
			}
		}
	}
	if events == nil {
		return nil
	}
	value := maps.Clone(f.value)
	value["events"] = events
	if q.anyParty == nil {
		delete(value, "novel")
		if !slices.ContainsFunc(submitters(f), func(p string) bool { _, ok := q.byParty[p]; return ok }) {
			delete(value, "commandId")
			delete(value, "paidTrafficCost")
		}
	}
	if value["workflowId"] == "" {
		delete(value, "workflowId")
	}
	return wrap(f.kind, value)
}

// submitters are the parties that authorize the roots of a transaction, or who moves a
// contract.
func submitters(f *frame) (parties []string) {
	if f.kind == "Reassignment" {
		for _, body := range f.value["events"].([]any)[0].(map[string]any) {
			outer := event(body.(map[string]any))
			if v, ok := outer["value"]; ok {
				outer = v.(map[string]any)
			}
			return []string{outer.text("submitter")}
		}
	}
	covered := int64(-1)
	for kind, e := range f.events() {
		if number(e["nodeId"]) <= covered {
			continue
		}
		if kind == "ExercisedEvent" {
			covered = number(e["lastDescendantNodeId"])
			parties = append(parties, e.list("actingParties")...)
		} else {
			parties = append(parties, e.list("signatories")...)
		}
	}
	return parties
}

// event returns what is visible of an event, nil for nothing.
func (w *world) event(kind string, body event, q *eventWants, effects bool) map[string]any {
	inner := body
	switch kind {
	case "JsAssignmentEvent":
		inner = body["createdEvent"].(map[string]any)
	case "JsUnassignedEvent":
		inner = body["value"].(map[string]any)
	}
	seenBy := inner.list("witnessParties")
	stakeholders := w.stakeholders(kind, inner)
	template := inner.text("templateId")
	delta, hasDelta := inner["acsDelta"].(bool)
	if !effects {
		if hasDelta && !delta {
			return nil
		}
		seenBy = slices.DeleteFunc(slices.Clone(seenBy), func(p string) bool { return !slices.Contains(stakeholders, p) })
		if kind == "ExercisedEvent" {
			template = w.created[inner.text("contractId")].text("templateId")
		}
	}
	var named []string
	var matching []entry
	for _, p := range seenBy {
		own, asked := q.byParty[p]
		if !asked && q.anyParty == nil {
			continue
		}
		named = append(named, p)
		if asked {
			matching = append(matching, matches(own, inner.text("packageName"), template)...)
		}
	}
	if q.anyParty != nil && len(named) > 0 {
		matching = append(matching, matches(q.anyParty, inner.text("packageName"), template)...)
	}
	if len(matching) == 0 {
		return nil
	}
	out := maps.Clone(inner)
	out["witnessParties"] = named
	if q.anyParty == nil {
		delete(out, "novelty")
	}
	views := viewsOf(matching)
	switch {
	case kind == "ExercisedEvent" && !effects:
		kind, out = "ArchivedEvent", event{"templateId": template, "witnessParties": named}
		for _, key := range []string{"contractId", "nodeId", "offset", "packageName"} {
			out[key] = inner[key]
		}
		fallthrough
	case kind == "ExercisedEvent":
		if inner["consuming"] == true && len(views) > 0 {
			out["implementedInterfaces"] = views
		}
	case kind != "JsUnassignedEvent":
		w.createdMembers(out, matching, views)
	}
	if effects && q.anyParty == nil && hasDelta {
		out["acsDelta"] = delta && slices.ContainsFunc(named, func(p string) bool { return slices.Contains(stakeholders, p) })
	}
	switch kind {
	case "JsAssignmentEvent":
		body = maps.Clone(body)
		body["createdEvent"] = out
		if q.anyParty == nil {
			delete(body, "novelAround")
		}
		out = body
	case "JsUnassignedEvent":
		out = event{"value": out}
	}
	return map[string]any{kind: out}
}

// createdMembers leaves the blob and the views that are asked for.
func (w *world) createdMembers(out event, matching []entry, views []string) {
	if !slices.ContainsFunc(matching, func(e entry) bool { return e.blob }) {
		delete(out, "createdEventBlob")
	}
	stored, _ := out["interfaceViews"].([]any) // none when absent
	delete(out, "interfaceViews")
	var given []any
	for _, id := range views {
		given = append(given, viewOf(out, id, stored))
	}
	if given != nil {
		out["interfaceViews"] = given
	}
}

// viewsOf are the ids of the interfaces whose views are asked for, in the order of names.
func viewsOf(matching []entry) (ids []string) {
	for _, e := range matching {
		if id := e.pkg + ":" + e.name; e.view && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		_, a, _ = strings.Cut(a, ":")
		_, b, _ = strings.Cut(b, ":")
		return cmp.Compare(a, b)
	})
	return ids
}

func (w *world) stakeholders(kind string, e event) []string {
	switch kind {
	case "JsUnassignedEvent":
		return e.list("witnessParties")
	case "ExercisedEvent":
		e = w.created[e.text("contractId")]
	}
	return slices.Concat(e.list("signatories"), e.list("observers"))
}

// matches are the entries that match a template; without entries all match.
func matches(entries []entry, pkg, templateID string) (matching []entry) {
	id, name, _ := strings.Cut(templateID, ":")
	real := 0
	for _, e := range entries {
		ok := false
		switch e.kind {
		case "Empty":
			continue
		case "WildcardFilter":
			ok = true
		case "TemplateFilter":
			ok = e.name == name && (e.pkg == "#"+pkg || e.pkg == id)
		case "InterfaceFilter":
			ok = slices.Contains(implements(pkg, templateID), e.pkg+":"+e.name)
		}
		if real++; ok {
			matching = append(matching, e)
		}
	}
	if real == 0 {
		return []entry{{kind: "WildcardFilter"}}
	}
	return matching
}

// worlds of the model test: a validator with users and apps, one that sees all of public
// history, and a small one.
var worlds = []devnet.Config{
	{Updates: 500, Seed: 21, Node: &devnet.NodeConfig{}},
	{Updates: 300, Seed: 22, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}},
	{Updates: 900, Seed: 23, Node: &devnet.NodeConfig{Participant: "validator-2"}},
}

// The view must show what the plain evaluation of the rules shows, for any request.
func TestViewShowsWhatTheRulesSay(t *testing.T) {
	const cases = 10_000
	seen := map[string]int{}
	for i, c := range worlds {
		w := newWorld(t, c, true)
		known := w.known()
		for n := range cases/len(worlds) + 1 {
			g := &generator{Rand: rand.New(rand.NewPCG(c.Seed, uint64(n))), w: w}
			if err := w.tryCase(t, g, known, seen); err != nil {
				t.Fatalf("world %d, case %d (seeds %d, %d): %v", i, n, c.Seed, n, err)
			}
		}
	}
	for _, what := range []string{"visible", "invisible", "ArchivedEvent", "JsAssignmentEvent", "JsUnassignedEvent", "TopologyTransaction",
		"createdEventBlob", `"code":0`, `"code":12`, "implementedInterfaces", "commandId", "novelty", "novelAround", "contractKey", `"acsDelta":false`, "externalTransactionHash"} {
		if seen[what] < 20 {
			t.Errorf("only %d cases had %s: %v", seen[what], what, seen)
		}
	}
	t.Log(seen)
}

// tryCase compares one request over a stretch of the world in one direction.
func (w *world) tryCase(t *testing.T, g *generator, known *view.Known, seen map[string]int) error {
	q := g.wants()
	first := g.IntN(len(w.frames))
	last := min(first+g.IntN(16), len(w.frames)-1)
	descending := g.IntN(2) == 0
	body := q.text(w.updates[first].Local.Offset-1, w.updates[last].Local.Offset, descending)
	req, err := view.ParseUpdates([]byte(body), known, view.Formats)
	if err != nil {
		return fmt.Errorf("%s: %w", body, err)
	}
	if req.Descending != descending || req.Begin != w.updates[first].Local.Offset-1 || *req.End != w.updates[last].Local.Offset {
		return fmt.Errorf("%s: read as %+v", body, req)
	}
	if err := q.checkReaders(req.Format); err != nil {
		return fmt.Errorf("%s: %w", body, err)
	}
	selection := req.Format.Selection()
	var out []byte
	for i := range last - first + 1 {
		at := first + i
		if descending {
			at = last - i
		}
		u := &w.updates[at]
		before := len(out)
		var visible bool
		if out, visible, err = req.Format.AppendUpdate(out, u); err != nil {
			return fmt.Errorf("%s: %w", body, err)
		}
		want := w.evaluate(&w.frames[at], q)
		if visible != (want != nil) || !visible && len(out) != before {
			return fmt.Errorf("%s: offset %d is visible: %t, should be %t", body, u.Local.Offset, visible, want != nil)
		}
		if !visible {
			seen["invisible"]++
			continue
		}
		seen["visible"]++
		text, err := json.Marshal(want)
		if err != nil {
			return err
		}
		got := canonical(t, out[before:])
		if wanted := canonical(t, text); got != wanted {
			return fmt.Errorf("%s: offset %d is shown as\n%s\nand should be\n%s", body, u.Local.Offset, got, wanted)
		}
		if !selects(&selection, u) {
			return fmt.Errorf("%s: offset %d is visible and not among what is selected by %+v", body, u.Local.Offset, selection)
		}
		for _, what := range []string{"ArchivedEvent", "JsAssignmentEvent", "JsUnassignedEvent", "TopologyTransaction", "createdEventBlob",
			`"code":0`, `"code":12`, "implementedInterfaces", "commandId", "novelty", "novelAround", "contractKey", `"acsDelta":false`, "externalTransactionHash"} {
			if strings.Contains(got, what) {
				seen[what]++
			}
		}
	}
	return nil
}

// checkReaders compares whose rights a format needs with who is named in the request.
func (q *wants) checkReaders(f *view.UpdateFormat) error {
	named, wantAny := map[string]bool{}, q.topology != nil && len(q.topology) == 0
	for _, e := range []*eventWants{q.transactions, q.reassignments} {
		if e == nil {
			continue
		}
		wantAny = wantAny || e.anyParty != nil
		for p := range e.byParty {
			named[p] = true
		}
	}
	for _, p := range q.topology {
		named[p] = true
	}
	parties, anyParty := f.Readers()
	if want := slices.Sorted(maps.Keys(named)); !slices.Equal(parties, want) || anyParty != wantAny {
		return fmt.Errorf("needs rights of %q, any party: %t; should be %q, %t", parties, anyParty, want, wantAny)
	}
	return nil
}

// selects evaluates a selection as its documentation says.
func selects(s *nodehistory.Selection, u *schemas.Update) bool {
	events := s.Reassignments
	switch u.Kind {
	case schemas.Topology:
		return s.Topology
	case schemas.Transaction:
		events = s.Transactions
	}
	if events == nil {
		return false
	}
	for i := range u.Events {
		e := &u.Events[i]
		has := slices.Concat(e.Signatories, e.Observers, e.ActingParties, e.Local.Witnesses)
		for _, entry := range events.Entries {
			party := len(entry.Parties) == 0 || slices.ContainsFunc(entry.Parties, func(p string) bool { return slices.Contains(has, p) })
			template := len(entry.Templates) == 0 || slices.Contains(entry.Templates, e.TemplateID) ||
				slices.Contains(entry.Templates, schemas.TemplateName(e.PackageName, e.TemplateID))
			if party && template {
				return true
			}
		}
	}
	return false
}
