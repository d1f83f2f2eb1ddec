package scanapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Handler serves the ledger the way a scan does, with and without the prefix
// /api/scan, and its digests under /devnet/digests. Everything but history is
// evaluated when asked for, from the contracts that are active; "now" is the record
// time of the last entry.
func Handler(l *ledger.Ledger) http.Handler {
	b := backend{l, l.Store}
	mux := http.NewServeMux()
	for _, route := range slices.Concat((&historyServer{b}).routes(), (&snapshotServer{b}).routes(),
		(&stateServer{b}).routes(), (&networkServer{b}).routes()) {
		for _, prefix := range []string{"", "/api/scan"} {
			mux.Handle(route.method+" "+prefix+route.path, route.handle)
		}
	}
	for _, route := range (&registryServer{stateServer{b}}).routes() {
		mux.Handle(route.method+" "+route.path, route.handle)
	}
	mux.Handle("/", unknown(mux))
	return mux
}

// unknown refuses what no operation of mux is for, in the words of the service.
func unknown(mux *http.ServeMux) handler {
	return func(r *http.Request) (any, error) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "/" {
				return nil, &reply.RequestError{Status: http.StatusMethodNotAllowed, Text: "method not allowed"}
			}
		}
		return nil, &reply.RequestError{Status: http.StatusNotFound, Text: "no such operation"}
	}
}

// route is one operation.
type route struct {
	method, path string
	handle       handler
}

func (s *historyServer) routes() []route {
	return []route{
		{"POST", "/v0/backfilling/migration-info", reply.Asked(s.migrationInfo)},
		{"POST", "/v0/backfilling/updates-before", reply.Asked(s.updatesBefore)},
		{"POST", "/v0/backfilling/import-updates", reply.Asked(s.importUpdates)},
		{"GET", "/v0/backfilling/status", always(map[string]bool{"complete": true})},
		{"POST", "/v2/updates", s.updates(false)},
		{"POST", "/v1/updates", s.updates(true)},
		{"GET", "/v2/updates/{id}", s.update(false)},
		{"GET", "/v1/updates/{id}", s.update(true)},
		{"POST", "/v0/events", s.events},
		{"GET", "/v0/events/{id}", s.event},
		{"POST", "/v0/updates", reply.Asked(s.updatesV0)},
		{"GET", "/v0/updates/{id}", s.updateV0},
		{"GET", "/v2/updates/hash/{hash}", s.updateByHash},
		{"GET", "/v0/events/latest-record-time", s.latestRecordTime},
	}
}

func (s *stateServer) routes() []route {
	const rewards = "/v0/internal/reward-accounting-process/rounds"
	return []route{
		{"POST", "/v0/open-and-issuing-mining-rounds", reply.Asked(s.openAndIssuingRounds)},
		{"GET", "/v0/closed-rounds", s.closedRounds},
		{"GET", "/v0/dso", s.governance},
		{"GET", "/v0/amulet-config-for-round", s.roundConfig},
		{"GET", "/v0/amulet-price/votes", s.voted(model.PriceVoteTemplate, "amulet_price_votes")},
		{"GET", "/v0/admin/sv/voterequests", s.voted(model.VoteRequestTemplate, "dso_rules_vote_requests")},
		{"POST", "/v0/voterequest", reply.Asked(s.voteRequestsByID)},
		{"GET", "/v0/voterequests/{id}", s.voteRequest},
		{"POST", "/v0/admin/sv/voteresults", reply.Asked(s.voteResults)},
		{"POST", "/v0/admin/sv/voteresults/count", reply.Asked(s.countVoteResults)},
		{"POST", "/v0/admin/sv/previous-sv-reward-weight", reply.Asked(s.previousWeight)},
		{"POST", "/v0/amulet-rules", s.rules(model.AmuletRulesTemplate, "amulet_rules")},
		{"POST", "/v0/external-party-amulet-rules", s.rules(model.ExternalRulesTemplate, "external_party_amulet_rules")},
		{"POST", "/v0/ans-rules", s.rules(model.AnsRulesTemplate, "ans_rules")},
		{"GET", "/v0/featured-apps", s.featuredApps},
		{"GET", "/v0/featured-apps/{party}", s.featuredApp},
		{"GET", "/v0/featured-apps/by-provider/{party}", s.featuredAppsOf},
		{"GET", "/v0/featured-apps/by-contract-id/{id}", s.featuredAppByID},
		{"GET", "/v0/ans-entries", s.ansEntries},
		{"GET", "/v0/ans-entries/by-party/{party}", s.ansEntryOf},
		{"GET", "/v0/ans-entries/by-name/{name}", s.ansEntryNamed},
		{"GET", "/v0/transfer-preapprovals/by-party/{party}", s.preapprovalOf},
		{"GET", "/v0/transfer-command-counter/{party}", s.commandCounterOf},
		{"GET", "/v0/transfer-command/status", s.commandStatus},
		{"GET", "/v0/unclaimed-development-fund-coupons", s.unclaimedFund},
		{"GET", rewards + "/earliest-available", s.earliestRewards},
		{"GET", rewards + "/{round}/activity-totals", s.activityTotals},
		{"GET", rewards + "/{round}/root-hash", s.rewardRoot},
		{"GET", rewards + "/{round}/batches/{hash}", s.rewardBatch},
	}
}

