package state

import (
	"context"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// stepPage is how many steps of a contract's history are read at once: the contracts of the token
// standard have two or three.
const stepPage = 50

// byID returns the active contract with an id, nil if there is none of the templates. Its history
// leads to it, as lifetimes are not sorted by id. A contract between two synchronizers is a conflict: it
// cannot be disclosed until it is assigned.
func (g *registry) byID(ctx context.Context, id string, templates ...string) (*contract, error) {
	if err := g.governance.horizon.RequireHistory(ctx); err != nil {
		return nil, err
	}
	through, err := g.governance.horizon.Watermark.Get(ctx)
	if err != nil {
		return nil, err
	}
	var last *history.StateContract
	moving := false
	q := history.ContractQuery{ContractID: id, After: schemas.Start, AfterNode: -1, Through: through, Limit: stepPage}
	for {
		steps, err := g.contracts.source.ContractHistory(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range steps {
			last, moving = after(last, &steps[i]), unassigns(&steps[i])
		}
		if len(steps) < stepPage {
			break
		}
		end := &steps[len(steps)-1]
		q.After, q.AfterNode = end.Update.Position(), end.Node()
	}
	if last == nil || !isOf(&last.Event, templates) {
		return nil, nil
	}
	if moving {
		return nil, query.Errorf(query.AlreadyExists, "Contract %.200s is being reassigned to another synchronizer.", id)
	}
	return &g.contracts.compacted([]history.StateContract{*last})[0], nil
}

// after is how a contract stands after a step of its history, nil when it is not active.
func after(before *history.StateContract, s *history.ContractStep) *history.StateContract {
	u := &s.Update
	switch {
	case unassigns(s):
		return before
	case u.Events[0].Kind == schemas.Exercised && u.Events[0].Consuming:
		return nil
	case u.Events[0].Kind != schemas.Created:
		return before
	}
	return &history.StateContract{
		ContractRow:    store.ContractRow{Event: u.Events[0], Encoding: u.Encoding, CreatedIn: u.UpdateID},
		MigrationID:    u.MigrationID,
		SynchronizerID: u.SynchronizerID, ArchivedAt: store.NeverArchived,
	}
}

func unassigns(s *history.ContractStep) bool { return len(s.Update.Events) == 0 }

func isOf(e *schemas.Event, templates []string) bool {
	name := schemas.TemplateName(e.PackageName, e.TemplateID)
	return slices.ContainsFunc(templates, func(t string) bool { return slices.Contains(values.Spellings(values.Network(t)), name) })
}

// registryPath is a path of this interface as every scan has it.
func registryPath(path string) string { return path[strings.Index(path, "/registry/"):] }
