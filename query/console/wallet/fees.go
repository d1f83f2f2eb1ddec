package wallet

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// feesOf are the fees of a transfer by the network's rules, in words.
func feesOf(m walletapi.Market) (list []string, err error) {
	for _, f := range []struct{ before, amount, after string }{
		{"", m.CreateFee, " coins for each coin that is made"},
		{"", m.LockFee, " coins for each holder of a lock"},
		{"a share of ", m.TransferFee, " of the amount, less for large ones"},
	} {
		if f.amount == "" {
			continue
		}
		d, err := decimal.Parse(f.amount)
		if err != nil {
			return nil, err
		}
		if d.Sign() > 0 {
			list = append(list, f.before+page.Grouped(f.amount)+f.after)
		}
	}
	return list, nil
}

// leftOver is what a balance has without an amount, "" if that is less than nothing, and the amount in
// dollars, "" without a price.
func leftOver(balance, amount, price string) (remaining, dollars string, err error) {
	has, err := decimal.Parse(balance)
	if err != nil {
		return "", "", err
	}
	sent, err := decimal.Parse(amount)
	if err != nil {
		return "", "", err
	}
	if left := has.Minus(sent); left.Sign() >= 0 {
		remaining = left.Short()
	}
	if price == "" {
		return remaining, "", nil
	}
	each, err := decimal.Parse(price)
	return remaining, cents(sent.Times(each)), err
}

// trafficCost is what some bytes of traffic cost, in dollars and in coins; "" where no price is known.
func trafficCost(bytes int64, m walletapi.Market) (dollars, coins string, err error) {
	if m.TrafficPrice == "" {
		return "", "", nil
	}
	each, err := decimal.Parse(m.TrafficPrice)
	if err != nil {
		return "", "", err
	}
	million, err := decimal.Parse(strconv.Itoa(1_000_000))
	if err != nil {
		return "", "", err
	}
	cost := each.TimesInt(bytes).Over(million)
	if m.Price == "" {
		return cost.Short(), "", nil
	}
	price, err := decimal.Parse(m.Price)
	if err != nil || price.Sign() <= 0 {
		return cost.Short(), "", err
	}
	return cost.Short(), cost.OverUp(price).Short(), nil
}
