// Package metrics has the catalogue of metrics of public history, and reads them: sums over the tables of hours and the
// hour that is not over, exact and up to a position.
package metrics

import (
	_ "embed"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
)

// Metric is a number by buckets of time or mining rounds.
type Metric struct {
	Name string
	// Unit is coin, bytes, parties and so on; a metric in coin is a decimal with 10 digits, others are integers.
	Unit string
	// Meaning is what it is, in English.
	Meaning string
	// Grains are the buckets that it has, GroupBy the columns by which it can be told apart.
	Grains, GroupBy []string

	tables []rollups.Table // that it is made of
	value  string          // aggregate over their rows
	where  string          // of the rows, "" for all
	// running says that a bucket has the value at its end: what value gives are changes.
	running bool
	// rolling counts distinct parties over so many days, up to the end of a day.
	rolling int
	// verdicts says that it counts verdicts, which may be missing.
	verdicts bool
	// submitters says that it is of who submits transactions, which verdicts alone name.
	submitters bool
	known      string // aggregate that says whether there is a value, "" for always
}

// The grains, from the finest.
const (
	ByHour  = "hour"
	ByDay   = "day"
	ByWeek  = "week"
	ByMonth = "month"
	ByRound = "round"
)

var (
	overTime  = []string{ByHour, ByDay, ByWeek, ByMonth}
	withRound = []string{ByHour, ByDay, ByWeek, ByMonth, ByRound}
	days      = []string{ByDay}
)

const (
	ofUsers     = "transactions > 0"
	ofAddresses = "active AND party NOT IN (SELECT substring(instrument, 1, position(instrument, '/') - 1) FROM movement_hours)"
	hasVerdicts = "sum(accepted + rejected + undecided) > 0 OR sum(m.transactions) = 0"
)

// Catalog are all metrics.
var Catalog = slices.Concat(
	[]Metric{
		moved("supply", "Coins that exist at the end of the bucket, locked or not", "sum(m.amount)", "", "pocket").runs(),
		moved("minted", "Coins that are minted, by class such as app, validator_liveness or operator", "sum(m.amount)", "cause = 'mint'", "class"),
		moved("burned", "Coins that are burnt, by class such as traffic, fee or expiry", "-sum(m.amount)", "cause = 'burn'", "class"),
		moved("net_issuance", "Coins minted less coins burnt", "sum(m.amount)", "cause IN ('mint', 'burn')"),
		moved("burn_mint_ratio", "Coins burnt for each 1,000 that are minted, rounded down", "toInt64(1000 * -sumIf(m.amount, cause = 'burn') / greatest(sumIf(m.amount, cause = 'mint'), toDecimal128('0.0000000001', 10)))", "cause IN ('mint', 'burn')").in("permille").ifKnown("sumIf(m.amount, cause = 'mint') > 0"),
		moved("fees_paid", "Coins that are burnt for a purpose: all burns but those of expired coins. Nobody receives them", "-sum(m.amount)", "cause = 'burn' AND class != 'expiry'", "class"),
		moved("transfer_volume", "Coins that parties receive of others", "sum(m.volume)", "cause = 'transfer'", "purpose"),
		moved("unexplained", "Change of holdings that no rule explains; it should be 0", "sum(m.amount)", "cause = 'unexplained'"),
		moved("transfers", "Times that a party receives coins of another one in a choice", "sum(m.transfers)", "cause = 'transfer'", "purpose").in("transfers"),
		held("holders", "Parties that hold coins at the end of the bucket", "0").runs(),
		held("holders_1", "Parties that hold at least 1 coin at the end of the bucket", "1").runs(),
		held("holders_100", "Parties that hold at least 100 coins", "100").runs(),
		held("holders_10000", "Parties that hold at least 10,000 coins", "10000").runs(),
		balance("holders_ever", "Parties that have ever held coins, up to the end of the bucket", "countIf(m.first)").runs(),
		balance("holders_new", "Times that a party which held nothing at the end of an hour holds coins at the end of a later one", "countIf(held_before <= 0 AND unlocked + locked > 0)"),
		balance("holders_left", "Times that a party no longer holds coins at the end of an hour", "countIf(held_before > 0 AND unlocked + locked <= 0)"),
		counted("updates", "updates", "Updates of public history, without what migrations carry over", "sum(m.updates)"),
		counted("events", "events", "Creates and exercises of public history", "sum(m.events)"),
		counted("updates_peak_minute", "updates", "Most updates in a minute", "max(m.updates_in_minute)"),
		counted("updates_peak_second", "updates", "Most updates in a second", "max(m.updates_in_second)"),
		counted("accepted", "transactions", "Accepted transactions, private ones included", "sum(m.accepted)").ofVerdicts(hasVerdicts),
		counted("rejected", "transactions", "Rejected transactions", "sum(m.rejected)").ofVerdicts(hasVerdicts),
		counted("rejected_share", "permille", "Share of the transactions that are rejected among those accepted or rejected, rounded down", "intDiv(1000 * sum(m.rejected), greatest(sum(m.accepted + m.rejected), 1))").ofVerdicts("sum(m.accepted + m.rejected) > 0"),
		counted("private", "transactions", "Accepted transactions that public history does not have", "sum(m.private)").ofVerdicts(hasVerdicts),
		counted("verdicts_peak_minute", "transactions", "Most decisions on transactions in a minute", "max(m.verdicts_in_minute)").ofVerdicts(hasVerdicts),
		counted("verdicts_peak_second", "transactions", "Most decisions on transactions in a second", "max(m.verdicts_in_second)").ofVerdicts(hasVerdicts),
		counted("traffic", "bytes", "Traffic of all transactions with a summary of it, accepted or not", "sum(m.traffic)").ofVerdicts("sum(m.with_traffic) > 0 OR sum(m.transactions) = 0"),
		counted("traffic_mean", "bytes", "Traffic of a transaction with a summary of it, rounded down", "intDiv(sum(m.traffic), greatest(sum(m.with_traffic), 1))").ofVerdicts("sum(m.with_traffic) > 0"),
		counted("traffic_coverage", "permille", "Share of the decisions on transactions that have a summary of traffic, rounded down", "intDiv(1000 * sum(m.with_traffic), greatest(sum(accepted + rejected + undecided), 1))").ofVerdicts("sum(accepted + rejected + undecided) > 0"),
	},
	parties("active_users", "Parties that submit transactions which are accepted", ofUsers, rollups.PartyHours),
	parties("active_addresses", "Parties whose holdings move, or that sign, observe or act in an event, without the governance party", ofAddresses, rollups.PartyHours, rollups.BalanceHours),
	[]Metric{
		{Name: "rewards", Unit: Coin, Meaning: "Coins that parties mint as rewards of apps, validators and operators, by party and class", Grains: withRound, GroupBy: []string{"party", "class"}, tables: []rollups.Table{movements}, value: "sum(m.amount)", where: "cause = 'mint' AND class NOT IN ('tap', 'other', 'development_fund')"},
		{Name: "received", Unit: Coin, Meaning: "Coins that parties receive of others, by party", Grains: withRound, GroupBy: []string{"party"}, tables: []rollups.Table{movements}, value: "sum(m.amount)", where: "cause = 'transfer' AND amount > 0 AND party != counterparty"},
		{Name: "paid", Unit: Coin, Meaning: "Coins of parties that are burnt for a purpose, by party and class such as traffic or fee", Grains: withRound, GroupBy: []string{"party", "class"}, tables: []rollups.Table{movements}, value: "-sum(m.amount)", where: "cause = 'burn' AND class != 'expiry'"},
		{Name: "submitted", Unit: "transactions", Meaning: "Accepted transactions by the parties that submit them; those of several parties count for each", Grains: overTime, GroupBy: []string{"party"}, tables: []rollups.Table{rollups.PartyHours}, value: "sum(m.transactions)", submitters: true},
		{Name: "submitted_traffic", Unit: "bytes", Meaning: "Traffic of transactions by the parties that submit them; those of several parties count for each", Grains: overTime, GroupBy: []string{"party"}, tables: []rollups.Table{rollups.PartyHours}, value: "sum(m.traffic)", submitters: true},
	},
)

