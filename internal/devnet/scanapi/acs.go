package scanapi

import (
	"encoding/base64"
	"encoding/json"
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

// apiVersion is the version of an operation that exists in several.
type apiVersion int

// stateRequest is the body of the operations on the active contracts at an instant.
type stateRequest struct {
	MigrationID *int64          `json:"migration_id"`
	RecordTime  *string         `json:"record_time"`
	Match       *string         `json:"record_time_match"`
	After       json.RawMessage `json:"after"`
	PageSize    *int32          `json:"page_size"`
	Parties     []string        `json:"party_ids"`
	Templates   []string        `json:"templates"`
	Owners      []string        `json:"owner_party_ids"`
	Round       *int64          `json:"as_of_round"`
}

// state returns the ledger at the instant that a request names.
func (s *snapshotServer) state(r *http.Request, q *stateRequest) (at int64, found *ledger.PastLedger, err error) {
	if q.MigrationID == nil || q.RecordTime == nil {
		return 0, nil, reply.BadRequest("migration_id and record_time are required")
	}
	t, err := parseTime("record_time", *q.RecordTime)
	if err != nil {
		return 0, nil, err
	}
	match := "exact"
	if q.Match != nil {
		match = *q.Match
	}
	at, ok := s.store.SnapshotBefore(*q.MigrationID, t)
	switch {
	case match != "exact" && match != "at_or_before":
		return 0, nil, reply.BadRequest("record_time_match: %q is neither exact nor at_or_before", match)
	case !ok || match == "exact" && at != t:
		return 0, nil, reply.NotFound("No snapshot found for migration %d at %s", *q.MigrationID, *q.RecordTime)
	}
	found, err = s.ledger.SnapshotAt(r.Context(), *q.MigrationID, at)
	return at, found, err
}

func checkTemplates(ts []string) error {
	if len(ts) > reply.MaxPage {
		return reply.BadRequest("templates: at most %d, not %d", reply.MaxPage, len(ts))
	}
	for _, t := range ts {
		parts := strings.Split(t, ":")
		if len(parts) != 3 || slices.Contains(parts, "") {
			return reply.BadRequest("templates: %q is not PACKAGE_NAME:MODULE_NAME:ENTITY_NAME", t)
		}
	}
	return nil
}

func (s *snapshotServer) acs(v apiVersion) handler {
	return reply.Asked(func(r *http.Request, q *stateRequest) (any, error) {
		if len(q.Parties) > reply.MaxPage {
			return nil, reply.BadRequest("party_ids: at most %d, not %d", reply.MaxPage, len(q.Parties))
		}
		if err := checkTemplates(q.Templates); err != nil {
			return nil, err
		}
		return s.contractPage(r, v, q, func(c *model.Contract) bool {
			return (len(q.Templates) == 0 || slices.Contains(q.Templates, c.Template.Pkg.Name+":"+c.Template.Name)) &&
				(len(q.Parties) == 0 || s.isStakeholder(c, q.Parties))
		})
	})
}

func (s *snapshotServer) isStakeholder(c *model.Contract, parties []string) bool {
	signatories, observers := c.Payload.Stakeholders(nil, nil)
	return slices.ContainsFunc(append(signatories, observers...), func(p model.Party) bool {
		return slices.Contains(parties, s.ledger.Names.Name(p))
	})
}

// ownedCoins selects the coins of the owners in a request.
func (s *snapshotServer) ownedCoins(q *stateRequest) (func(*model.Contract) bool, error) {
	if len(q.Owners) == 0 || len(q.Owners) > reply.MaxPage {
		return nil, reply.BadRequest("owner_party_ids: 1 to %d parties, not %d", reply.MaxPage, len(q.Owners))
	}
	return func(c *model.Contract) bool {
		return (c.Template == model.AmuletTemplate || c.Template == model.LockedAmuletTemplate) &&
			slices.Contains(q.Owners, s.ledger.Names.Name(model.CoinOf(c).Owner))
	}, nil
}

func (s *snapshotServer) holdings(v apiVersion) handler {
	return reply.Asked(func(r *http.Request, q *stateRequest) (any, error) {
		owned, err := s.ownedCoins(q)
		if err != nil {
			return nil, err
		}
		return s.contractPage(r, v, q, owned)
	})
}

// contractPage answers with a page of the contracts that keep selects. The token is the
// position of the last one among all contracts of the snapshot, counted from 1.
func (s *snapshotServer) contractPage(r *http.Request, v apiVersion, q *stateRequest, keep func(*model.Contract) bool) (any, error) {
	if err := checkLimit("page_size", q.PageSize); err != nil {
		return nil, err
	}
	at, found, err := s.state(r, q)
	if err != nil {
		return nil, err
	}
	next, err := v.position(q.After, len(found.Active))
	if err != nil {
		return nil, err
	}
	rows := []json.RawMessage{}
	for ; next < len(found.Active) && len(rows) < int(*q.PageSize); next++ {
		if c := found.Active[next]; keep(c.Contract) {
			rows = append(rows, s.activeContract(c.Contract, v, found.Migration))
		}
	}
	answer := map[string]any{"record_time": schemas.Micros(at).String(), "migration_id": *q.MigrationID, "created_events": rows}
	if len(rows) == int(*q.PageSize) {
		answer["next_page_token"] = v.token(next)
	}
	return answer, nil
}

const tokenPrefix = "row "

func (v apiVersion) token(position int) any {
	if v < 2 {
		return position
	}
	return base64.RawURLEncoding.EncodeToString([]byte(tokenPrefix + strconv.Itoa(position)))
}

// position reads the member after.
func (v apiVersion) position(after json.RawMessage, rows int) (int, error) {
	if len(after) == 0 || string(after) == "null" {
		return 0, nil
	}
	number := string(after)
	if v >= 2 {
		var text string
		if err := json.Unmarshal(after, &text); err != nil {
			return 0, reply.BadRequest("after: %s is not a text", after)
		}
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return 0, reply.BadRequest("Invalid after token %q", text)
		}
		number = strings.TrimPrefix(string(raw), tokenPrefix)
	}
	position, err := strconv.Atoi(number)
	if err != nil || position < 1 || position > rows {
		return 0, reply.BadRequest("Invalid after token %s", after)
	}
	return position, nil
}

