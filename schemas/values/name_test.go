package values

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct{ network, neutral string }{
		// Packages.
		{"splice-amulet", "app-coin"},
		{"splice-amulet-name-service", "app-coin-name-service"},
		{"splice-wallet", "app-wallet"},
		{"splice-wallet-payments", "app-wallet-payments"},
		{"splice-dso-governance", "app-dso-governance"},
		{"splice-validator-lifecycle", "app-validator-lifecycle"},
		{"#splice-wallet", "#app-wallet"},
		// Modules and entities.
		{"Splice.Amulet", "App.Coin"},
		{"Splice.Amulet:Amulet", "App.Coin:Coin"},
		{"Splice.Amulet:LockedAmulet", "App.Coin:LockedCoin"},
		{"Splice.Amulet:AppRewardCoupon", "App.Coin:AppRewardCoupon"},
		{"Splice.Amulet:ValidatorRewardCoupon", "App.Coin:ValidatorRewardCoupon"},
		{"Splice.Amulet:SvRewardCoupon", "App.Coin:SvRewardCoupon"},
		{"Splice.Amulet:FeaturedAppRight", "App.Coin:FeaturedAppRight"},
		{"Splice.Amulet:UnclaimedDevelopmentFundCoupon", "App.Coin:UnclaimedDevelopmentFundCoupon"},
		{"Splice.Amulet:DevelopmentFundCoupon", "App.Coin:DevelopmentFundCoupon"},
		{"Splice.AmuletRules:AmuletRules", "App.CoinRules:CoinRules"},
		{"Splice.AmuletRules:TransferPreapproval", "App.CoinRules:TransferPreapproval"},
		{"Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules", "App.ExternalPartyCoinRules:ExternalPartyCoinRules"},
		{"Splice.ExternalPartyAmuletRules:TransferCommand", "App.ExternalPartyCoinRules:TransferCommand"},
		{"Splice.ExternalPartyAmuletRules:TransferCommandCounter", "App.ExternalPartyCoinRules:TransferCommandCounter"},
		{"Splice.Round:OpenMiningRound", "App.Round:OpenMiningRound"},
		{"Splice.Round:IssuingMiningRound", "App.Round:IssuingMiningRound"},
		{"Splice.Round:SummarizingMiningRound", "App.Round:SummarizingMiningRound"},
		{"Splice.Round:ClosedMiningRound", "App.Round:ClosedMiningRound"},
		{"Splice.DsoRules:DsoRules", "App.DsoRules:DsoRules"},
		{"Splice.DsoRules:VoteRequest", "App.DsoRules:VoteRequest"},
		{"Splice.DsoRules:Confirmation", "App.DsoRules:Confirmation"},
		{"Splice.Ans:AnsRules", "App.Ans:AnsRules"},
		{"Splice.Ans:AnsEntry", "App.Ans:AnsEntry"},
		{"Splice.ValidatorLicense:ValidatorLicense", "App.ValidatorLicense:ValidatorLicense"},
		{"Splice.ValidatorLicense:ValidatorFaucetCoupon", "App.ValidatorLicense:ValidatorFaucetCoupon"},
		{"Splice.ValidatorLicense:ValidatorLivenessActivityRecord", "App.ValidatorLicense:ValidatorLivenessActivityRecord"},
		{"Splice.Wallet.TransferOffer:TransferOffer", "App.Wallet.TransferOffer:TransferOffer"},
		{"Splice.Wallet.TransferOffer:AcceptedTransferOffer", "App.Wallet.TransferOffer:AcceptedTransferOffer"},
		{"Splice.Wallet.MintingDelegation:MintingDelegation", "App.Wallet.MintingDelegation:MintingDelegation"},
		{"Splice.Wallet.MintingDelegation:MintingDelegationProposal", "App.Wallet.MintingDelegation:MintingDelegationProposal"},
		{"Splice.Api.Token.HoldingV1:Holding", "App.Api.Token.HoldingV1:Holding"},
		{"Splice.Api.Token.TransferInstructionV1:TransferInstruction", "App.Api.Token.TransferInstructionV1:TransferInstruction"},
		// With their packages.
		{"splice-amulet:Splice.Amulet:Amulet", "app-coin:App.Coin:Coin"},
		{"#splice-amulet:Splice.Amulet:Amulet", "#app-coin:App.Coin:Coin"},
		{"67fac2f8:Splice.Amulet:Amulet", "67fac2f8:App.Coin:Coin"},
		{"splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding", "app-api-token-holding-v1:App.Api.Token.HoldingV1:Holding"},
		// Choices and records.
		{"AmuletRules_Transfer", "CoinRules_Transfer"},
		{"AmuletRules_BuyMemberTraffic", "CoinRules_BuyMemberTraffic"},
		{"AmuletRules_CreateTransferPreapproval", "CoinRules_CreateTransferPreapproval"},
		{"AmuletRules_Mint", "CoinRules_Mint"},
		{"AmuletRules_DevNet_Tap", "CoinRules_DevNet_Tap"},
		{"LockedAmulet_Unlock", "LockedCoin_Unlock"},
		{"LockedAmulet_OwnerExpireLock", "LockedCoin_OwnerExpireLock"},
		{"LockedAmulet_ExpireAmulet", "LockedCoin_ExpireCoin"},
		{"LockedAmulet_ExpireAmuletV2", "LockedCoin_ExpireCoinV2"},
		{"Amulet_Expire", "Coin_Expire"},
		{"AmuletConfig", "CoinConfig"},
		{"TransferPreapproval_Send", "TransferPreapproval_Send"},
		{"TransferPreapproval_Renew", "TransferPreapproval_Renew"},
		{"TransferInstruction_Accept", "TransferInstruction_Accept"},
		{"TransferInstruction_Reject", "TransferInstruction_Reject"},
		{"TransferInstruction_Withdraw", "TransferInstruction_Withdraw"},
		{"BatchMergeUtility_MergeHoldings", "BatchMergeUtility_MergeHoldings"},
		{"extraFeaturedAppRewardAmount", "extraFeaturedAppRewardAmount"},
	} {
		if got := Neutral(tt.network); got != tt.neutral {
			t.Errorf("Neutral(%s) = %s, want %s", tt.network, got, tt.neutral)
		}
		if got := Network(tt.neutral); got != tt.network {
			t.Errorf("Network(%s) = %s, want %s", tt.neutral, got, tt.network)
		}
	}
	for _, other := range []string{
		"", ":", "::", "Acme.Trade:AmuletSwap", "acme-amulet:Acme.Coin:CoinSwap", "Amulets", "Coinage", "archive",
		"abc:Splicer.Amulet:Amulet", "acme-app:Application:Coin",
	} {
		if got := Neutral(other); got != other {
			t.Errorf("Neutral(%s) = %s, want it as it is", other, got)
		}
		if got := Network(other); got != other {
			t.Errorf("Network(%s) = %s, want it as it is", other, got)
		}
	}
}