// movements are read themselves where parties are told apart.
var movements = rollups.Table{Name: "movements", Rows: partyMovements}

//go:embed sql/party_movements.sql
var partyMovements string

func moved(name, meaning, value, where string, groups ...string) Metric {
	return Metric{Name: name, Unit: Coin, Meaning: meaning, Grains: withRound, GroupBy: groups, tables: []rollups.Table{rollups.MovementHours}, value: value, where: where}
}

func balance(name, meaning, value string) Metric {
	return Metric{Name: name, Unit: "parties", Meaning: meaning, Grains: overTime, tables: []rollups.Table{rollups.BalanceHours}, value: value}
}

// held counts the parties that hold at least so much, more than 0.
func held(name, meaning, atLeast string) Metric {
	now, before := "unlocked + locked > 0 AND unlocked + locked >= "+atLeast, "held_before > 0 AND held_before >= "+atLeast
	return balance(name, meaning, "toInt64(countIf("+now+")) - toInt64(countIf("+before+"))")
}

func counted(name, unit, meaning, value string) Metric {
	return Metric{Name: name, Unit: unit, Meaning: meaning, Grains: overTime, tables: []rollups.Table{rollups.NetworkHours}, value: value}
}

// parties counts distinct ones in a bucket, and over 7 and 30 days.
func parties(name, meaning, where string, tables ...rollups.Table) []Metric {
	m := Metric{Name: name, Unit: "parties", Meaning: meaning, Grains: overTime, tables: tables, value: "uniqExact(m.party)", where: where}
	m.submitters = where == ofUsers
	week, month := m, m
	week.Name, week.Grains, week.rolling, week.Meaning = name+"_7d", days, 7, meaning+"; in the 7 days that end with the day"
	month.Name, month.Grains, month.rolling, month.Meaning = name+"_30d", days, 30, meaning+"; in the 30 days that end with the day"
	week.running, month.running = true, true
	return []Metric{m, week, month}
}

// Coin is the unit of metrics that are decimals.
const Coin = "coin"

func (m Metric) runs() Metric          { m.running = true; return m }
func (m Metric) in(unit string) Metric { m.Unit = unit; return m }
func (m Metric) ifKnown(known string) Metric {
	m.known = known
	return m
}
func (m Metric) ofVerdicts(known string) Metric {
	m.verdicts, m.known = true, known
	return m
}

// Named returns the metric of a name.
func Named(name string) (*Metric, bool) {
	i := slices.IndexFunc(Catalog, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return &Catalog[i], true
}