func (s *networkServer) routes() []route {
	return []route{
		{"GET", "/v0/domains/{domain}/members/{member}/traffic-status", s.trafficStatus},
		{"GET", "/v0/domains/{domain}/parties/{party}/participant-id", s.participantID},
		{"GET", "/v1/domains/{domain}/parties/{party}/participant-id", s.participantIDs},
		{"GET", "/v0/migrations/schedule", s.migrationSchedule},
		{"GET", "/v0/migrations/last", s.lastMigration},
		{"GET", "/v0/active-synchronizer-serial", always(map[string]int64{"serial": synchronizerSerial})},
		{"GET", "/v0/validators/validator-faucets", s.validatorFaucets},
		{"GET", "/v0/admin/validator/licenses", s.licenses},
		{"GET", "/v0/lsu", s.upgrade},
		{"GET", "/v0/dso-party-id", always(map[string]string{"dso_party_id": s.ledger.GovernanceParty()})},
		{"GET", "/devnet/digests", s.digests},
		{"GET", "/v0/roll-forward-lsu", always(struct{}{})},
		{"GET", "/v0/synchronizer-identities/{prefix}", s.synchronizerIdentities},
		{"GET", "/v0/synchronizer-bootstrapping-transactions/{prefix}", s.bootstrappingTransactions},
		{"GET", "/v0/splice-instance-names", always(instanceNames)},
		{"GET", "/v0/scans", s.scans},
		{"GET", "/v0/dso-sequencers", s.sequencers},
		{"GET", "/v0/sv-bft-sequencers", s.bftSequencers},
		{"GET", "/v0/feature-support", always(struct{}{})},
		{"GET", "/version", always(map[string]string{"version": "0.7.4-devnet", "commit_ts": "2026-06-01T00:00:00Z"})},
		{"GET", "/status", s.serviceStatus},
		{"GET", "/readyz", always(emptyAnswer(http.StatusOK))},
		{"GET", "/livez", always(emptyAnswer(http.StatusOK))},
	}
}

func (s *snapshotServer) routes() []route {
	return []route{
		{"GET", "/v0/state/acs/snapshot-timestamp", s.snapshot("before", s.store.SnapshotBefore)},
		{"GET", "/v0/state/acs/snapshot-timestamp-after", s.snapshot("after", s.store.SnapshotAfter)},
		{"GET", "/v0/acs/{party}", exportActive},
		{"POST", "/v2/state/acs", s.acs(2)},
		{"POST", "/v1/state/acs", s.acs(1)},
		{"POST", "/v0/state/acs", s.acs(0)},
		{"POST", "/v0/state/acs/force", s.forceSnapshot},
		{"POST", "/v2/holdings/state", s.holdings(2)},
		{"POST", "/v1/holdings/state", s.holdings(1)},
		{"POST", "/v0/holdings/state", s.holdings(0)},
		{"POST", "/v1/holdings/summary", s.holdingsSummary(1)},
		{"POST", "/v0/holdings/summary", s.holdingsSummary(0)},
	}
}

// backend is what answers are made from.
type backend struct {
	ledger *ledger.Ledger
	store  *history.Store
}

// The operations, by what they are about.
type (
	historyServer  struct{ backend } // updates and their verdicts
	snapshotServer struct{ backend } // contracts that were active at an instant
	stateServer    struct{ backend } // contracts that are active now
	networkServer  struct{ backend } // members and nodes of the network
)

// handler returns the answer to a request: a *history.Answer, an emptyAnswer, or what is
// marshalled. An error becomes the answer {"error": text}.
type handler func(r *http.Request) (any, error)

// emptyAnswer is a status without a body.
type emptyAnswer int

// always returns the same answer to every request.
func always(answer any) handler { return func(*http.Request) (any, error) { return answer, nil } }

// ServeHTTP answers with what the handler returns, or with the status that belongs to its error.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, err := h(r)
	if err == nil {
		err = send(w, found)
	}
	if err == nil {
		return
	}
	answer := &reply.RequestError{Status: http.StatusInternalServerError, Text: "An unexpected error occurred."}
	errors.As(err, &answer)
	w.Header().Set("Content-Type", reply.ContentType)
	w.WriteHeader(answer.Status)
	body, _ := json.Marshal(map[string]string{"error": answer.Text}) // a map of strings always marshals
	w.Write(body)                                                    // if the client is gone, nobody is left to tell
}

