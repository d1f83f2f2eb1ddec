package scanapi

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// What is not on the ledger is made up here from the names of the network: topology,
// serials, addresses.

const (
	protocolVersion = 35
	// synchronizerSerial counts the upgrades of the synchronizers.
	synchronizerSerial = 2
)

func (s *historyServer) latestRecordTime(_ *http.Request) (any, error) {
	t, ok := s.store.LatestEvent()
	if !ok {
		return nil, reply.NotFound("No events yet")
	}
	return map[string]string{"record_time": schemas.Micros(t).String()}, nil
}

// synchronizer returns the number of the synchronizer in the path.
func (s *networkServer) synchronizer(r *http.Request) (int, error) {
	id := r.PathValue("domain")
	i := slices.Index(s.ledger.Names.Synchronizers, id)
	if i < 0 {
		return 0, reply.NotFound("Unknown synchronizer %s", id)
	}
	return i, nil
}

func (s *networkServer) trafficStatus(r *http.Request) (any, error) {
	member := r.PathValue("member")
	kind, uid, _ := strings.Cut(member, model.PartyNamespaceMark)
	if kind != "PAR" && kind != "MED" || !strings.Contains(uid, model.PartyNamespaceMark) {
		return nil, reply.BadRequest("member_id: %q is neither PAR::... nor MED::...", member)
	}
	synchronizer, err := s.synchronizer(r)
	if err != nil {
		return nil, err
	}
	consumed, ok := trafficOf(s.ledger, synchronizer, member)
	if !ok {
		return nil, reply.NotFound("No traffic state found for member: %s", member)
	}
	var purchased int64
	for _, c := range s.ledger.OfTemplate(model.MemberTrafficTemplate, nil) {
		if p := c.Payload.(model.MemberTraffic); p.Member == member && p.Synchronizer == s.ledger.Names.Synchronizers[synchronizer] {
			purchased += p.Purchased
		}
	}
	return map[string]any{"traffic_status": map[string]any{
		"actual": map[string]int64{"total_consumed": consumed, "total_limit": purchased},
		"target": map[string]int64{"total_purchased": purchased},
	}}, nil
}

// trafficOf returns what a member has consumed; false for an unknown member.
func trafficOf(l *ledger.Ledger, synchronizer int, member string) (int64, bool) {
	for p := l.Names.SuperValidators.First; p < l.Names.SuperValidators.End; p++ {
		if l.Names.MediatorOf(p) == member {
			return 0, true // mediators do not pay
		}
	}
	i := slices.Index(l.Names.Participants, strings.TrimPrefix(member, "PAR::"))
	if i < 0 {
		return 0, false
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Executor.Verdicts.Consumed[synchronizer][i], true
}

// hosts returns the participants that host the party in the path: one, but for the
// governance party.
func (s *networkServer) hosts(r *http.Request) ([]string, error) {
	if _, err := s.synchronizer(r); err != nil {
		return nil, err
	}
	n, id := s.ledger.Names, r.PathValue("party")
	p, ok := n.Named(id)
	switch {
	case !ok:
		return nil, reply.NotFound("No participant id found hosting party: %s", id)
	case p == model.Dso:
		var all []string
		for _, uid := range n.Participants[:model.SuperValidatorCount] {
			all = append(all, "PAR::"+uid)
		}
		return all, nil
	}
	return []string{"PAR::" + n.Participants[n.ParticipantOf(p, 0)]}, nil
}

func (s *networkServer) participantID(r *http.Request) (any, error) {
	hosts, err := s.hosts(r)
	if err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		return nil, &reply.RequestError{Status: http.StatusInternalServerError, Text: fmt.Sprintf("Party %s is hosted on multiple participants, which is not supported", r.PathValue("party"))}
	}
	return map[string]string{"participant_id": hosts[0]}, nil
}

func (s *networkServer) participantIDs(r *http.Request) (any, error) {
	hosts, err := s.hosts(r)
	return map[string][]string{"participant_ids": hosts}, err
}

func (s *networkServer) migration() int64 {
	s.ledger.Mu.Lock()
	defer s.ledger.Mu.Unlock()
	return s.ledger.Executor.Tx.Migration
}

