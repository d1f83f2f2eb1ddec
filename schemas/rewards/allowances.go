// Package rewards computes what featured apps may mint for the traffic of their transactions
// (CIP-0104): the activity of a transaction, the amounts of a round, and the tree of hashes whose
// root the network publishes.
package rewards

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Config is what the rewards of a round depend on, all of it from the contract of the open round.
type Config struct {
	IssuedPerYear decimal.Decimal // coins
	FundShare     decimal.Decimal // of what is issued, for the development fund
	AppShare      decimal.Decimal // of the rest, for apps
	Cap           decimal.Decimal // coins for each coupon of a featured app, at most
	TickMicros    int64           // length of a round
	CoinPrice     decimal.Decimal // USD
	TrafficPrice  decimal.Decimal // USD for 10^6 bytes
	Threshold     decimal.Decimal // USD; apps that have earned less get nothing
	BatchSize     int64           // allowances, or batches, in a batch
}

// Allowance is what an app may mint for a round.
type Allowance struct {
	Provider string
	Amount   decimal.Decimal // coins
}

// Outcome is how the rewards of a round are divided, in coins.
type Outcome struct {
	Allowances []Allowance // in byte order of providers
	// Minting is the sum of Allowances, Unclaimed what no activity has earned because of the cap,
	// Thresholded what stays below the threshold.
	Minting, Unclaimed, Thresholded decimal.Decimal
}

var (
	million      = decimal.FromInt(1_000_000)
	microsOfYear = decimal.FromInt(365 * 24 * 3600 * 1_000_000)
)

// ErrConfig means that no rewards can be computed by a configuration.
var ErrConfig = errors.New("prices, tick and batch size must be positive, and batches have more than one element")

// check refuses what would divide by zero, and trees that never end.
func (c *Config) check() error {
	if c.TickMicros <= 0 || c.CoinPrice.Sign() <= 0 || c.TrafficPrice.Sign() < 0 || c.BatchSize < 2 {
		return ErrConfig
	}
	return nil
}

// Divide divides the rewards of a round by the weights of apps, in bytes. Each step is rounded half
// even to ten digits, and a reward is compared with the threshold before it is rounded.
func (c *Config) Divide(weights map[string]int64) (Outcome, error) {
	if err := c.check(); err != nil {
		return Outcome{}, err
	}
	total := int64(0)
	for _, w := range weights {
		total += w
	}
	issued, perMegabyte := c.issued(), c.TrafficPrice.Over(c.CoinPrice)
	coupons := decimal.FromInt(total).Over(million).Times(perMegabyte)
	perCoupon := c.perCoupon(issued, coupons)
	var o Outcome
	if o.Unclaimed = issued.Minus(perCoupon.Times(coupons)); o.Unclaimed.Sign() < 0 {
		o.Unclaimed = decimal.Decimal{}
	}
	rate, threshold := perMegabyte.Times(perCoupon), c.Threshold.Over(c.CoinPrice).TimesInt(1_000_000)
	for party, weight := range weights {
		exact := rate.TimesInt(weight) // times 10^6
		if exact.Less(threshold) {
			continue
		}
		a := Allowance{party, exact.OverAway(million)}
		o.Allowances = append(o.Allowances, a)
		o.Minting = o.Minting.Plus(a.Amount)
	}
	slices.SortFunc(o.Allowances, func(a, b Allowance) int { return strings.Compare(a.Provider, b.Provider) })
	o.Thresholded = issued.Minus(o.Unclaimed).Minus(o.Minting)
	return o, nil
}

// issued is what is issued to apps in a round.
func (c *Config) issued() decimal.Decimal {
	round := c.IssuedPerYear.Over(microsOfYear.Over(decimal.FromInt(c.TickMicros)))
	return round.Minus(round.Times(c.FundShare)).Times(c.AppShare)
}

// perCoupon is what is issued for each coupon.
func (c *Config) perCoupon(issued, coupons decimal.Decimal) decimal.Decimal {
	most := c.Cap.Times(coupons)
	switch {
	case coupons.Sign() <= 0:
		return c.Cap
	case c.Cap.Sign() <= 0 || most.Sign() == 0:
		return decimal.Decimal{}
	case issued.Less(most):
		return issued.Times(c.Cap).Over(most)
	}
	return most.Times(c.Cap).Over(most)
}

// ByDictionary compares party ids as a dictionary does, which is how a database may order them: a
// letter, whatever its case, comes after digits and these after marks; only between ids that differ
// by nothing else a small letter comes first.
func ByDictionary(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(rank(a[i]), rank(b[i])); c != 0 {
			return c
		}
	}
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return -strings.Compare(a, b) // capital letters have the smaller codes
}

// rank orders the characters of party ids, which are no others than these and letters.
func rank(c byte) int {
	if i := strings.IndexByte(" _-:0123456789", c); i >= 0 {
		return i
	}
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return 256 + int(c)
}