// found returns an answer, or 404 if there is none.
func found(a *history.Answer, missing string) (any, error) {
	if a == nil {
		return nil, reply.NotFound("%s", missing)
	}
	return a, nil
}

func send(w http.ResponseWriter, answer any) error {
	switch answer := answer.(type) {
	case emptyAnswer:
		w.WriteHeader(int(answer))
		return nil
	case *history.Answer:
		sendHistory(w, answer)
		return nil
	}
	return sendState(w, answer)
}

func sendHistory(w http.ResponseWriter, a *history.Answer) {
	w.Header().Set("Content-Type", reply.ContentType)
	w.Header().Set("Content-Length", strconv.FormatInt(a.Size, 10))
	if err := a.SendTo(w); err != nil {
		// The status is sent: only breaking the connection tells the client.
		panic(http.ErrAbortHandler)
	}
}

// checkLimit verifies the number of items asked for.
func checkLimit(name string, limit *int32) error {
	switch {
	case limit == nil:
		return reply.BadRequest("%s is required", name)
	case *limit < 1:
		return reply.BadRequest("Limit must be at least 1.")
	case *limit > reply.MaxPage:
		return reply.BadRequest("Exceeded limit maximum (%d > %d).", *limit, reply.MaxPage)
	}
	return nil
}

func parseTime(name, value string) (int64, error) {
	t, err := schemas.ParseTime(value)
	if err != nil {
		return 0, reply.BadRequest("%s: %v", name, err)
	}
	return int64(t), nil
}

// encodings are the two spellings of the parameter for the encoding of values.
type encodings struct {
	Contract *string `json:"contract_value_encoding"`
	Daml     *string `json:"daml_value_encoding"`
}

// encoding is the one asked for; the default is compact_json.
func (s *historyServer) encoding(e encodings) (model.Encoding, error) {
	name := string(schemas.CompactJSON)
	for _, given := range []*string{e.Daml, e.Contract} {
		if given != nil && *given != "" {
			name = *given
		}
	}
	enc := model.CompactJSON
	switch schemas.Encoding(name) {
	case schemas.CompactJSON:
	case schemas.ProtobufJSON:
		enc = model.ProtobufJSON
	default:
		return 0, reply.BadRequest("unknown value encoding %q", name)
	}
	if s.store.File(enc) == nil {
		return 0, &reply.RequestError{Status: http.StatusNotImplemented, Text: "this devnet does not keep compact_json, ask for protobuf_json"}
	}
	return enc, nil
}

func queryEncodings(r *http.Request) encodings {
	contract, daml := r.URL.Query().Get("contract_value_encoding"), r.URL.Query().Get("daml_value_encoding")
	return encodings{&contract, &daml}
}

// pageRequest is the body of the paged operations.
type pageRequest struct {
	PageSize *int32 `json:"page_size"`
	After    *after `json:"after"`
	encodings
}

// after is the position behind which a page starts.
type after struct {
	MigrationID *int64  `json:"after_migration_id"`
	RecordTime  *string `json:"after_record_time"`
}

// cursor is nil if a is.
func (a *after) cursor() (*history.Cursor, error) {
	if a == nil {
		return nil, nil
	}
	if a.MigrationID == nil || a.RecordTime == nil {
		return nil, reply.BadRequest("after needs after_migration_id and after_record_time")
	}
	t, err := parseTime("after_record_time", *a.RecordTime)
	if err != nil {
		return nil, err
	}
	return &history.Cursor{Migration: *a.MigrationID, Time: t}, nil
}

func (s *historyServer) page(r *http.Request) (c *history.Cursor, limit int, enc model.Encoding, err error) {
	var q pageRequest
	if err := reply.Decode(r, &q); err != nil {
		return nil, 0, 0, err
	}
	if err := checkLimit("page_size", q.PageSize); err != nil {
		return nil, 0, 0, err
	}
	if enc, err = s.encoding(q.encodings); err != nil {
		return nil, 0, 0, err
	}
	if c, err = q.After.cursor(); err != nil {
		return nil, 0, 0, err
	}
	return c, int(*q.PageSize), enc, nil
}

func (s *historyServer) updates(v1 bool) handler {
	return func(r *http.Request) (any, error) {
		c, limit, enc, err := s.page(r)
		if err != nil {
			return nil, err
		}
		return found(s.store.UpdatesAfter(c, limit, enc, v1), "")
	}
}

func (s *historyServer) events(r *http.Request) (any, error) {
	c, limit, enc, err := s.page(r)
	if err != nil {
		return nil, err
	}
	return found(s.store.EventsAfter(c, limit, enc), "")
}

