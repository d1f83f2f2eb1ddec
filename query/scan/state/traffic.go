package state

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

type trafficAnswer struct {
	Actual struct {
		Consumed int64 `json:"total_consumed"`
		Limit    int64 `json:"total_limit"`
	} `json:"actual"`
	Target struct {
		Purchased int64 `json:"total_purchased"`
	} `json:"target"`
}

// traffic serves what members have of traffic.
type traffic struct{ contracts *contracts }

// status serves what a member bought of traffic and what of it is used, as far as
// history tells: the limit is what was bought, and the use is the cost of the member's
// transactions, cut at the limit, as what goes beyond was within the free base rate.
func (t *traffic) status(ctx context.Context, r *query.Request) error {
	synchronizer, err := r.Path("domain_id")
	if err != nil {
		return err
	}
	member, err := r.Path("member_id")
	if err != nil {
		return err
	}
	if !isIdentity(synchronizer) {
		return query.Errorf(query.Invalid, "Domain id %q must have the form NAME::FINGERPRINT.", synchronizer)
	}
	kind, uid, _ := strings.Cut(member, "::")
	if kind != "PAR" && kind != "MED" || !isIdentity(uid) {
		return query.Errorf(query.Invalid, "Member id %q must have the form PAR::NAME::FINGERPRINT or MED::NAME::FINGERPRINT.", member)
	}
	bought, ok, err := t.purchased(ctx, synchronizer, member)
	if err != nil {
		return err
	}
	at, err := t.contracts.horizon.Present(ctx)
	if err != nil {
		return err
	}
	// Verdicts name participants without their kind.
	cost, err := t.contracts.source.TrafficCost(ctx, at, synchronizer, []string{member, uid})
	if err != nil {
		return err
	}
	if !ok && cost == 0 {
		return query.Errorf(query.NotFound, "No traffic of member %s on %s is known.", member, synchronizer)
	}
	var status trafficAnswer
	status.Actual.Consumed, status.Actual.Limit, status.Target.Purchased = min(cost, bought), bought, bought
	return r.JSON(map[string]any{"traffic_status": status})
}

// isIdentity reports whether an id has the form NAME::FINGERPRINT.
func isIdentity(id string) bool {
	name, fingerprint, ok := strings.Cut(id, "::")
	return ok && name != "" && fingerprint != "" && !strings.Contains(fingerprint, "::")
}

// purchased adds up the traffic contracts of a member on a synchronizer; ok is
// false when it has none.
func (t *traffic) purchased(ctx context.Context, synchronizer, member string) (total int64, ok bool, err error) {
	q, _, err := t.contracts.of(ctx, template.MemberTraffic)
	if err != nil {
		return 0, false, err
	}
	q.Key = member
	list, err := t.contracts.read(ctx, q)
	if err != nil {
		return 0, false, err
	}
	if len(list) > maxSetContracts {
		return 0, false, fmt.Errorf("member %s has more than %d traffic contracts", member, maxSetContracts)
	}
	for i := range list {
		var payload struct {
			SynchronizerID string `json:"synchronizerId"`
			Purchased      string `json:"totalPurchased"`
		}
		if err := list[i].decode(&payload); err != nil {
			return 0, false, err
		}
		if payload.SynchronizerID != synchronizer {
			continue
		}
		bytes, err := strconv.ParseInt(payload.Purchased, 10, 64)
		if err != nil {
			return 0, false, fmt.Errorf("traffic of contract %s: %w", list[i].Event.ContractID, err)
		}
		total, ok = total+bytes, true
	}
	return total, ok, nil
}
