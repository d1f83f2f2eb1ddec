package node

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
)

// Codes of a node that does not know an interface.
const (
	codeNoPackage   = "PACKAGE_NAMES_NOT_FOUND"
	codeNoInterface = "TEMPLATES_OR_INTERFACES_NOT_FOUND"
	codeNoEntity    = "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"
)

// packagesOperation lists the ids of the node's packages.
const packagesOperation = "/v2/packages"

// interfaces are those whose views the stream is asked for. A request that names one which the node
// does not know is refused as a whole, so the node is asked about each of them before, and again when
// it has other packages. Only the goroutine that runs sessions changes them, between two sessions.
type interfaces struct {
	client *client
	cfg    *Config
	log    *slog.Logger

	// asked are those that the node knows.
	asked []string
	// state is what asked was found by: the packages of the node and the interfaces wanted.
	state uint64
}

// errInterfaces ends a session when more interfaces, or others, are to be asked for.
var errInterfaces = errors.New("the packages of the node are others than before")

// wanted are those that the settings name.
func (i *interfaces) wanted() []string {
	if i.cfg.Interfaces == nil {
		return nil
	}
	return i.cfg.Interfaces()
}

// look finds out which interfaces the node knows, unless nothing has changed since the last time.
func (i *interfaces) look(ctx context.Context) error {
	wanted := i.wanted()
	if len(wanted) == 0 {
		i.asked, i.state = nil, 0
		return nil
	}
	state, err := i.stateOf(ctx, wanted)
	if err != nil || state == i.state {
		return err
	}
	var known []string
	for _, name := range wanted {
		ok, err := i.knows(ctx, name)
		if err != nil {
			return err
		}
		if ok {
			known = append(known, name)
		}
	}
	if !slices.Equal(known, i.asked) {
		i.log.InfoContext(ctx, "views of interfaces are asked for", "interfaces", known, "unknown_to_the_node", len(wanted)-len(known))
	}
	i.asked, i.state = known, state
	return nil
}

// stateOf identifies the packages of the node together with the interfaces wanted. While a node does
// not list its packages, they are taken for those that it had.
func (i *interfaces) stateOf(ctx context.Context, wanted []string) (uint64, error) {
	var answer struct {
		IDs []string `json:"packageIds"`
	}
	err := i.client.get(ctx, packagesOperation, &answer)
	var e *Error
	switch {
	case err != nil && (!errors.As(err, &e) || !e.refused() && !e.denied()):
		return 0, err
	case err != nil && i.state != 0:
		return i.state, nil
	}
	slices.Sort(answer.IDs)
	h := fnv.New64a()
	for _, name := range slices.Concat(wanted, answer.IDs) {
		_, _ = fmt.Fprintln(h, name) // a hash takes everything
	}
	return h.Sum64(), nil
}

// knows reports whether the node takes an interface in a filter, by asking for the updates after the
// ledger's end.
func (i *interfaces) knows(ctx context.Context, name string) (bool, error) {
	var end struct {
		Offset int64 `json:"offset"`
	}
	if err := i.client.get(ctx, ledgerEndOperation, &end); err != nil {
		return false, err
	}
	events := i.cfg.eventFormat()
	only := filters{Cumulative: []cumulativeFilter{viewFilter(name)}}
	for party := range events.ByParty {
		events.ByParty[party] = only
	}
	if events.AnyParty != nil {
		events.AnyParty = &only
	}
	q := i.cfg.updatesOf(events, end.Offset, 0)
	q.EndInclusive = &end.Offset
	var err error
	for _, operation := range []string{updatesOperation, flatsOperation} {
		_, err = i.client.do(ctx, &call{method: http.MethodPost, operation: operation, query: url.Values{"limit": {"1"}}, body: q})
		switch {
		case err == nil:
			return true, nil
		case unknownInterface(err):
			return false, nil
		case !refused(err):
			return false, err
		}
	}
	i.log.WarnContext(ctx, "the node cannot be asked whether it knows an interface: its views are not asked for", "interface", name, "err", err)
	return false, nil
}

// unknownInterface reports whether err says that the node does not know an interface.
func unknownInterface(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == codeNoPackage || e.Code == codeNoInterface || e.Code == codeNoEntity)
}

// forgot has the node asked again if err says that it no longer knows an interface that it knew.
func (i *interfaces) forgot(err error) bool {
	if len(i.asked) == 0 || !unknownInterface(err) {
		return false
	}
	i.asked, i.state = nil, 0
	return true
}

// watched is ctx until the node has other packages, or others are wanted, while a stream is followed;
// the cause is errInterfaces then. stop ends the watch.
func (i *interfaces) watched(ctx context.Context) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	guard.Go(func() error {
		for remote.Sleep(ctx, i.cfg.LookEvery) == nil {
			wanted := i.wanted()
			if len(wanted) == 0 && i.state == 0 {
				continue
			}
			if state, err := i.stateOf(ctx, wanted); err == nil && state != i.state {
				cancel(errInterfaces)
			}
		}
		return nil
	}, func(error) { close(done) }) // what fails is tried again
	return ctx, func() { cancel(nil); <-done }
}

// viewFilter asks for the views of an interface.
func viewFilter(name string) (f cumulativeFilter) {
	f.Identifier.Interface = &interfaceFilter{}
	f.Identifier.Interface.Value.ID, f.Identifier.Interface.Value.View = name, true
	return f
}
