package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Episodes with a node's ledger API as upstream. The simulated node is asked by websocket or
// by list calls, has all its history or has pruned it, and has offsets without updates in
// between, as every node has: none of that may raise an alarm.

// nodeLab is the node of the lab.
type nodeLab struct {
	stream string
	// urls of the node with all its history, and of one that has pruned it.
	whole, pruned string
	served        verify.Tables
	subjects      []faults.NodeSubject
	extent        faults.Extent // of an undisturbed run by websocket
	// truths are the undisturbed runs, of the whole and the pruned node.
	truths map[bool]truth
}

// nodeShape is how the product reads the node in an episode.
type nodeShape struct {
	source     node.Source
	pruned     bool
	workers    int
	batchItems int
	record     func(frame []byte)
}

func drawNodeShape(seed faults.Seed) nodeShape {
	r := seed.Rand("node shape")
	s := nodeShape{source: node.Auto, workers: 1 + r.IntN(3), batchItems: 15 + r.IntN(60), pruned: r.IntN(4) == 0}
	switch r.IntN(6) {
	case 0:
		s.source = node.Lists
	case 1:
		s.source = node.Flats
	case 2:
		s.source = node.WebSocket
	}
	return s
}

func (s nodeShape) String() string {
	return fmt.Sprintf("node by %q, pruned %v, %d workers, batches of %d items", s.source, s.pruned, s.workers, s.batchItems)
}

// startNode serves the participant's view of the lab's ledger.
func (l *lab) startNode(t *testing.T) {
	t.Helper()
	digests := l.ledger.NodeDigests()
	tables, err := app.TablesOf(digests.Tables)
	if err != nil {
		t.Fatal(err)
	}
	l.node = &nodeLab{stream: schemas.NodeStream(digests.ParticipantID), truths: make(map[bool]truth), served: tables}
	for _, pruned := range []bool{false, true} {
		options := devnet.NodeOptions{CheckpointEvery: 25}
		if pruned {
			options.PrunedOffset = digests.LedgerEnd / 2
		}
		handler, err := l.ledger.NodeHandler(options)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		if pruned {
			l.node.pruned = server.URL
		} else {
			l.node.whole = server.URL
		}
	}
}

