package nodeapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// NodeOptions says how a node serves its ledger API.
type NodeOptions struct {
	// ListLimit is the number of elements above which a list is refused; 200 when zero.
	ListLimit int
	// ListIdle is how long an open-ended list waits for another element, unless the
	// request says so; 500 ms when zero.
	ListIdle time.Duration
	// CheckpointEvery is the number of updates after which a stream has a checkpoint;
	// 1000 when zero.
	CheckpointEvery int
	// CheckpointDelay is the time after which an open-ended stream has another
	// checkpoint; 1 s when zero.
	CheckpointDelay time.Duration
	// PrunedOffset, if positive, is the offset up to which the node has forgotten its
	// updates.
	PrunedOffset int64
	// CompletionsKept is the number of completions that the node remembers, for who asks and
	// against commands that come twice; 100,000 when zero.
	CompletionsKept int
	// Auth says who may do what; everybody may do everything when nil.
	Auth *NodeAuth
}

// NodeHandler serves what a participant sees the way its node does: the ledger API over
// JSON and websockets, and the digests of its stream under /devnet/node-digests. It
// follows the ledger as that goes on, and executes the commands that it is sent. Users
// and completions belong to the handler. The ledger must have been created with
// Config.Node. Handlers of different options may serve one ledger, but a kept ledger has one
// handler: it has the users and completions of the earlier processes.
func NodeHandler(l *ledger.Ledger, o NodeOptions) (http.Handler, error) {
	if l.View == nil {
		return nil, errors.New("devnet keeps no participant's view: Config.Node is not set")
	}
	if o.ListLimit < 0 || o.CheckpointEvery < 0 || o.PrunedOffset < 0 || o.CompletionsKept < 0 {
		return nil, fmt.Errorf("devnet cannot serve a node with %+v", o)
	}
	o.ListLimit = cmp.Or(o.ListLimit, 200)
	o.ListIdle = cmp.Or(o.ListIdle, 500*time.Millisecond)
	o.CheckpointEvery = cmp.Or(o.CheckpointEvery, 1000)
	o.CompletionsKept = cmp.Or(o.CompletionsKept, 100_000)
	o.CheckpointDelay = cmp.Or(o.CheckpointDelay, time.Second)
	core := nodeCore{options: o, ledger: l, store: l.Store, view: l.View, formats: newFormats(l.View),
		users: newNodeUsers(o.Auth), parties: l.Parties, completions: NewCompletionLog(o.CompletionsKept),
		events: newContractEvents(l.Store), archives: &archives{payloads: map[string][]byte{}},
		providers: &identityProviders{byID: map[string]identityProvider{}}, vetting: &vetting{}}
	n := &nodeServer{nodeCore: core, reads: &readServer{core}, hosting: &partyServer{core}, accounts: &userServer{core}}
	n.commands = &commandServer{core, n.reads, n.hosting}
	if l.Config.Keep {
		n.users.restore(l.Kept.Users, &l.Journal)
		n.completions.restore(l.Kept.Completions)
	}
	return n.routes(), nil
}

// nodeCore is what answers are made from.
type nodeCore struct {
	options NodeOptions
	ledger  *ledger.Ledger
	store   *history.Store
	view    *history.NodeView
	formats *formats

	users       *nodeUsers
	parties     *ledger.NodeParties
	completions *completionLog
	events      *contractEvents
	archives    *archives
	providers   *identityProviders
	vetting     *vetting
}

// nodeServer serves a participant's view. The operations belong to its parts, by what they
// are about.
type nodeServer struct {
	nodeCore
	reads    *readServer
	commands *commandServer
	hosting  *partyServer
	accounts *userServer
}

type (
	readServer struct{ nodeCore } // updates and contracts
	// commandServer executes commands, also of parties that sign for themselves.
	commandServer struct {
		nodeCore
		reads   *readServer
		hosting *partyServer
	}
	partyServer struct{ nodeCore }
	userServer  struct{ nodeCore }
)

