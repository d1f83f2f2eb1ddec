package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// company is what goes with a lie.
type company int

const (
	alone      company = iota // the upstream lies and everything works
	mixed                     // connections break as well
	witnessed                 // two other upstreams tell the truth
	companions                // how many there are
)

// runLie is an episode in which the upstream does not tell the truth about one item.
func (l *lab) runLie(ctx context.Context, seed faults.Seed, lie faults.Lie, with company) (result, *episode) {
	res := result{kind: lieKind, lie: lie.Name}
	plan := faults.Plan{Seed: seed}
	if with == mixed {
		plan = faults.NewPlan(seed, l.ingestExtent())
	}
	ep := l.newEpisode(seed, plan)
	ep.shape.source = scan.Events
	var err error
	if with == witnessed {
		err = ep.callWitnesses()
	}
	if err != nil {
		res.findings = append(res.findings, err.Error())
		return res, ep
	}
	if lie.Late {
		err = ep.lieLate(ctx, lie)
	} else {
		ep.liar = faults.NewLiar(seed, lie, ep.subject(lie, l.subjects))
		err = ep.open(ctx)
	}
	if err != nil {
		res.findings = append(res.findings, err.Error())
		return res, ep
	}
	if ep.liar == nil {
		res.untold = true // no life left a batch unfinished
		return res, ep
	}
	ep.diary.note("%s", ep.liar)
	stopped := ep.hear(ctx)
	ep.tally.Add("lie: " + lie.Name)
	res.fired = ep.tally.Total()
	if ep.liar.Told() == 0 {
		res.untold = true
		if stopped != nil {
			res.findings = append(res.findings, fmt.Sprintf("%v: %v", errFalseAlarm, stopped))
		}
		return res, ep
	}
	means, err := ep.foundOut(ctx, lie.Means, stopped)
	switch {
	case err != nil:
		res.findings = append(res.findings, err.Error())
	case means == notBelieved:
		res.found = string(means)
	case with != witnessed && !slices.Contains(lie.Means, means):
		res.findings = append(res.findings, fmt.Sprintf("%s was found out by %s, which cannot be: want one of %q", ep.liar, means, lie.Means))
	default:
		res.found = string(means)
	}
	return res, ep
}

const witnessLatency = 15 * time.Millisecond

// callWitnesses adds two honest upstreams, which are slower, so that the liar is asked.
func (ep *episode) callWitnesses() error {
	for range 2 {
		p, err := faults.NewHTTP(faults.HTTPConfig{
			Name: "witness", Target: ep.lab.upstream, PageLimit: ep.shape.pageLimit + 7*len(ep.witnesses), Latency: witnessLatency, Tally: &ep.tally,
		})
		if err != nil {
			return err
		}
		ep.closers = append(ep.closers, p.Close)
		ep.witnesses = append(ep.witnesses, p.URL())
	}
	return nil
}

// subject picks an item that the lie can be told about.
func (ep *episode) subject(lie faults.Lie, from []faults.Subject) faults.Subject {
	var fit []faults.Subject
	for _, s := range from {
		if lie.CanTell(s) {
			fit = append(fit, s)
		}
	}
	return fit[ep.seed.Rand("subject").IntN(len(fit))]
}

// lieLate lets lives pass with the truth until one is killed between the announcement of
// a batch and its commit, and then begins to lie about an item of that batch.
func (ep *episode) lieLate(ctx context.Context, lie faults.Lie) error {
	if err := ep.open(ctx); err != nil {
		return err
	}
	r := ep.seed.Rand("late")
	return ep.killUntil(ctx, r, func(pending *schemas.Intent) bool {
		var fit []faults.Subject
		for _, s := range ep.subjects {
			if lie.CanTell(s) && within(pending, s) {
				fit = append(fit, s)
			}
		}
		if len(fit) == 0 {
			return false
		}
		ep.liar = faults.NewLiar(ep.seed, lie, fit[r.IntN(len(fit))])
		ep.upstream.Lie(ep.liar)
		ep.liar.Begin()
		return true
	})
}

// killUntil lets lives be killed until one leaves a batch unfinished that will do. It gives
// up without an error.
func (ep *episode) killUntil(ctx context.Context, r *rand.Rand, do func(pending *schemas.Intent) bool) error {
	const lives = 25
	for range lives {
		stop := faults.Stop{Turn: 20 + r.IntN(60)}
		if err := ep.live(ctx, &stop); errors.Is(err, errHangs) || schemas.NeedsPerson(err) {
			return fmt.Errorf("%w: %w", errFalseAlarm, err)
		}
		pending, err := ep.pending(ctx)
		if err != nil {
			return err
		}
		if pending != nil && do(pending) {
			return nil
		}
	}
	return nil
}

