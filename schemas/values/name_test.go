package values

import "testing"

func TestNames(t *testing.T) {
	for _, tt := range []struct{ network, neutral string }{
		{"splice-amulet", "app-coin"},
		{"splice-amulet-name-service", "app-coin-name-service"},
		{"splice-dso-governance", "app-dso-governance"},
		{"#splice-wallet", "#app-wallet"},
		{"Splice.Amulet", "App.Coin"},
		{"Splice.Amulet:Amulet", "App.Coin:Coin"},
		{"Splice.Amulet:LockedAmulet", "App.Coin:LockedCoin"},
		{"Splice.Amulet:AppRewardCoupon", "App.Coin:AppRewardCoupon"},
		{"Splice.AmuletRules:AmuletRules", "App.CoinRules:CoinRules"},
		{"Splice.ExternalPartyAmuletRules:TransferCommand", "App.ExternalPartyCoinRules:TransferCommand"},
		{"Splice.Wallet.TransferOffer:TransferOffer", "App.Wallet.TransferOffer:TransferOffer"},
		{"splice-amulet:Splice.Amulet:Amulet", "app-coin:App.Coin:Coin"},
		{"#splice-amulet:Splice.Amulet:Amulet", "#app-coin:App.Coin:Coin"},
		{"67fac2f8:Splice.Amulet:Amulet", "67fac2f8:App.Coin:Coin"},
		{"splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding", "app-api-token-holding-v1:App.Api.Token.HoldingV1:Holding"},
		{"AmuletRules_Transfer", "CoinRules_Transfer"},
		{"LockedAmulet_ExpireAmulet", "LockedCoin_ExpireCoin"},
		{"LockedAmulet_ExpireAmuletV2", "LockedCoin_ExpireCoinV2"},
		{"TransferPreapproval_Send", "TransferPreapproval_Send"},
		{"AmuletConfig", "CoinConfig"},
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
		if neutral := Neutral(name); Network(neutral) != name && Neutral(name) != name {
			t.Errorf("%s becomes %s, then %s", name, neutral, Network(neutral))
		}
	}
	l := newLoader()
	if err := l.readAll(ownCatalog(t)); err != nil {
		t.Fatal(err)
	}
	for _, f := range l.files {
		check(f.Package)
		for id, in := range f.Templates {
			check(id)
			for choice := range in.Choices {
				check(choice)
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d names checked", checked)
	}
}