func (n *nodeServer) routes() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []struct {
		access       access
		method, path string
		handle       nodeHandler
	}{
		{users, "GET", "/v2/updates", n.socket(n.reads.updatesOf)},
		{users, "POST", "/v2/updates", n.list(n.reads.updatesOf)},
		{users, "POST", "/v2/updates/flats", n.list(n.reads.updatesOf)},
		{users, "GET", "/v2/updates/flats", n.socket(n.reads.updatesOf)},
		{users, "GET", "/v2/state/active-contracts", n.socket(n.reads.contractsOf)},
		{users, "POST", "/v2/state/active-contracts", n.list(n.reads.contractsOf)},
		{users, "POST", "/v2/updates/get-updates-page", asked(n.reads.updatesPage)},
		{users, "POST", "/v2/state/active-contracts-page", asked(n.reads.contractsPage)},
		{users, "GET", "/v2/state/active-contracts-page", asked(n.reads.contractsPage)},
		{users, "GET", "/v2/state/ledger-end", answered(n.ledgerEnd)},
		{users, "GET", "/v2/state/latest-pruned-offsets", answered(n.prunedOffsets)},
		{users, "GET", "/v2/state/connected-synchronizers", answered(n.synchronizers)},
		{users, "GET", "/v2/parties/participant-id", answered(n.participantID)},
		{users, "POST", "/v2/updates/update-by-id", asked(n.reads.updateByID)},
		{users, "POST", "/v2/updates/update-by-offset", asked(n.reads.updateByOffset)},
		{users, "POST", "/v2/events/events-by-contract-id", asked(n.reads.eventsByContractID)},
		{users, "POST", "/v2/commands/submit-and-wait", asked(n.commands.submitAndWait)},
		{users, "POST", "/v2/commands/submit-and-wait-for-transaction", asked(n.commands.submitAndWaitForTransaction)},
		{users, "POST", "/v2/commands/submit-and-wait-for-transaction-tree", asked(n.commands.submitAndWaitForTree)},
		{users, "POST", "/v2/commands/async/submit", asked(n.commands.submitAsync)},
		{users, "POST", "/v2/commands/completions", n.list(n.commands.completionsOf)},
		{users, "GET", "/v2/commands/completions", n.socket(n.commands.completionsOf)},
		{users, "POST", "/v2/commands/command-completions", n.list(n.commands.commandCompletionsOf)},
		{users, "GET", "/v2/commands/command-completions", n.socket(n.commands.commandCompletionsOf)},
		{users, "POST", "/v2/interactive-submission/prepare", asked(n.commands.prepare)},
		{users, "POST", "/v2/interactive-submission/execute", asked(n.commands.executePrepared)},
		{users, "POST", "/v2/interactive-submission/executeAndWait", asked(n.commands.executePreparedAndWait)},
		{users, "POST", "/v2/interactive-submission/executeAndWaitForTransaction", asked(n.commands.executePreparedForTransaction)},
		{users, "POST", "/v2/interactive-submission/preferred-packages", asked(n.hosting.preferredPackages)},
		{users, "GET", "/v2/interactive-submission/preferred-package-version", answered(n.hosting.preferredPackage)},
		{users, "GET", "/v2/packages", answered(n.hosting.listPackages)},
		{managers, "POST", "/v2/packages", answered(n.hosting.uploadArchive)},
		{managers, "POST", "/v2/dars", answered(n.hosting.uploadArchive)},
		{managers, "POST", "/v2/dars/validate", answered(n.hosting.validateArchive)},
		{users, "GET", "/v2/packages/{package}", n.hosting.archive},
		{users, "GET", "/v2/packages/{package}/status", answered(n.hosting.packageStatus)},
		{users, "POST", "/v2/package-vetting/list", asked(n.hosting.vettedPackages)},
		{users, "GET", "/v2/package-vetting", askedPerhaps(n.hosting.vettedPackages)},
		{managers, "POST", "/v2/package-vetting", asked(n.hosting.updateVetting)},
		{managers, "POST", "/v2/package-vetting/update", asked(n.hosting.updateVetting)},
		{managers, "GET", "/v2/idps", answered(n.accounts.listProviders)},
		{managers, "POST", "/v2/idps", asked(n.accounts.createProvider)},
		{managers, "GET", "/v2/idps/{provider}", answered(n.accounts.getProvider)},
		{managers, "PATCH", "/v2/idps/{provider}", asked(n.accounts.updateProvider)},
		{managers, "DELETE", "/v2/idps/{provider}", answered(n.accounts.deleteProvider)},
		{managers, "GET", "/v2/parties", answered(n.hosting.listParties)},
		{managers, "POST", "/v2/parties", asked(n.hosting.allocateParty)},
		{managers, "GET", "/v2/parties/{party}", answered(n.hosting.getParties)},
		{managers, "PATCH", "/v2/parties/{party}", asked(n.hosting.updateParty)},
		{managers, "POST", "/v2/parties/external/generate-topology", asked(n.hosting.generateTopology)},
		{managers, "POST", "/v2/parties/external/allocate", asked(n.hosting.allocateExternalParty)},
		{managers, "GET", "/v2/users", answered(n.accounts.listUsers)},
		{managers, "POST", "/v2/users", asked(n.accounts.createUser)},
		{users, "GET", "/v2/users/{user}", answered(n.accounts.getUser)},
		{managers, "PATCH", "/v2/users/{user}", asked(n.accounts.updateUser)},
		{managers, "DELETE", "/v2/users/{user}", answered(n.accounts.deleteUser)},
		{users, "GET", "/v2/users/{user}/rights", answered(n.accounts.userRights)},
		{managers, "POST", "/v2/users/{user}/rights", asked(n.accounts.grantRights)},
		{managers, "PATCH", "/v2/users/{user}/rights", asked(n.accounts.revokeRights)},
		{managers, "PATCH", "/v2/users/{user}/identity-provider-id", asked(n.accounts.moveUser)},
		{users, "GET", "/v2/authenticated-user", answered(n.accounts.authenticatedUser)},
		{everybody, "GET", "/v2/version", answered(n.version)},
		{everybody, "GET", "/livez", n.healthy},
		{everybody, "GET", "/readyz", n.healthy},
		{everybody, "GET", "/devnet/node-digests", answered(n.digests)},
		{everybody, "GET", "/devnet/time", answered(n.time)},
		{managers, "POST", "/devnet/advance-time", asked(n.advanceTime)},
	} {
		handle := route.handle
		if route.access != everybody {
			handle = n.authenticated(handle, route.access)
		}
		mux.Handle(route.method+" "+route.path, handle)
	}
	return mux
}