// pending is the batch that is announced and not committed, nil if there is none.
func (ep *episode) pending(ctx context.Context) (*schemas.Intent, error) {
	db, err := ep.lab.open(ctx, ep.database, ep.address)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var pending *schemas.Intent
	err = ep.awaitShards(ctx, func() error {
		resume, err := indexer.NewWriter(db, ep.stream(), ep.logger()).Resume(ctx, ep.stream())
		pending = resume.Pending
		return err
	})
	return pending, err
}

// within reports whether an item of history, or an import, lies in a batch. Migrations
// of the network do not overlap, so that record times tell them apart.
func within(in *schemas.Intent, s faults.Subject) bool {
	at := schemas.Position{MigrationID: in.Through.MigrationID, RecordTime: schemas.MinMicros, UpdateID: s.UpdateID}
	imports := in.Through.RecordTime == schemas.MinMicros
	if s.Import != imports {
		return false
	}
	if !imports {
		t, err := schemas.ParseTime(s.RecordTime)
		if err != nil {
			return false
		}
		at.RecordTime = t
	}
	return in.After.Before(at) && !in.Through.Before(at)
}

// hear runs the product until it stops because of what it is told, or comes to the end.
// It returns why it stopped.
func (ep *episode) hear(ctx context.Context) error {
	stops := ep.plan.Stops
	var last error
	for life, same := 1, 0; life <= mostLives; life++ {
		var stop *faults.Stop
		if len(stops) > 0 {
			stop, stops = &stops[0], stops[1:]
		} else {
			ep.engine.Pass()
			ep.upstream.Pass()
		}
		err := ep.live(ctx, stop)
		ep.diary.note("life %d ended: %v", life, err)
		switch {
		case schemas.NeedsPerson(err):
			return err
		case errors.Is(err, errKilled):
			continue
		case err == nil && stop == nil:
			return nil
		case err == nil, errors.Is(err, errHangs):
			same = 0
		default:
			// The same end of three lives in a row is the product's last word: it is
			// not retried within a life, and another life comes to the same.
			if same++; same == 3 {
				return err
			}
		}
		last = err
	}
	return last
}

// notBelieved is how a lie ends that changed nothing in the store: what it denied came
// with another answer. An item that was left out of one page may stand in the next.
const notBelieved faults.Means = "not believed"

// foundOut says by which means the lie was found out, or that it was not believed.
func (ep *episode) foundOut(ctx context.Context, possible []faults.Means, stopped error) (faults.Means, error) {
	var refused *scan.Error
	switch {
	case errors.Is(stopped, errHangs):
		return "", stopped
	case len(ep.witnesses) > 0 && stopped != nil && !errors.Is(stopped, schemas.ErrDisagreement):
		return "", fmt.Errorf("stopped although two upstreams of three tell the truth: %w", stopped)
	case errors.Is(stopped, schemas.ErrDisagreement):
		return faults.ByAgreement, nil
	case errors.Is(stopped, schemas.ErrDiverged):
		return faults.ByIntent, nil
	case errors.Is(stopped, schemas.ErrMalformed), errors.As(stopped, &refused):
		return refusedBy(stopped.Error()), nil
	case stopped != nil:
		return "", fmt.Errorf("stopped by something else than a lie: %w", stopped)
	}
	differences, err := ep.compareWithNetwork(ctx, ep.database, schemas.ScanStream, ep.served)
	if err != nil {
		return "", err
	}
	switch {
	case len(differences) == 0 && ep.disagreed.Load() > 0:
		return faults.ByAgreement, nil
	case len(differences) == 0 && strings.Contains(ep.diary.String(), schemas.ErrMalformed.Error()):
		// And another upstream, or the same one later, told the truth.
		return ep.inPassing(possible, refusedBy(ep.diary.String())), nil
	case len(differences) == 0:
		return notBelieved, nil
	case len(ep.witnesses) > 0:
		return "", fmt.Errorf("believed although two upstreams of three tell the truth: %q", differences)
	}
	ep.diary.note("differs from the network: %q", differences)
	return faults.ByDigest, nil
}

// inPassing is the means by which a lie was refused that has left nothing in the store. A
// refusal that it cannot bring about was that of an answer which a fault had damaged.
func (ep *episode) inPassing(possible []faults.Means, means faults.Means) faults.Means {
	if len(ep.plan.Upstream)+len(ep.plan.Frames) > 0 && !slices.Contains(possible, means) {
		return notBelieved
	}
	return means
}

// refusedBy tells pages that were refused for where their items stand from those that
// were refused for what they are.
func refusedBy(text string) faults.Means {
	for _, words := range []string{
		"goes backwards", "appears twice", "does not advance", "page begins at", "ends here", "its overview says", "among the history", "belongs to migration",
	} {
		if strings.Contains(text, words) {
			return faults.ByOrder
		}
	}
	return faults.ByDecoding
}