// activeContract is an element of the answer: a created event in version 0.
func (s *snapshotServer) activeContract(c *model.Contract, v apiVersion, migration int64) json.RawMessage {
	r := history.Renderer{Names: s.ledger.Names}
	createdAt := schemas.AppendShortTime(nil, schemas.Micros(c.CreatedAt))
	dst := r.Created1(nil, c, createdAt, model.CompactJSON)
	imported := int64(c.Migration) < migration
	switch {
	case v == 0 && imported:
		dst = append(s.ledger.Names.IDs.AppendContractID(append(dst, `,"event_id":"#`...), c.Number), `:0"`...)
	case v == 0:
		dst = append(s.ledger.Names.IDs.AppendUpdateID(append(dst, `,"event_id":"#`...), uint64(c.Entry)), ':')
		dst = append(strconv.AppendInt(dst, int64(c.Node), 10), '"')
	case !imported:
		dst = append(s.ledger.Names.IDs.AppendUpdateID(append(dst, `,"created_in_update_id":"`...), uint64(c.Entry)), '"')
	}
	if v == 0 {
		dst = append(dst, `,"event_type":"created_event"`...)
	}
	return r.Created2(dst, c)
}

func (s *snapshotServer) forceSnapshot(*http.Request) (any, error) {
	return nil, reply.BadRequest("Forced snapshots are disabled.")
}

// holdingTotals are what one party owns.
type holdingTotals struct{ unlocked, locked, unlockedFees, lockedFees model.Decimal }

func (s *snapshotServer) holdingsSummary(v apiVersion) handler {
	return reply.Asked(func(r *http.Request, q *stateRequest) (any, error) {
		owned, err := s.ownedCoins(q)
		if err != nil {
			return nil, err
		}
		at, found, err := s.state(r, q)
		if err != nil {
			return nil, err
		}
		round := earliestOpenRound(found, at)
		if q.Round != nil {
			round = *q.Round
		}
		answer := map[string]any{"record_time": schemas.Micros(at).String(), "migration_id": *q.MigrationID,
			"summaries": s.summaries(found, owned, round, v)}
		if v == 0 {
			answer["computed_as_of_round"] = round
		}
		return answer, nil
	})
}

// earliestOpenRound is the lowest round that was open at an instant.
func earliestOpenRound(found *ledger.PastLedger, at int64) int64 {
	earliest := int64(-1)
	for _, c := range found.Active {
		if p, ok := c.Payload.(model.OpenRound); ok && p.OpensAt <= at && (earliest < 0 || p.Number < earliest) {
			earliest = p.Number
		}
	}
	return max(0, earliest)
}

// summaries adds up the coins that owned selects, by owner in the order of their texts.
func (s *snapshotServer) summaries(found *ledger.PastLedger, owned func(*model.Contract) bool, round int64, v apiVersion) []map[string]string {
	totals := map[model.Party]*holdingTotals{}
	var owners []model.Party
	for _, c := range found.Active {
		if !owned(c.Contract) {
			continue
		}
		coin := model.CoinOf(c.Contract)
		t := totals[coin.Owner]
		if t == nil {
			t = &holdingTotals{}
			totals[coin.Owner] = t
			owners = append(owners, coin.Owner)
		}
		fee := min(coin.Amount, model.Decimal(max(0, round-coin.Created))*coin.Rate)
		if c.Template == model.LockedAmuletTemplate {
			t.locked, t.lockedFees = t.locked+coin.Amount, t.lockedFees+fee
		} else {
			t.unlocked, t.unlockedFees = t.unlocked+coin.Amount, t.unlockedFees+fee
		}
	}
	answers := []map[string]string{}
	for _, p := range s.ledger.Names.SortParties(owners) {
		answers = append(answers, totals[p].answer(s.ledger.Names.Name(p), v))
	}
	return answers
}

func (t *holdingTotals) answer(owner string, v apiVersion) map[string]string {
	a := map[string]string{
		"party_id": owner, "total_unlocked_coin": t.unlocked.String(), "total_locked_coin": t.locked.String(),
		"total_coin_holdings": (t.unlocked + t.locked).String(),
	}
	if v == 0 {
		a["accumulated_holding_fees_unlocked"] = t.unlockedFees.String()
		a["accumulated_holding_fees_locked"] = t.lockedFees.String()
		a["accumulated_holding_fees_total"] = (t.unlockedFees + t.lockedFees).String()
		a["total_available_coin"] = (t.unlocked - t.unlockedFees).String()
	}
	return a
}
