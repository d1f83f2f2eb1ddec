package network

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

//go:embed sql/traffic_used.sql
var trafficUsedQuery string

// Traffic is what a member of a synchronizer has bought, as one contract says; a member may have several.
type Traffic struct {
	// Member is PAR::NAME::FINGERPRINT, or with MED.
	Member, Synchronizer string
	// Bought is in bytes; Coins and Dollars are what was paid. All are decimal texts.
	Bought, Purchases, Coins, Dollars string
	Contract                          Contract
}

func trafficOf(c *Contract) (Traffic, error) {
	var payload struct {
		Member       string `json:"memberId"`
		Synchronizer string `json:"synchronizerId"`
		Bought       string `json:"totalPurchased"`
		Purchases    string `json:"numPurchases"`
		Coins        string `json:"amuletSpent"`
		Dollars      string `json:"usdSpent"`
	}
	if err := c.decode(&payload); err != nil {
		return Traffic{}, err
	}
	return Traffic{payload.Member, payload.Synchronizer, payload.Bought, payload.Purchases, payload.Coins, payload.Dollars, *c}, nil
}

// Traffic returns what members have bought before a key, the newest first; of one member, unless it is "".
func (r *Reader) Traffic(ctx context.Context, at Instant, member string, before Key, limit int) ([]Traffic, error) {
	q := query(at, limit, template.MemberTraffic)
	q.Key = member
	list, err := r.newest(ctx, q, before)
	if err != nil {
		return nil, err
	}
	return decoded(list, trafficOf)
}

// Used is what transactions of a participant cost, as far as verdicts say.
type Used struct {
	Participant  string `column:"participant,low"`
	Bytes        int64  `column:"used"`
	Transactions int64  `column:"transactions"`
}

// Used returns what members used up to an instant, by member id; those of which no verdict says are absent.
func (r *Reader) Used(ctx context.Context, at Instant, members []string) (map[string]Used, error) {
	if len(members) == 0 {
		return nil, nil
	}
	var names []string
	for _, m := range members { // verdicts name participants without their kind
		names = append(names, m, strings.TrimPrefix(m, "PAR::"))
	}
	rows, err := store.SelectAll(ctx, r.db, trafficUsedQuery, store.Params{
		"streams": store.Texts([]string{r.stream, journal.SideStream(r.stream)}), "participants": store.Texts(names), "at": store.Time(store.Clamp(at.At)),
		"migration": store.Int(at.Mark.MigrationID), "mark": store.Time(store.Clamp(at.Mark.RecordTime)),
	}, store.NewRecords[Used]())
	if err != nil {
		return nil, fmt.Errorf("reading what %d members used: %w", len(members), err)
	}
	used := make(map[string]Used, len(rows))
	for _, row := range rows {
		for _, m := range members {
			if m == row.Participant || strings.TrimPrefix(m, "PAR::") == row.Participant {
				used[m] = row
			}
		}
	}
	return used, nil
}