// migrationSchedule announces the one migration of the network until it has happened.
// The body of the 404 is empty.
func (s *networkServer) migrationSchedule(_ *http.Request) (any, error) {
	if s.migration() > 0 {
		return emptyAnswer(http.StatusNotFound), nil
	}
	c := s.ledger.Config
	t := c.Start.Add(time.Duration(c.Days) * 24 * time.Hour * sim.SwitchPercent / 100)
	return map[string]any{"time": t.UTC().Format(time.RFC3339), "migration_id": 1}, nil
}

func (s *networkServer) lastMigration(_ *http.Request) (any, error) {
	return map[string]int64{"migration_id": s.migration()}, nil
}

// upgrade announces an upgrade of the synchronizer a month after the first history.
func (s *networkServer) upgrade(_ *http.Request) (any, error) {
	t := s.ledger.Config.Start.AddDate(0, 0, s.ledger.Config.Days+30).UTC()
	return map[string]any{"lsu": map[string]string{
		"topologyFreezeTime": t.Add(-24 * time.Hour).Format(time.RFC3339), "upgradeTime": t.Format(time.RFC3339),
		"successorPhysicalSynchronizerId": fmt.Sprintf("%s::%d-%d", s.ledger.Names.Synchronizers[0], protocolVersion, synchronizerSerial+1),
	}}, nil
}

// serialized stands for bytes that only the nodes of the network can read, in base64.
func (s *networkServer) serialized(kind string, size int) string {
	space := model.NewIDSpace(s.ledger.Config.Seed, "serialized "+kind)
	var raw []byte
	for i := uint64(0); len(raw) < size; i++ {
		h := space.Hash(i)
		raw = append(raw, h[:]...)
	}
	return base64.StdEncoding.EncodeToString(raw[:size])
}

// synchronizerByPrefix returns the synchronizer whose id starts with the prefix in the
// path.
func (s *networkServer) synchronizerByPrefix(r *http.Request) (string, error) {
	prefix := r.PathValue("prefix")
	for _, id := range s.ledger.Names.Synchronizers {
		if name, _, _ := strings.Cut(id, model.PartyNamespaceMark); name == prefix {
			return id, nil
		}
	}
	return "", reply.NotFound("No synchronizer with the prefix %s", prefix)
}

func (s *networkServer) synchronizerIdentities(r *http.Request) (any, error) {
	id, err := s.synchronizerByPrefix(r)
	if err != nil {
		return nil, err
	}
	n := s.ledger.Names
	sv := n.SuperValidators.First
	return map[string]any{
		"sequencer_id": n.SequencerOf(sv), "mediator_id": n.MediatorOf(sv),
		"sequencer_identity_transactions": []string{s.serialized(id+" sequencer 1", 300), s.serialized(id+" sequencer 2", 260)},
		"mediator_identity_transactions":  []string{s.serialized(id+" mediator 1", 300), s.serialized(id+" mediator 2", 260)},
	}, nil
}

func (s *networkServer) bootstrappingTransactions(r *http.Request) (any, error) {
	id, err := s.synchronizerByPrefix(r)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"domain_parameters":      s.serialized(id+" parameters", 900),
		"sequencer_domain_state": s.serialized(id+" sequencer state", 400),
		"mediator_domain_state":  s.serialized(id+" mediator state", 400),
	}, nil
}

var instanceNames = map[string]string{
	"network_name": "Devnet", "network_favicon_url": "https://devnet.example/favicon.ico",
	"amulet_name": "Amulet", "amulet_name_acronym": "AMT",
	"name_service_name": "Amulet Name Service", "name_service_name_acronym": "CNS",
}

// configuredNodes are the super-validators whose nodes are known.
func (s *networkServer) configuredNodes() []model.SvNodeState {
	var nodes []model.SvNodeState
	for _, c := range nodeStates(s.ledger) {
		if p := c.Payload.(model.SvNodeState); p.Configured {
			nodes = append(nodes, p)
		}
	}
	return nodes
}

