package wallet

import (
	"errors"
	"regexp"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// amounts are decimals as the ledger has them: with up to 28 digits before the point and 10 after it.
var amounts = regexp.MustCompile(`^\d{1,28}(\.\d{1,10})?$`)

// amountProblem says what is wrong with an amount, "" if nothing is.
func amountProblem(text string) string {
	switch {
	case text == "":
		return "Enter an amount."
	case !amounts.MatchString(text):
		return "Write the amount in digits, with a point and at most 10 digits after it, such as 12.5."
	case strings.Trim(text, "0.") == "":
		return "The amount must be greater than 0."
	}
	return ""
}

// exceeds reports whether an amount is more than there is. Both were checked before.
func exceeds(amount, there string) (bool, error) {
	a, err := decimal.Parse(amount)
	if err != nil {
		return false, err
	}
	b, err := decimal.Parse(there)
	return b.Less(a), err
}

// parties are the ids of parties.
var parties = regexp.MustCompile(`^[^:\s]+::[^:\s]+$`)

// onces are ids of forms that have their effect once; see page.Once.
var onces = regexp.MustCompile(`^[0-9a-f]{32}$`)

// onceOf is the id of the form that was sent. A form without one is not one of ours, and gets a new id.
func onceOf(v *visit) string {
	if id := v.Field("once"); onces.MatchString(id) {
		return id
	}
	return page.Once()
}

// told is what the interface says about a request that it refuses as it is; ok is false for other errors.
func told(err error) (text string, ok bool) {
	var e *query.Error
	if errors.As(err, &e) && (walletapi.Is(err, query.Invalid) || walletapi.Is(err, query.Disabled)) {
		return e.Msg, true
	}
	return "", false
}