// access says who may use an operation. What users may do follows from their rights.
type access int

const (
	everybody access = iota
	users
	managers // of users and parties
)

type principalKey struct{}

// answered answers with what handle returns, as JSON.
func answered(handle func(r *http.Request) (any, error)) nodeHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		answer, err := handle(r)
		if err != nil {
			return err
		}
		if raw, ok := answer.(rawJSON); ok {
			sendRaw(w, raw)
			return nil
		}
		return reply.SendJSON(w, answer)
	}
}

// asked is answered for requests with a body, which is decoded into a Q.
func asked[Q any](handle func(r *http.Request, q *Q) (any, error)) nodeHandler {
	return answered(reply.Asked(handle))
}

// rawJSON is an answer that is JSON already.
type rawJSON []byte

func sendRaw(w http.ResponseWriter, answer rawJSON) {
	w.Header().Set("Content-Type", reply.ContentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.Write(answer) // if the client is gone, nobody is left to tell
}

// authenticated lets only users with access through; the context says who it is.
func (n *nodeServer) authenticated(handle nodeHandler, access access) nodeHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := n.authenticate(r)
		if err == nil && access == managers {
			err = who.mayManage()
		}
		if err != nil {
			return err
		}
		return handle(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, who)))
	}
}

func principalOf(ctx context.Context) principal {
	who, _ := ctx.Value(principalKey{}).(principal) // nobody without
	return who
}

