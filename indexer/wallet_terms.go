package indexer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// walletTemplate says where the payload of a template has what wallets ask for. Paths are
// members separated by dots; an empty one leads nowhere.
type walletTemplate struct {
	// key are the texts by which a contract is looked up, joined by a space.
	key []string
	// owner makes it a holding, which is kept for its owner and lock holders alone: the
	// governance party is a stakeholder of all coins there are.
	owner, amount, rate, round, expires, holders string
}

// walletTemplates are the templates that wallets work with, in the network's spelling.
var walletTemplates = map[string]walletTemplate{
	"splice-amulet:Splice.Amulet:Amulet": {
		owner: "owner", amount: "amount.initialAmount", rate: "amount.ratePerRound.rate", round: "amount.createdAt.number",
	},
	"splice-amulet:Splice.Amulet:LockedAmulet": {
		owner: "amulet.owner", amount: "amulet.amount.initialAmount", rate: "amulet.amount.ratePerRound.rate",
		round: "amulet.amount.createdAt.number", expires: "lock.expiresAt", holders: "lock.holders",
	},
	"splice-amulet:Splice.Amulet:ValidatorRight":                             {key: []string{"user"}},
	"splice-amulet:Splice.Amulet:FeaturedAppRight":                           {key: []string{"provider"}},
	"splice-amulet:Splice.Amulet:AppRewardCoupon":                            {amount: "amount", round: "round.number"},
	"splice-amulet:Splice.Amulet:RewardCouponV2":                             {amount: "amount", round: "round.number", expires: "expiresAt"},
	"splice-amulet:Splice.Amulet:ValidatorRewardCoupon":                      {key: []string{"user"}, amount: "amount", round: "round.number"},
	"splice-amulet:Splice.Amulet:SvRewardCoupon":                             {amount: "weight", round: "round.number"},
	"splice-amulet:Splice.Amulet:UnclaimedActivityRecord":                    {amount: "amount", expires: "expiresAt"},
	"splice-amulet:Splice.Amulet:DevelopmentFundCoupon":                      {amount: "amount", expires: "expiresAt"},
	"splice-amulet:Splice.Round:OpenMiningRound":                             {round: "round.number", expires: "targetClosesAt"},
	"splice-amulet:Splice.Round:IssuingMiningRound":                          {round: "round.number", expires: "targetClosesAt"},
	"splice-amulet:Splice.AmuletRules:AmuletRules":                           {},
	"splice-amulet:Splice.AmuletRules:TransferPreapproval":                   {key: []string{"receiver"}, expires: "expiresAt"},
	"splice-amulet:Splice.AmuletRules:ExternalPartySetupProposal":            {key: []string{"user"}, expires: "preapprovalExpiresAt"},
	"splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules": {},
	"splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommand":          {key: []string{"sender", "nonce"}, amount: "amount", expires: "expiresAt"},
	"splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommandCounter":   {key: []string{"sender"}},
	"splice-amulet:Splice.ExternalPartyConfigState:ExternalPartyConfigState": {round: "holdingFeesOpenRoundNumber.number", expires: "targetArchiveAfter"},
	"splice-amulet:Splice.AmuletTransferInstruction:AmuletTransferInstruction": {
		amount: "transfer.amount", expires: "transfer.executeBefore",
	},
	"splice-amulet:Splice.AmuletAllocation:AmuletAllocation": {
		amount: "allocation.transferLeg.amount", expires: "allocation.settlement.settleBefore",
	},
	"splice-amulet:Splice.AmuletAllocationV2:AmuletAllocationV2":            {expires: "expiresAt"},
	"splice-amulet:Splice.DecentralizedSynchronizer:MemberTraffic":          {key: []string{"memberId"}, amount: "amuletSpent"},
	"splice-amulet:Splice.ValidatorLicense:ValidatorLicense":                {key: []string{"validator"}},
	"splice-amulet:Splice.ValidatorLicense:ValidatorFaucetCoupon":           {round: "round.number"},
	"splice-amulet:Splice.ValidatorLicense:ValidatorLivenessActivityRecord": {round: "round.number"},

	"splice-wallet:Splice.Wallet.Install:WalletAppInstall":                        {key: []string{"endUserName"}},
	"splice-wallet:Splice.Wallet.TransferOffer:TransferOffer":                     {key: []string{"trackingId"}, amount: "amount.amount", expires: "expiresAt"},
	"splice-wallet:Splice.Wallet.TransferOffer:AcceptedTransferOffer":             {key: []string{"trackingId"}, amount: "amount.amount", expires: "expiresAt"},
	"splice-wallet:Splice.Wallet.BuyTrafficRequest:BuyTrafficRequest":             {key: []string{"trackingId"}, expires: "expiresAt"},
	"splice-wallet:Splice.Wallet.TopUpState:ValidatorTopUpState":                  {key: []string{"memberId"}},
	"splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal": {key: []string{"receiver"}},
	"splice-wallet:Splice.Wallet.MintingDelegation:MintingDelegation":             {key: []string{"beneficiary"}, expires: "expiresAt"},
	"splice-wallet:Splice.Wallet.MintingDelegation:MintingDelegationProposal":     {key: []string{"delegation.beneficiary"}, expires: "delegation.expiresAt"},

	"splice-wallet-payments:Splice.Wallet.Payment:AppPaymentRequest":                {expires: "expiresAt"},
	"splice-wallet-payments:Splice.Wallet.Payment:AcceptedAppPayment":               {round: "round.number"},
	"splice-wallet-payments:Splice.Wallet.Subscriptions:Subscription":               {},
	"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionRequest":        {},
	"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionIdleState":      {expires: "nextPaymentDueAt"},
	"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionInitialPayment": {amount: "targetAmount", round: "round.number"},
	"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionPayment":        {amount: "targetAmount", round: "round.number"},

	"splice-amulet-name-service:Splice.Ans:AnsEntry":        {key: []string{"name"}, expires: "expiresAt"},
	"splice-amulet-name-service:Splice.Ans:AnsEntryContext": {key: []string{"name"}},

	"splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:MergeDelegation":         {key: []string{"owner"}},
	"splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:MergeDelegationProposal": {key: []string{"delegation.owner"}},
	"splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:BatchMergeUtility":       {},
}

// terms takes out of a payload in compact JSON what the template has. What cannot be read is
// as if it were not there: the contract is found by its party and template all the same.
func (t *walletTemplate) terms(payload jsonscan.Value) store.WalletTerms {
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

func (t *walletTemplate) lookupKey(payload jsonscan.Value) string {
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
func (t *walletTemplate) keptFor(party string, terms *store.WalletTerms) bool {
	return t.owner == "" || party == terms.Owner || slices.Contains(terms.LockHolders, party)
}