func (s *networkServer) scans(_ *http.Request) (any, error) {
	n := s.ledger.Names
	scans := []map[string]string{}
	for _, p := range s.configuredNodes() {
		scans = append(scans, map[string]string{"publicUrl": n.ScanURL(p.Sv), "svName": n.SvName(p.Sv)})
	}
	return map[string]any{"scans": []any{map[string]any{"domainId": n.Synchronizers[0], "scans": scans}}}, nil
}

func (s *networkServer) sequencers(_ *http.Request) (any, error) {
	n := s.ledger.Names
	sequencers := []map[string]any{}
	for _, p := range s.configuredNodes() {
		sequencers = append(sequencers, map[string]any{
			"migrationId": p.Migration, "id": n.SequencerOf(p.Sv), "url": n.SequencerURL(p.Sv, p.Migration),
			"svName": n.SvName(p.Sv), "availableAfter": string(schemas.AppendShortTime(nil, schemas.Micros(p.Available)))})
	}
	return map[string]any{"domainSequencers": []any{map[string]any{"domainId": n.Synchronizers[0], "sequencers": sequencers}}}, nil
}

func (s *networkServer) bftSequencers(_ *http.Request) (any, error) {
	n := s.ledger.Names
	sv := n.SuperValidators.First
	return map[string]any{"bftSequencers": []any{map[string]any{
		"serialId": synchronizerSerial, "id": n.SequencerOf(sv), "p2pUrl": "https://p2p-" + strconv.Itoa(synchronizerSerial) + "." + n.SvHost(sv)}}}, nil
}

func (s *networkServer) validatorFaucets(r *http.Request) (any, error) {
	ids := r.URL.Query()["validator_ids"]
	if len(ids) == 0 || len(ids) > reply.MaxPage {
		return nil, reply.BadRequest("validator_ids: 1 to %d, not %d", reply.MaxPage, len(ids))
	}
	faucets := []map[string]any{}
	for _, c := range s.ledger.OfTemplate(model.LicenseTemplate, nil) {
		p := c.Payload.(model.ValidatorLicense)
		if p.LastRound < 0 || !slices.Contains(ids, s.ledger.Names.Name(p.Validator)) {
			continue
		}
		faucets = append(faucets, map[string]any{
			"validator":          s.ledger.Names.Name(p.Validator),
			"numRoundsCollected": p.LastRound - p.FirstRound + 1 - p.Missed, "numRoundsMissed": p.Missed,
			"firstCollectedInRound": p.FirstRound, "lastCollectedInRound": p.LastRound})
	}
	slices.SortFunc(faucets, func(a, b map[string]any) int {
		return cmp.Compare(a["validator"].(string), b["validator"].(string))
	})
	return map[string]any{"validatorsReceivedFaucets": faucets}, nil
}

// licenses pages through the licenses, newest first. The token counts those that were
// given before.
func (s *networkServer) licenses(r *http.Request) (any, error) {
	limit, err := queryLimit(r, "limit", reply.MaxPage)
	if err != nil {
		return nil, err
	}
	all := s.ledger.OfTemplate(model.LicenseTemplate, nil)
	slices.Reverse(all)
	first := 0
	if text := r.URL.Query().Get("after"); text != "" {
		if first, err = strconv.Atoi(text); err != nil || first < 0 {
			return nil, reply.BadRequest("after: %q is not a token", text)
		}
	}
	first = min(first, len(all))
	end := min(first+limit, len(all))
	answer := map[string]any{"validator_licenses": contractAnswers(s.ledger, all[first:end])}
	if end < len(all) {
		answer["next_page_token"] = end
	}
	return answer, nil
}

// serviceStatus tells that the service is up; its uptime is that of the network.
func (s *networkServer) serviceStatus(_ *http.Request) (any, error) {
	uptime := time.Duration(s.ledger.RecordTime()-s.ledger.Config.Start.UnixMicro()) * time.Microsecond
	return map[string]any{"success": map[string]any{
		"id": "devnet", "uptime": fmt.Sprintf("PT%dS", int64(uptime.Seconds())), "ports": map[string]int{}, "active": true}}, nil
}