// opener turns a request into the stream of its elements.
type opener func(ctx context.Context, body []byte) (elementStream, error)

// updatesOf opens a stream of updates.
func (n *readServer) updatesOf(ctx context.Context, body []byte) (elementStream, error) {
	var q updatesRequest
	if err := reply.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	if q.Begin == nil {
		return nil, reply.BadRequest("invalid body: beginExclusive is missing")
	}
	f, err := n.formats.update(&q)
	if err != nil {
		return nil, err
	}
	if err := principalOf(ctx).mayReadUpdates(f); err != nil {
		return nil, err
	}
	end, err := n.checkRange(&q)
	if err != nil {
		return nil, err
	}
	return newUpdateStream(n.store, n.view, f, *q.Begin, end, q.Descending, n.options.CheckpointEvery), nil
}

// checkRange verifies the offsets of a request and returns its end, or never.
func (n *readServer) checkRange(q *updatesRequest) (int64, error) {
	begin, ledgerEnd := *q.Begin, n.currentEnd()
	switch {
	case begin < 0:
		return 0, invalidArgument("begin_exclusive %d is negative", begin)
	case q.End == nil && q.Descending:
		return 0, invalidArgument("descending_order needs end_inclusive")
	case begin > ledgerEnd:
		return 0, afterLedgerEnd("Begin", begin, ledgerEnd)
	case q.End != nil && *q.End > ledgerEnd:
		return 0, afterLedgerEnd("End", *q.End, ledgerEnd)
	case q.End != nil && *q.End < begin:
		return 0, invalidArgument("end_inclusive %d is before begin_exclusive %d", *q.End, begin)
	case begin < n.options.PrunedOffset:
		return 0, prunedData(begin, n.options.PrunedOffset)
	case q.End == nil:
		return sim.Never, nil
	}
	return *q.End, nil
}

func (n *readServer) contractsOf(ctx context.Context, body []byte) (elementStream, error) {
	var q contractsRequest
	if err := reply.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	if q.At == nil {
		return nil, reply.BadRequest("invalid body: activeAtOffset is required")
	}
	return n.openContracts(ctx, &q)
}

// openContracts opens the stream of the contracts that are active at an offset.
func (n *readServer) openContracts(ctx context.Context, q *contractsRequest) (elementStream, error) {
	f, err := n.formats.contracts(q)
	if err != nil {
		return nil, err
	}
	if err := principalOf(ctx).mayReadEvents(f); err != nil {
		return nil, err
	}
	switch ledgerEnd := n.currentEnd(); {
	case *q.At < 0:
		return nil, invalidArgument("active_at_offset %d is negative", *q.At)
	case *q.At > ledgerEnd:
		return nil, afterLedgerEnd("active_at_offset", *q.At, ledgerEnd)
	case *q.At < n.options.PrunedOffset:
		return nil, prunedData(*q.At, n.options.PrunedOffset)
	}
	return newContractStream(n.store, n.view, f, *q.At, q.Token)
}

func (n *readServer) currentEnd() int64 {
	n.store.Mu.RLock()
	defer n.store.Mu.RUnlock()
	return n.store.LedgerEnd(n.view)
}

// list answers with all elements of a stream at once.
func (n *nodeServer) list(open opener) nodeHandler {
	return func(w http.ResponseWriter, r *http.Request) error {
		limit, strict, err := n.listLimit(r)
		if err != nil {
			return err
		}
		idle, err := n.listIdle(r)
		if err != nil {
			return err
		}
		body, err := reply.Body(r)
		if err != nil {
			return err
		}
		stream, err := open(r.Context(), body)
		if err != nil {
			return err
		}
		defer stream.Close()
		answer, count, err := collect(r.Context(), stream, limit, idle)
		if err != nil {
			return err
		}
		if strict && count == limit {
			return listTooLong(limit - 1)
		}
		sendRaw(w, answer)
		return nil
	}
}