// prepareNode runs the product on the node undisturbed, and learns what there is to lie
// about.
func (l *lab) prepareNode(t *testing.T) {
	t.Helper()
	for _, pruned := range []bool{false, true} {
		ep := l.newEpisode(0, faults.Plan{})
		ep.database, ep.node = fmt.Sprintf("%s_node_%v", labDatabase, pruned), &nodeShape{source: node.WebSocket, pruned: pruned, workers: 1, batchItems: 30}
		var mu sync.Mutex
		ep.node.record = func(frame []byte) {
			mu.Lock()
			defer mu.Unlock()
			if s, ok := faults.ReadNodeSubject(frame); ok && len(l.node.truths) == 0 && !slices.ContainsFunc(l.node.subjects, func(o faults.NodeSubject) bool { return o.UpdateID == s.UpdateID }) {
				l.node.subjects = append(l.node.subjects, s)
			}
		}
		if err := ep.ingest(t.Context()); err != nil {
			t.Fatalf("undisturbed run from the node, pruned %v: %v", pruned, err)
		}
		tables, err := l.fingerprint(t.Context(), ep.database)
		if err != nil {
			t.Fatal(err)
		}
		l.node.truths[pruned] = truth{ep.database, tables}
		if !pruned {
			l.node.extent = faults.Extent{Requests: ep.upstream.Requests(), Frames: ep.upstream.Frames(), EngineTurns: ep.engine.Turns()}
			differences, err := l.compareWithNetwork(t.Context(), ep.database, l.node.stream, l.node.served)
			if err != nil || len(differences) > 0 || len(l.node.subjects) < 30 {
				t.Fatalf("the undisturbed run differs from the node: %q, %v; %d updates", differences, err, len(l.node.subjects))
			}
		}
		if err := ep.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// nodeUpstream configures the proxy before the node.
func (ep *episode) nodeUpstream() faults.HTTPConfig {
	target := ep.lab.node.whole
	if ep.node.pruned {
		target = ep.lab.node.pruned
	}
	return faults.HTTPConfig{
		Name: "node", Target: target, Faults: ep.plan.Upstream, Frames: ep.plan.Frames, NodeLiar: ep.nodeLiar, Tokens: true,
		Record: ep.node.record, Tally: &ep.tally,
	}
}

// workOnNode is work for a node.
func (ep *episode) workOnNode(ctx context.Context, db *store.DB) error {
	log := ep.logger()
	ingester, err := node.New(node.Config{
		BaseURL: ep.upstream.URL(), Source: ep.node.source,
		Settings: stream.Settings{
			Sink: indexer.NewSinks(db, log), Log: log, BatchItems: ep.node.batchItems, RequestTimeout: 700 * time.Millisecond,
		},
		Workers: ep.node.workers, MaxFrameBytes: faults.OversizedBytes, TempDir: ep.dir,
		IdleTimeout: 700 * time.Millisecond, Poll: soakPoll, TryWebSocketEvery: 100 * time.Millisecond,
		Token: func(context.Context) (string, error) { return ep.upstream.Token(), nil },
	})
	if err != nil {
		return err
	}
	return app.BackfillNode(ctx, db, log, ingester)
}

// runNode is an episode with an honest node.
func (l *lab) runNode(ctx context.Context, seed faults.Seed) (result, *episode) {
	res := result{kind: "node"}
	shape := drawNodeShape(seed)
	ep := l.newEpisode(seed, faults.NewPlan(seed, l.nodeExtent(shape)))
	ep.node = &shape
	if err := ep.ingest(ctx); err != nil {
		res.findings = append(res.findings, err.Error())
	} else if err := ep.check(ctx, &res); err != nil {
		res.findings = append(res.findings, err.Error())
	}
	res.fired = ep.tally.Total()
	return res, ep
}

// nodeExtent is how long a run on the node is. List calls are more than the websocket needs.
func (l *lab) nodeExtent(s nodeShape) faults.Extent {
	x := l.node.extent
	if s.source == node.Lists || s.source == node.Flats {
		x.Frames = 0
	}
	return x
}

// runNodeLie is an episode in which a node does not tell the truth about one update: the
// lies in turn, first alone and then together with faults.
func (l *lab) runNodeLie(ctx context.Context, seed faults.Seed, n int) (result, *episode) {
	lies := faults.NodeLies()
	lie := lies[n%len(lies)]
	res := result{kind: lieKind, lie: "node: " + lie.Name}
	shape := drawNodeShape(seed)
	shape.pruned = false // which has no updates to lie about
	plan := faults.Plan{Seed: seed}
	if n/len(lies)%2 == 1 {
		plan = faults.NewPlan(seed, l.nodeExtent(shape))
	}
	ep := l.newEpisode(seed, plan)
	ep.node = &shape
	if err := ep.tellOfNode(ctx, lie); err != nil {
		res.findings = append(res.findings, err.Error())
		return res, ep
	}
	if ep.nodeLiar == nil {
		res.untold = true // no life left a batch unfinished
		return res, ep
	}
	ep.diary.note("%s", ep.nodeLiar)
	stopped := ep.hear(ctx)
	ep.tally.Add("lie: " + res.lie)
	res.fired = ep.tally.Total()
	if ep.nodeLiar.Told() == 0 {
		res.untold = true
		if stopped != nil {
			res.findings = append(res.findings, fmt.Sprintf("%v: %v", errFalseAlarm, stopped))
		}
		return res, ep
	}
	means, err := ep.nodeFoundOut(ctx, lie.Means, stopped)
	switch {
	case err != nil:
		res.findings = append(res.findings, err.Error())
	case means != notBelieved && !slices.Contains(lie.Means, means):
		res.findings = append(res.findings, fmt.Sprintf("%s was found out by %s, which cannot be: want one of %q: %v", ep.nodeLiar, means, lie.Means, stopped))
	default:
		res.found = string(means)
	}
	return res, ep
}

// tellOfNode opens the episode with a liar, or, for a lie that is Late, lets one begin once
// a batch was left unfinished.
func (ep *episode) tellOfNode(ctx context.Context, lie faults.NodeLie) error {
	r := ep.seed.Rand("subject")
	pick := func(among func(faults.NodeSubject) bool) *faults.NodeLiar {
		var fit []faults.NodeSubject
		for _, s := range ep.lab.node.subjects {
			if lie.CanTell(s) && among(s) {
				fit = append(fit, s)
			}
		}
		if len(fit) == 0 {
			return nil
		}
		return faults.NewNodeLiar(ep.seed, lie, fit[r.IntN(len(fit))])
	}
	if !lie.Late {
		ep.nodeLiar = pick(func(faults.NodeSubject) bool { return true })
		return ep.open(ctx)
	}
	if err := ep.open(ctx); err != nil {
		return err
	}
	return ep.killUntil(ctx, r, func(pending *schemas.Intent) bool {
		ep.nodeLiar = pick(func(s faults.NodeSubject) bool {
			return pending.After.Offset < s.Offset && s.Offset <= pending.Through.Offset
		})
		if ep.nodeLiar == nil {
			return false
		}
		ep.upstream.LieOfNode(ep.nodeLiar)
		ep.nodeLiar.Begin()
		return true
	})
}

// nodeFoundOut says by which means a node's lie was found out, or that it was not believed.
func (ep *episode) nodeFoundOut(ctx context.Context, possible []faults.Means, stopped error) (faults.Means, error) {
	var refused *node.Error
	switch {
	case errors.Is(stopped, errHangs):
		return "", stopped
	case errors.Is(stopped, schemas.ErrDiverged):
		return faults.ByIntent, nil
	case errors.Is(stopped, schemas.ErrMalformed), errors.As(stopped, &refused):
		return refusedByNode(stopped.Error()), nil
	case stopped != nil:
		return "", fmt.Errorf("stopped by something else than a lie: %w", stopped)
	}
	differences, err := ep.compareWithNetwork(ctx, ep.database, ep.stream(), ep.lab.node.served)
	switch {
	case err != nil:
		return "", err
	case len(differences) == 0 && strings.Contains(ep.diary.String(), schemas.ErrMalformed.Error()):
		return ep.inPassing(possible, refusedByNode(ep.diary.String())), nil // and what was true beside it was taken
	case len(differences) == 0:
		return notBelieved, nil
	}
	ep.diary.note("differs from the node: %q", differences)
	return faults.ByDigest, nil
}

// refusedByNode is refusedBy for what is said of a node's stream.
func refusedByNode(text string) faults.Means {
	for _, words := range []string{"appears twice", "follows offset", "beyond the requested end", "an answer lacks updates"} {
		if strings.Contains(text, words) {
			return faults.ByOrder
		}
	}
	return faults.ByDecoding
}