// No two names of the catalogue may have the same neutral spelling, and each must lead
// back.
func TestNeutralNamesOfTheCatalogLeadBack(t *testing.T) {
	checked := 0
	check := func(name string) {
		checked++
		if neutral := Neutral(name); Network(neutral) != name {
			t.Errorf("%s becomes %s, then %s", name, neutral, Network(neutral))
		}
	}
	l := newLoader()
	if err := l.readAll(ownCatalog(t)); err != nil {
		t.Fatal(err)
	}
	for _, f := range l.files {
		check(f.Package)
		for _, in := range []map[string]templateInFile{f.Templates, f.Interfaces} {
			for id, in := range in {
				check(id)
				for choice := range in.Choices {
					check(choice)
				}
			}
		}
	}
	if checked < 250 {
		t.Errorf("only %d names checked", checked)
	}
}

// Choices are listed once, as the network spells them.
func TestChoicesAreListedOnce(t *testing.T) {
	got := Default().Choices("splice-amulet", "Splice.Amulet:Amulet")
	if len(got) == 0 || !slices.Contains(got, "Amulet_Expire") || slices.Contains(got, "Coin_Expire") || slices.Contains(got, "Archive") || !slices.IsSorted(got) {
		t.Errorf("the choices of coins are %q", got)
	}
	if got := Default().Choices("splice-amulet", "Splice.Amulet:None"); got != nil {
		t.Errorf("what is not in the catalogue has choices %q", got)
	}
}
