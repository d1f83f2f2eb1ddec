package verify_test

import (
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// oneActivity is a verdict with app activity in a round of which the rewards were published.
	oneActivity = "(SELECT update_id FROM verdicts WHERE activity_round = 12 ORDER BY record_time LIMIT 1 OFFSET 3)"
	// oneLeaf is the event by which a batch with allowances was processed.
	oneLeaf = "(SELECT (update_id, node) FROM events WHERE choice = 'ProcessRewardsV2_ProcessBatch' AND argument LIKE '%MintingAllowances%' AND length(body_parties) > 1 ORDER BY record_time LIMIT 1 OFFSET 3)"
	oneRoot = "(SELECT (migration_id, contract_id) FROM contracts_archived WHERE template LIKE '%:ProcessRewardsV2' ORDER BY created_at LIMIT 1)"
)

var rewardDamages = []damage{
	{"an activity record is changed", []string{"ALTER TABLE verdicts UPDATE activity_records = replaceOne(activity_records, '\"weight\":', '\"weight\":1') WHERE update_id = " + oneActivity}, verify.Rewards, "activity of an app"},
	{"an activity record is gone", []string{"ALTER TABLE verdicts UPDATE activity_records = '', activity_round = -1 WHERE update_id = " + oneActivity}, verify.Rewards, "root of rewards"},
	{"activity is of another round", []string{"ALTER TABLE verdicts UPDATE activity_round = activity_round + 1 WHERE update_id = " + oneActivity}, verify.Rewards, "round of app activity"},
	{"an amount in a batch is changed", []string{"ALTER TABLE events UPDATE body_scalars = replaceRegexpAll(body_scalars, '([0-9]\\\\.)', '1\\\\1') WHERE (update_id, node) = " + oneLeaf}, verify.Rewards, "reward of an app"},
	{"another root", []string{"ALTER TABLE contracts_archived UPDATE argument_scalars = replaceRegexpOne(argument_scalars, '[0-9a-f]{64}', repeat('0', 64)), argument_ids = arrayMap(id -> repeat('\\0', length(id)), argument_ids) WHERE (migration_id, contract_id) = " + oneRoot}, verify.Rewards, "root of rewards"},
}

func TestRewards(t *testing.T) {
	_, items := network(t, devnet.Config{Updates: 1200, Seed: 36, Days: 1, TrafficRewards: true})
	honest, spoilt := newFixture(t), newFixture(t)
	honest.write(t, amidTree(t, items), 400)
	for _, table := range tables {
		spoilt.copyRows(t, honest, table)
	}
	only := verify.Config{Checks: []string{verify.Rewards}, SkipDigests: true}
	check := honest.verify(t, only).Checks[0]
	rounds := check.Checked["rounds"]
	if !check.OK || rounds < 5 || check.Checked["activity_records"] < 50 || check.Checked["allowances"] < 10 {
		t.Fatalf("%v: %v", check.Checked, check.Findings)
	}
	for _, d := range rewardDamages {
		t.Run(d.name, func(t *testing.T) { spoilt.mustFind(t, honest, d) })
	}
	// Of a round that is not there nothing can be said, nor of the one after it.
	spoilt.exec(t, "ALTER TABLE contracts_archived DELETE WHERE template LIKE '%:OpenMiningRound' AND splitByChar('\\0', argument_scalars)[1] = '12'")
	if check := spoilt.verify(t, only).Checks[0]; !check.OK || check.Checked["rounds"] != rounds-2 || check.Checked["rounds_skipped"] != 2 {
		t.Errorf("without round 12: %v, %v", check.Checked, check.Findings)
	}
}

// amidTree cuts history where only a part of the batches of a round have been processed.
func amidTree(t *testing.T, items []schemas.Item) []schemas.Item {
	t.Helper()
	for i := len(items) - 1; i > 0; i-- {
		batches := 0
		for _, e := range updateEvents(&items[i]) {
			if e.Kind == schemas.Created && strings.HasSuffix(e.TemplateID, ":ProcessRewardsV2") {
				batches++
			}
		}
		if batches > 1 {
			return items[:i+1]
		}
	}
	t.Fatal("no tree has two levels")
	return nil
}

func updateEvents(it *schemas.Item) []schemas.Event {
	if it.Update == nil {
		return nil
	}
	return it.Update.Events
}
