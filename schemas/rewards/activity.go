package rewards

import (
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// MaxTrafficCost is the most that a transaction may cost, in bytes, to count as activity.
const MaxTrafficCost = 100 << 20

// Envelope is a part of a transaction that is charged for by itself.
type Envelope struct {
	Cost int64 // bytes
	// Confirmers are the parties that confirm any view in it, each once.
	Confirmers []string
}

// Activity returns what a transaction adds to the weights of featured apps, in bytes by party;
// featured has the activity weight of each. A party that adds nothing is not in it.
//
// An envelope's share of the total cost goes in equal parts to the featured apps among its
// confirmers, in proportion to its cost among the envelopes that have any.
func Activity(envelopes []Envelope, totalCost int64, featured map[string]decimal.Decimal) map[string]int64 {
	sums, costs := make(map[string]int64), int64(0)
	for _, e := range envelopes {
		var apps []string
		for _, p := range e.Confirmers {
			if _, ok := featured[p]; ok {
				apps = append(apps, p)
			}
		}
		if len(apps) == 0 {
			continue
		}
		costs += e.Cost
		for _, p := range apps {
			sums[p] += e.Cost * totalCost / int64(len(apps)) // below 2^54, as MaxTrafficCost is 2^27 nearly
		}
	}
	for p, sum := range sums {
		weight := int64(0)
		if costs > 0 {
			weight, _ = decimal.FromInt(sum / costs).Times(featured[p]).Floor()
		}
		if sums[p] = weight; weight == 0 {
			delete(sums, p)
		}
	}
	return sums
}
