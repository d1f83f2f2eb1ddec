package wallet

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// templateFields says where the payload of a template has what wallets ask for. Paths are
// members separated by dots; an empty one leads nowhere.
type templateFields struct {
	// key are the template's LookupFields.
	key []string
	// owner makes it a holding, which is kept for its owner and lock holders alone: the
	// governance party is a stakeholder of all coins there are.
	owner, amount, rate, round, expires, holders string
}

// templates are the templates that wallets work with, in the network's spelling.
var templates = withLookupFields(map[string]templateFields{
	template.Coin: {
		owner: "owner", amount: "amount.initialAmount", rate: "amount.ratePerRound.rate", round: "amount.createdAt.number",
	},
	template.LockedCoin: {
		owner: "amulet.owner", amount: "amulet.amount.initialAmount", rate: "amulet.amount.ratePerRound.rate",
		round: "amulet.amount.createdAt.number", expires: "lock.expiresAt", holders: "lock.holders",
	},
	template.ValidatorRight:             {},
	template.FeaturedAppRight:           {},
	template.AppRewardCoupon:            {amount: "amount", round: "round.number"},
	template.RewardCouponV2:             {amount: "amount", round: "round.number", expires: "expiresAt"},
	template.ValidatorRewardCoupon:      {amount: "amount", round: "round.number"},
	template.SvRewardCoupon:             {amount: "weight", round: "round.number"},
	template.UnclaimedActivityRecord:    {amount: "amount", expires: "expiresAt"},
	template.DevelopmentFundCoupon:      {amount: "amount", expires: "expiresAt"},
	template.OpenMiningRound:            {round: "round.number", expires: "targetClosesAt"},
	template.IssuingMiningRound:         {round: "round.number", expires: "targetClosesAt"},
	template.CoinRules:                  {},
	template.TransferPreapproval:        {expires: "expiresAt"},
	template.ExternalPartySetupProposal: {expires: "preapprovalExpiresAt"},
	template.ExternalPartyCoinRules:     {},
	template.TransferCommand:            {amount: "amount", expires: "expiresAt"},
	template.TransferCommandCounter:     {},
	template.ExternalPartyConfigState:   {round: "holdingFeesOpenRoundNumber.number", expires: "targetArchiveAfter"},
	template.CoinTransferInstruction: {
		amount: "transfer.amount", expires: "transfer.executeBefore",
	},
	template.CoinAllocation: {
		amount: "allocation.transferLeg.amount", expires: "allocation.settlement.settleBefore",
	},
	template.CoinAllocationV2:                {expires: "expiresAt"},
	template.MemberTraffic:                   {amount: "amuletSpent"},
	template.ValidatorLicense:                {},
	template.ValidatorFaucetCoupon:           {round: "round.number"},
	template.ValidatorLivenessActivityRecord: {round: "round.number"},

	template.WalletAppInstall:            {},
	template.TransferOffer:               {amount: "amount.amount", expires: "expiresAt"},
	template.AcceptedTransferOffer:       {amount: "amount.amount", expires: "expiresAt"},
	template.BuyTrafficRequest:           {expires: "expiresAt"},
	template.ValidatorTopUpState:         {},
	template.TransferPreapprovalProposal: {},
	template.MintingDelegation:           {expires: "expiresAt"},
	template.MintingDelegationProposal:   {expires: "delegation.expiresAt"},

	template.AppPaymentRequest:          {expires: "expiresAt"},
	template.AcceptedAppPayment:         {round: "round.number"},
	template.Subscription:               {},
	template.SubscriptionRequest:        {},
	template.SubscriptionIdleState:      {expires: "nextPaymentDueAt"},
	template.SubscriptionInitialPayment: {amount: "targetAmount", round: "round.number"},
	template.SubscriptionPayment:        {amount: "targetAmount", round: "round.number"},

	template.NameEntry:        {expires: "expiresAt"},
	template.NameEntryContext: {},

	template.MergeDelegation:         {},
	template.MergeDelegationProposal: {},
	template.BatchMergeUtility:       {},
})

func withLookupFields(templates map[string]templateFields) map[string]templateFields {
	for name, t := range templates {
		t.key = template.LookupFields(name)
		templates[name] = t
	}
	return templates
}

// terms takes out of a payload in compact JSON what the template has. What cannot be read is
// as if it were not there: the contract is found by its party and template all the same.
func (t *templateFields) terms(payload jsonscan.Value) store.WalletTerms {
	terms := store.WalletTerms{
		LookupKey: t.lookupKey(payload), Owner: at(payload, t.owner).Text(),
		Amount: number(at(payload, t.amount)), Rate: number(at(payload, t.rate)), Round: -1, ExpiresAt: store.NeverArchived,
	}
	if n, err := strconv.ParseInt(at(payload, t.round).Text(), 10, 64); err == nil {
		terms.Round = n
	}
	if expires, err := schemas.ParseTime(at(payload, t.expires).Text()); err == nil {
		terms.ExpiresAt = store.Clamp(expires)
	}
	for _, holder := range at(payload, t.holders).Elements() {
		terms.LockHolders = append(terms.LockHolders, holder.Text())
	}
	return terms
}

func at(payload jsonscan.Value, path string) jsonscan.Value {
	if path == "" {
		return nil
	}
	return payload.At(strings.Split(path, ".")...)
}

func number(v jsonscan.Value) decimal.Decimal {
	d, err := decimal.Parse(v.Text())
	if err != nil || !d.Storable() {
		return decimal.Decimal{}
	}
	return d
}

func (t *templateFields) lookupKey(payload jsonscan.Value) string {
	texts := make([]string, len(t.key))
	for i, path := range t.key {
		v := at(payload, path)
		if !v.IsText() {
			return ""
		}
		texts[i] = v.Text()
	}
	return strings.Join(texts, " ")
}

// keptFor reports whether a contract with those terms is kept for a stakeholder.
func (t *templateFields) keptFor(party string, terms *store.WalletTerms) bool {
	return t.owner == "" || party == terms.Owner || slices.Contains(terms.LockHolders, party)
}