// listLimit returns how many elements to collect. strict says that collecting so many
// is too many.
func (n *nodeServer) listLimit(r *http.Request) (limit int, strict bool, err error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return n.options.ListLimit + 1, true, nil
	}
	asked, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || asked < 0:
		return 0, false, reply.BadRequest("Invalid value for: query parameter limit")
	case asked > int64(n.options.ListLimit):
		return n.options.ListLimit + 1, true, nil
	}
	return int(asked), false, nil
}

func (n *nodeServer) listIdle(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("stream_idle_timeout_ms")
	if text == "" {
		return n.options.ListIdle, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > time.Hour.Milliseconds() {
		return 0, reply.BadRequest("Invalid value for: query parameter stream_idle_timeout_ms")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// collect gathers up to limit elements as a JSON list. An open-ended stream is over when
// it has had nothing new for the idle time.
func collect(ctx context.Context, stream elementStream, limit int, idle time.Duration) ([]byte, int, error) {
	answer, count := []byte{'['}, 0
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for count < limit {
		elements, more, done, err := stream.take()
		if err != nil {
			return nil, 0, err
		}
		for _, element := range elements[:min(len(elements), limit-count)] {
			if count > 0 {
				answer = append(answer, ',')
			}
			answer = append(answer, element...)
			count++
		}
		if done {
			break
		}
		if more == nil {
			timer.Reset(idle)
			continue
		}
		select {
		case <-more:
			continue
		case <-timer.C:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
		break
	}
	return append(answer, ']'), count, nil
}

func (n *nodeServer) ledgerEnd(_ *http.Request) (any, error) {
	return map[string]int64{"offset": n.reads.currentEnd()}, nil
}

func (n *nodeServer) prunedOffsets(_ *http.Request) (any, error) {
	return map[string]int64{
		"participantPrunedUpToInclusive":          n.options.PrunedOffset,
		"allDivulgedContractsPrunedUpToInclusive": 0,
	}, nil
}

// connectedSynchronizer is one that the node is connected to.
type connectedSynchronizer struct {
	Alias      string `json:"synchronizerAlias"`
	ID         string `json:"synchronizerId"`
	Permission string `json:"permission,omitempty"`
}

func (n *nodeServer) synchronizers(r *http.Request) (any, error) {
	list := make([]connectedSynchronizer, len(n.view.Names.Synchronizers))
	for i, id := range n.view.Names.Synchronizers {
		list[i] = connectedSynchronizer{Alias: [...]string{"global", "harbor"}[i], ID: id}
		if _, ok := n.formats.party(r.URL.Query().Get("party")); ok {
			list[i].Permission = "PARTICIPANT_PERMISSION_SUBMISSION"
		}
	}
	return map[string]any{"connectedSynchronizers": list}, nil
}

func (n *nodeServer) participantID(_ *http.Request) (any, error) {
	return map[string]string{"participantId": n.view.Uid()}, nil
}

func (n *nodeServer) version(_ *http.Request) (any, error) {
	delay := n.options.CheckpointDelay
	return map[string]any{"version": "3.5.14-devnet", "features": map[string]any{
		"experimental":    map[string]any{},
		"userManagement":  map[string]any{"supported": true, "maxRightsPerUser": MaxUserRights, "maxUsersPageSize": maxUsersPage},
		"partyManagement": map[string]any{"maxPartiesPageSize": maxPartiesPage},
		"offsetCheckpoint": map[string]any{"maxOffsetCheckpointEmissionDelay": map[string]any{
			"seconds": int64(delay / time.Second), "nanos": int64(delay % time.Second), "unknownFields": map[string]any{"fields": map[string]any{}}}},
		"packageFeature": map[string]any{"maxVettedPackagesPageSize": 0},
	}}, nil
}

func (n *nodeServer) healthy(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusOK)
	return nil
}

func (n *nodeServer) digests(_ *http.Request) (any, error) {
	return n.ledger.NodeDigests(), nil
}
