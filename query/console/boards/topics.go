package boards

import "strings"

// topic is metrics that belong together.
type topic struct {
	title   string
	metrics []string
}

// topics are all metrics, in the order of the overview.
var topics = []topic{
	{"Supply and burn", []string{"supply", "minted", "burned", "net_issuance", "burn_mint_ratio", "fees_paid", "unexplained"}},
	{"Holders and transfers", []string{"holders", "holders_1", "holders_100", "holders_10000", "holders_ever", "holders_new", "holders_left", "transfer_volume", "transfers", "received", "paid"}},
	{"Activity", []string{"updates", "events", "updates_peak_minute", "updates_peak_second", "active_users", "active_users_7d", "active_users_30d", "active_addresses", "active_addresses_7d", "active_addresses_30d", "submitted"}},
	{"Decisions", []string{"accepted", "rejected", "rejected_share", "private", "verdicts_peak_minute", "verdicts_peak_second"}},
	{"Traffic", []string{"traffic", "traffic_mean", "traffic_coverage", "submitted_traffic"}},
	{"Rewards", []string{"rewards"}},
}

// titles are of metrics whose names say too little.
var titles = map[string]string{
	"holders_1": "Holders of at least 1 coin", "holders_100": "Holders of at least 100 coins", "holders_10000": "Holders of at least 10,000 coins",
	"holders_ever": "Holders ever", "holders_new": "New holders", "holders_left": "Holders who left", "fees_paid": "Burnt for a purpose",
	"active_users_7d": "Active users in 7 days", "active_users_30d": "Active users in 30 days",
	"active_addresses_7d": "Active addresses in 7 days", "active_addresses_30d": "Active addresses in 30 days",
	"updates_peak_minute": "Updates in the busiest minute", "updates_peak_second": "Updates in the busiest second",
	"verdicts_peak_minute": "Decisions in the busiest minute", "verdicts_peak_second": "Decisions in the busiest second",
	"traffic_mean": "Traffic of a transaction", "traffic_coverage": "Decisions with traffic", "unexplained": "Unexplained changes",
	"burn_mint_ratio": "Burnt per 1,000 minted", "rejected_share": "Share rejected",
	"private": "Private transactions", "accepted": "Accepted transactions", "rejected": "Rejected transactions",
	"received": "Coins received", "paid": "Coins paid", "submitted": "Transactions by party", "submitted_traffic": "Traffic by party", "rewards": "Rewards minted",
}

// title names a metric.
func title(name string) string {
	if title, ok := titles[name]; ok {
		return title
	}
	text := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}