func (s *historyServer) update(v1 bool) handler {
	return func(r *http.Request) (any, error) {
		enc, err := s.encoding(queryEncodings(r))
		if err != nil {
			return nil, err
		}
		id := r.PathValue("id")
		return found(s.store.Update(id, enc, v1), "Transaction with id "+id+" not found")
	}
}

func (s *historyServer) event(r *http.Request) (any, error) {
	enc, err := s.encoding(queryEncodings(r))
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	return found(s.store.Event(id, enc), "Event with id "+id+" not found")
}

type migrationInfoRequest struct {
	MigrationID *int64 `json:"migration_id"`
}

func (s *historyServer) migrationInfo(_ *http.Request, q *migrationInfoRequest) (any, error) {
	if q.MigrationID == nil {
		return nil, reply.BadRequest("migration_id is required")
	}
	info, ok := s.store.Info(*q.MigrationID)
	if !ok || len(info.Ranges) == 0 {
		return nil, reply.NotFound("No data for migration %d", *q.MigrationID)
	}
	return migrationAnswerOf(&info, *q.MigrationID), nil
}

// migrationAnswer is the answer of migration-info.
type migrationAnswer struct {
	Previous        *int64        `json:"previous_migration_id,omitempty"`
	Ranges          []rangeAnswer `json:"record_time_range"`
	LastImport      string        `json:"last_import_update_id,omitempty"`
	Complete        bool          `json:"complete"`
	ImportsComplete bool          `json:"import_updates_complete"`
}

type rangeAnswer struct {
	Synchronizer string `json:"synchronizer_id"`
	Min          string `json:"min"`
	Max          string `json:"max"`
}

func migrationAnswerOf(i *history.MigrationInfo, id int64) migrationAnswer {
	a := migrationAnswer{LastImport: i.LastImport, Complete: true, ImportsComplete: true}
	if id > 0 {
		previous := id - 1
		a.Previous = &previous
	}
	for _, r := range i.Ranges {
		a.Ranges = append(a.Ranges, rangeAnswer{r.Synchronizer,
			schemas.Micros(r.Min).String(), schemas.Micros(r.Max).String()})
	}
	return a
}

type updatesBeforeRequest struct {
	MigrationID  *int64  `json:"migration_id"`
	Synchronizer *string `json:"synchronizer_id"`
	Before       *string `json:"before"`
	AtOrAfter    *string `json:"at_or_after"`
	Count        *int32  `json:"count"`
}

func (s *historyServer) updatesBefore(_ *http.Request, q *updatesBeforeRequest) (any, error) {
	if q.MigrationID == nil || q.Synchronizer == nil || q.Before == nil {
		return nil, reply.BadRequest("migration_id, synchronizer_id and before are required")
	}
	if err := checkLimit("count", q.Count); err != nil {
		return nil, err
	}
	before, err := parseTime("before", *q.Before)
	if err != nil {
		return nil, err
	}
	atOrAfter := int64(schemas.MinMicros)
	if q.AtOrAfter != nil {
		if atOrAfter, err = parseTime("at_or_after", *q.AtOrAfter); err != nil {
			return nil, err
		}
	}
	a := s.store.UpdatesBefore(*q.MigrationID, *q.Synchronizer, before, atOrAfter, int(*q.Count))
	return found(a, fmt.Sprintf("No data for migration %d", *q.MigrationID))
}

type importUpdatesRequest struct {
	MigrationID *int64  `json:"migration_id"`
	After       *string `json:"after_update_id"`
	Limit       *int32  `json:"limit"`
}

func (s *historyServer) importUpdates(_ *http.Request, q *importUpdatesRequest) (any, error) {
	if q.MigrationID == nil || q.After == nil {
		return nil, reply.BadRequest("migration_id and after_update_id are required")
	}
	if err := checkLimit("limit", q.Limit); err != nil {
		return nil, err
	}
	return found(s.store.ImportsAfter(*q.MigrationID, *q.After, int(*q.Limit)), "")
}

// snapshot answers with the snapshot that find returns for the time parameter.
func (s *snapshotServer) snapshot(parameter string, find func(migrationID, t int64) (int64, bool)) handler {
	return func(r *http.Request) (any, error) {
		q := r.URL.Query()
		id, err := strconv.ParseInt(q.Get("migration_id"), 10, 64)
		if err != nil {
			return nil, reply.BadRequest("migration_id: %q is not a number", q.Get("migration_id"))
		}
		t, err := parseTime(parameter, q.Get(parameter))
		if err != nil {
			return nil, err
		}
		at, ok := find(id, t)
		if !ok {
			return nil, reply.NotFound("No snapshots found %s %s", parameter, strings.TrimSpace(q.Get(parameter)))
		}
		return map[string]string{"record_time": schemas.Micros(at).String()}, nil
	}
}

func (s *networkServer) digests(_ *http.Request) (any, error) {
	return s.ledger.Digests(), nil
}
