package values

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func ownCatalog(t testing.TB) fs.FS {
	t.Helper()
	own, err := fs.Sub(ownFiles, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// The network's templates that the query tier must be able to convert.
func TestCatalogHasTheTemplatesOfTheNetwork(t *testing.T) {
	templates := map[string]string{
		"splice-amulet": `Splice.Amulet: Amulet LockedAmulet ValidatorRight FeaturedAppRight FeaturedAppActivityMarker
			AppRewardCoupon RewardCouponV2 ValidatorRewardCoupon SvRewardCoupon UnclaimedReward UnclaimedActivityRecord
			UnclaimedDevelopmentFundCoupon DevelopmentFundCoupon
			Splice.Round: OpenMiningRound SummarizingMiningRound IssuingMiningRound ClosedMiningRound
			Splice.AmuletRules: AmuletRules TransferPreapproval ExternalPartySetupProposal
			Splice.ExternalPartyAmuletRules: ExternalPartyAmuletRules TransferCommand TransferCommandCounter
			Splice.ExternalPartyConfigState: ExternalPartyConfigState
			Splice.AmuletTransferInstruction: AmuletTransferInstruction
			Splice.AmuletAllocation: AmuletAllocation
			Splice.AmuletAllocationV2: AmuletAllocationV2
			Splice.DecentralizedSynchronizer: MemberTraffic
			Splice.ValidatorLicense: ValidatorLicense ValidatorFaucetCoupon ValidatorLivenessActivityRecord
			Splice.Amulet.RewardAccountingV2: CalculateRewardsV2 ProcessRewardsV2`,
		"splice-wallet": `Splice.Wallet.Install: WalletAppInstall
			Splice.Wallet.TransferOffer: TransferOffer AcceptedTransferOffer
			Splice.Wallet.BuyTrafficRequest: BuyTrafficRequest
			Splice.Wallet.TopUpState: ValidatorTopUpState
			Splice.Wallet.TransferPreapproval: TransferPreapprovalProposal
			Splice.Wallet.MintingDelegation: MintingDelegation MintingDelegationProposal`,
		"splice-util-token-standard-wallet": `Splice.Util.Token.Wallet.MergeDelegation: MergeDelegation
			MergeDelegationProposal BatchMergeUtility`,
		"splice-amulet-name-service": `Splice.Ans: AnsRules AnsEntry AnsEntryContext
			Splice.Ans.AmuletConversionRateFeed: AmuletConversionRateFeed`,
		"splice-util-batched-markers": `Splice.Util.FeaturedApp.BatchedMarkersProxy: BatchedMarkersProxy`,
		"splice-util-featured-app-proxies": `Splice.Util.FeaturedApp.DelegateProxy: DelegateProxy
			Splice.Util.FeaturedApp.WalletUserProxy: WalletUserProxy`,
		"splice-wallet-payments": `Splice.Wallet.Payment: AppPaymentRequest AcceptedAppPayment TerminatedAppPayment
			Splice.Wallet.Subscriptions: SubscriptionRequest SubscriptionIdleState SubscriptionInitialPayment
			SubscriptionPayment Subscription TerminatedSubscription`,
		"splice-dso-governance": `Splice.DsoBootstrap: DsoBootstrap
			Splice.DsoRules: DsoRules VoteRequest Confirmation ElectionRequest UnallocatedUnclaimedActivityRecord
			Splice.DSO.AmuletPrice: AmuletPriceVote
			Splice.DSO.SvState: SvNodeState SvRewardState SvStatusReport
			Splice.SvOnboarding: SvOnboardingRequest SvOnboardingConfirmed`,
		"splice-validator-lifecycle": `Splice.ValidatorOnboarding: ValidatorOnboarding UsedSecret`,
	}
	c := Default()
	for pkg, list := range templates {
		module := ""
		for _, word := range strings.Fields(list) {
			if m, ok := strings.CutSuffix(word, ":"); ok {
				module = m
				continue
			}
			id := module + ":" + word
			typ := c.Template(pkg, "0a1b:"+id)
			if typ == nil || typ.Kind != KindRecord || len(typ.Fields) == 0 {
				t.Errorf("no type for %s:%s", pkg, id)
			}
			if c.Template(Neutral(pkg), Neutral(id)) != typ || c.Template(pkg, "#"+pkg+":"+id) != typ || c.Template("", id) != typ {
				t.Errorf("%s:%s is not found by its other names", pkg, id)
			}
		}
	}
}

// The choices that clients of the network look for in its history: coin operations, what the
// wallet's log and automation are made of, external parties, governance of membership.
func TestCatalogHasTheChoicesOfTheNetwork(t *testing.T) {
	choices := map[string]string{
		"splice-amulet:Splice.Amulet:Amulet":       "Amulet_Expire Amulet_ExpireV2",
		"splice-amulet:Splice.Amulet:LockedAmulet": "LockedAmulet_Unlock LockedAmulet_UnlockV2 LockedAmulet_OwnerExpireLock LockedAmulet_OwnerExpireLockV2 LockedAmulet_ExpireAmulet LockedAmulet_ExpireAmuletV2",
		"splice-amulet:Splice.AmuletRules:AmuletRules": `AmuletRules_Transfer AmuletRules_DevNet_Tap AmuletRules_Mint AmuletRules_BuyMemberTraffic
			AmuletRules_MergeMemberTrafficContracts AmuletRules_CreateTransferPreapproval AmuletRules_CreateExternalPartySetupProposal
			AmuletRules_AdvanceOpenMiningRounds AmuletRules_MiningRound_StartIssuing AmuletRules_MiningRound_Close
			AmuletRules_MiningRound_Archive AmuletRules_ClaimExpiredRewards AmuletRules_ConvertFeaturedAppActivityMarkers
			AmuletRules_Amulet_ExpireTransferInstructions AmuletRules_SetConfig`,
		"splice-amulet:Splice.AmuletRules:TransferPreapproval":                                         "TransferPreapproval_Send TransferPreapproval_SendV2 TransferPreapproval_Renew TransferPreapproval_Cancel TransferPreapproval_Expire",
		"splice-amulet:Splice.AmuletRules:ExternalPartySetupProposal":                                  "ExternalPartySetupProposal_Accept",
		"splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules":                       "ExternalPartyAmuletRules_CreateTransferCommand",
		"splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommand":                                "TransferCommand_Send TransferCommand_Withdraw TransferCommand_Expire",
		"splice-amulet:Splice.Amulet.RewardAccountingV2:ProcessRewardsV2":                              "ProcessRewardsV2_ProcessBatch",
		"splice-amulet:Splice.ValidatorLicense:ValidatorLicense":                                       "ValidatorLicense_RecordValidatorLivenessActivity ValidatorLicense_ReceiveFaucetCoupon",
		"splice-amulet-name-service:Splice.Ans:AnsRules":                                               "AnsRules_CollectInitialEntryPayment AnsRules_CollectEntryRenewalPayment",
		"splice-wallet-payments:Splice.Wallet.Payment:AppPaymentRequest":                               "AppPaymentRequest_Accept AppPaymentRequest_Reject AppPaymentRequest_Expire",
		"splice-wallet-payments:Splice.Wallet.Payment:AcceptedAppPayment":                              "AcceptedAppPayment_Collect AcceptedAppPayment_Reject AcceptedAppPayment_Expire",
		"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionRequest":                       "SubscriptionRequest_AcceptAndMakePayment",
		"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionInitialPayment":                "SubscriptionInitialPayment_Collect SubscriptionInitialPayment_Reject SubscriptionInitialPayment_Expire",
		"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionPayment":                       "SubscriptionPayment_Collect SubscriptionPayment_Reject SubscriptionPayment_Expire",
		"splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionIdleState":                     "SubscriptionIdleState_MakePayment SubscriptionIdleState_ExpireSubscription",
		"splice-wallet:Splice.Wallet.Install:WalletAppInstall":                                         "WalletAppInstall_ExecuteBatch WalletAppInstall_CreateTransferOffer WalletAppInstall_CreateBuyTrafficRequest",
		"splice-wallet:Splice.Wallet.TransferOffer:TransferOffer":                                      "TransferOffer_Accept TransferOffer_Reject TransferOffer_Withdraw TransferOffer_Expire",
		"splice-wallet:Splice.Wallet.TransferOffer:AcceptedTransferOffer":                              "AcceptedTransferOffer_Complete AcceptedTransferOffer_Abort AcceptedTransferOffer_Withdraw AcceptedTransferOffer_Expire",
		"splice-wallet:Splice.Wallet.BuyTrafficRequest:BuyTrafficRequest":                              "BuyTrafficRequest_Complete BuyTrafficRequest_Cancel BuyTrafficRequest_Expire",
		"splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal":                  "TransferPreapprovalProposal_Accept",
		"splice-wallet:Splice.Wallet.MintingDelegation:MintingDelegation":                              "MintingDelegation_Mint MintingDelegation_AssignAndMint",
		"splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:BatchMergeUtility": "BatchMergeUtility_BatchMerge BatchMergeUtility_MergeHoldings",
		"splice-dso-governance:Splice.DsoBootstrap:DsoBootstrap":                                       "DsoBootstrap_Bootstrap",
		"splice-dso-governance:Splice.DsoRules:DsoRules": `DsoRules_AddConfirmedSv DsoRules_AddSv DsoRules_OffboardSv DsoRules_RequestVote
			DsoRules_CastVote DsoRules_CloseVoteRequest DsoRules_ConfirmAction DsoRules_ExecuteConfirmedAction DsoRules_OnboardValidator
			DsoRules_ProcessRewardsV2_ProcessBatch DsoRules_UnhideRewardCouponsV2 DsoRules_ClaimExpiredRewardsV2
			DsoRules_ExpireAmuletAllocationsV2 DsoRules_ArchiveDryRunRewardAccountingV2`,
		"splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory":       "TransferFactory_Transfer",
		"splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferInstruction":   "TransferInstruction_Accept TransferInstruction_Reject TransferInstruction_Withdraw TransferInstruction_Update",
		"splice-api-token-allocation-instruction-v1:Splice.Api.Token.AllocationInstructionV1:AllocationFactory": "AllocationFactory_Allocate",
		"splice-api-token-allocation-v1:Splice.Api.Token.AllocationV1:Allocation":                               "Allocation_ExecuteTransfer",
		"splice-api-token-allocation-v2:Splice.Api.Token.AllocationV2:SettlementFactory":                        "SettlementFactory_SettleBatch",
	}
	c := Default()
	for id, names := range choices {
		pkg, entity, _ := strings.Cut(id, ":")
		for _, name := range strings.Fields(names) {
			argument, result := c.ChoiceArgument(pkg, entity, "", name), c.ChoiceResult(pkg, entity, "", name)
			if argument == nil || result == nil {
				t.Errorf("%s of %s: argument %v, result %v", name, id, argument, result)
			}
			if c.ChoiceArgument(Neutral(pkg), Neutral(entity), "", Neutral(name)) != argument {
				t.Errorf("%s of %s is not found by its neutral name", name, id)
			}
		}
	}
}

func TestChoices(t *testing.T) {
	const rules, factory = "0a:Splice.AmuletRules:AmuletRules", "0b:Splice.Api.Token.TransferInstructionV1:TransferFactory"
	c := Default()
	tests := []struct {
		name, pkg, template, iface, choice string
		argument, result                   string // first fields, "-" for no type
	}{
		{"of a template", "splice-amulet", rules, "", "AmuletRules_Transfer", "transfer", "round"},
		{"neutral", "app-coin", "0a:App.CoinRules:CoinRules", "", "CoinRules_Transfer", "transfer", "round"},
		{"of an interface", "splice-amulet", "0a:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules", factory, "TransferFactory_Transfer", "expectedAdmin", "output"},
		{"of an interface, by an unknown template", "acme", "0c:Acme:Token", factory, "TransferFactory_Transfer", "expectedAdmin", "output"},
		{"archival", "acme", "0c:Acme:Token", "", "Archive", "", ""},
		{"not of this template", "splice-amulet", rules, "", "TransferFactory_Transfer", "-", "-"},
		{"unknown choice", "splice-amulet", rules, "", "AmuletRules_New", "-", "-"},
		{"unknown interface", "splice-amulet", rules, "0a:Acme:Iface", "AmuletRules_Transfer", "-", "-"},
		{"unknown package", "acme", rules, "", "AmuletRules_Transfer", "-", "-"},
		{"result of a nested template", "splice-amulet", "Splice.Round:OpenMiningRound", "", "OpenMiningRound_Fetch", "p", "dso"},
		{"of an interface without a result", "splice-amulet", rules, "0a:Splice.Api.Token.TransferEventsV2:EventLog", "EventLog_HoldingsChange", "admin", ""},
		{"the same choice of another version of its interface", "splice-amulet", rules, "0a:Splice.Api.Token.TransferInstructionV2:TransferFactory", "TransferFactory_Transfer", "transfer", "output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			argument := c.ChoiceArgument(tt.pkg, tt.template, tt.iface, tt.choice)
			result := c.ChoiceResult(tt.pkg, tt.template, tt.iface, tt.choice)
			if firstField(argument) != tt.argument || firstField(result) != tt.result {
				t.Errorf("%s: argument %q, result %q, want %q, %q", tt.choice, firstField(argument), firstField(result), tt.argument, tt.result)
			}
		})
	}
}

// A vote and a confirmation carry the argument of the choice that is made once they are accepted.
func TestEachActionOfTheGovernanceIsAChoice(t *testing.T) {
	const rules, coin, names = "Splice.DsoRules:DsoRules", "Splice.AmuletRules:AmuletRules", "Splice.Ans:AnsEntryContext"
	c := Default()
	action := c.Template("splice-dso-governance", "Splice.DsoRules:VoteRequest").fieldAt(2, []byte("action")).Type
	for _, of := range []struct{ constructor, field, prefix, pkg, template, choices string }{
		{"ARC_DsoRules", "dsoAction", "SRARC_", "splice-dso-governance", rules, "DsoRules_"},
		{"ARC_AmuletRules", "amuletRulesAction", "CRARC_", "splice-amulet", coin, "AmuletRules_"},
		{"ARC_AnsEntryContext", "ansEntryContextAction", "ANSRARC_", "splice-amulet-name-service", names, "AnsEntryContext_"},
	} {
		actions := action.constructor([]byte(of.constructor)).Type.constructor([]byte(of.field)).Type
		if len(actions.Fields) < 2 {
			t.Errorf("%s has the actions %v", of.constructor, actions.Fields)
		}
		for _, a := range actions.Fields {
			name, ok := strings.CutPrefix(a.Label, of.prefix)
			if argument := c.ChoiceArgument(of.pkg, of.template, "", of.choices+name); !ok || argument == nil || argument != a.Type {
				t.Errorf("%s carries %v, the choice %s takes %v", a.Label, a.Type, of.choices+name, argument)
			}
		}
	}
}

func firstField(t *Type) string {
	switch {
	case t == nil:
		return "-"
	case len(t.Fields) == 0:
		return ""
	}
	return t.Fields[0].Label
}

const acme = `
package: acme-trade
imports: [splice-amulet]
records:
  Money: {amount: Numeric, currency: Text}
  Tree: {children: List<Tree>, label: optional optional Text}
variants:
  Leg: {Cash: Money, Coin: ContractId<Amulet>, Nothing: Unit}
enums:
  Side: [Buy, Sell]
templates:
  Acme.Trade:Order:
    fields: {owner: Party, side: Side, leg: Leg, round: Round, tree: Tree, pair: "Tuple<Int64, Date>", tags: Set<Text>}
    choices:
      Order_Fill: {argument: {at: Timestamp}, result: ContractId<Order>}
`

// The example of the documentation is one that works.
func TestDocumentedFile(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats/values.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/formats/values.md has no example")
	}
	c, err := Load(fstest.MapFS{"acme-trade.yaml": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	typ := c.Template("acme-trade", "0a:Acme.Trade:Order")
	const compact = `{"legs":[{"tag":"Cash","value":{"amount":"1.0000000000","currency":"X"}}],"note":null,"owner":"a","side":"Buy"}`
	protobuf, err := AppendProtobuf(nil, []byte(compact), typ)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := AppendCompact(nil, protobuf, typ); err != nil || string(got) != compact {
		t.Errorf("%s comes back as %s, %v", compact, got, err)
	}
}

func TestLoadAddsFiles(t *testing.T) {
	c, err := Load(fstest.MapFS{"acme.yaml": {Data: []byte(acme)}})
	if err != nil {
		t.Fatal(err)
	}
	const compact = `{"leg":{"tag":"Cash","value":{"amount":"1.0000000000","currency":"X"}},"owner":"a",` +
		`"pair":{"_1":"1","_2":"2026-01-01"},"round":{"number":"7"},"side":"Buy","tags":{"map":[["t",{}]]},` +
		`"tree":{"children":[{"children":[],"label":null}],"label":["x"]}}`
	typ := c.Template("acme-trade", "Acme.Trade:Order")
	protobuf, err := AppendProtobuf(nil, []byte(compact), typ)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := AppendCompact(nil, protobuf, typ); err != nil || string(got) != compact {
		t.Errorf("%s comes back as %s, %v", compact, got, err)
	}
	if c.Template("splice-amulet", "Splice.Amulet:Amulet") == nil {
		t.Error("the built-in templates are gone")
	}
	if Default().Template("acme-trade", "Acme.Trade:Order") != nil {
		t.Error("Load changed the default catalogue")
	}
}

func TestLoadReplaces(t *testing.T) {
	c, err := Load(fstest.MapFS{"mine.yaml": {Data: []byte(`
package: splice-amulet
templates:
  Splice.Amulet:UnclaimedReward: {fields: {dso: Party, amount: Numeric, note: optional Text}}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range []string{"splice-amulet", "app-coin", ""} {
		if typ := c.Template(pkg, "Splice.Amulet:UnclaimedReward"); typ == nil || len(typ.Fields) != 3 {
			t.Errorf("package %q has the old type %v", pkg, typ)
		}
	}
	if c.Template("splice-amulet", "Splice.Amulet:Amulet") == nil {
		t.Error("the other templates are gone")
	}
}

func TestLoadSameEntityInTwoPackages(t *testing.T) {
	c, err := Load(fstest.MapFS{
		"a.yaml": {Data: []byte("package: a\ntemplates: {\"M:T\": {fields: {x: Text}}}")},
		"b.yaml": {Data: []byte("package: b\ntemplates: {\"M:T\": {fields: {y: Text}}}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if firstField(c.Template("a", "M:T")) != "x" || firstField(c.Template("b", "M:T")) != "y" || c.Template("", "M:T") != nil {
		t.Errorf("templates a %v, b %v, any %v", c.Template("a", "M:T"), c.Template("b", "M:T"), c.Template("", "M:T"))
	}
}

var badFiles = []struct{ name, text, want string }{
	{"no YAML", "{", "bad.yaml"},
	{"no package", "records: {}", "no package name"},
	{"unknown key", "package: p\nrecord: {}", "record"},
	{"unknown type", "package: p\nrecords: {R: {a: Nope}}", `no type "Nope"`},
	{"unknown generic", "package: p\nrecords: {R: {a: Bag<Text>}}", "no type Bag"},
	{"wrong number of arguments", "package: p\nrecords: {R: {a: \"List<Text, Text>\"}}", "no type List with 2"},
	{"no such package", "package: p\nrecords: {R: {a: q/X}}", "no type X in package q"},
	{"open bracket", "package: p\nrecords: {R: {a: List<Text}}", "expected , or >"},
	{"open contract id", "package: p\nrecords: {R: {a: ContractId<Text}}", "no >"},
	{"at the end", "package: p\nrecords: {R: {a: Text Text}}", "at the end"},
	{"empty type", "package: p\nrecords: {R: {a: \"\"}}", `no type ""`},
	{"list of fields", "package: p\nrecords: {R: [a]}", "not a mapping"},
	{"list for a type", "package: p\nrecords: {R: {a: [Text]}}", "neither a type"},
	{"field twice", "package: p\nrecords:\n  R:\n    a: Text\n    a: Text", "twice"},
	{"type twice", "package: p\nrecords: {T: {}}\nvariants: {T: {}}", "twice"},
	{"template without fields", "package: p\ntemplates: {\"M:T\": {}}", "template M:T: there are no fields: write fields: {}"},
	{"empty file", "", "begin with package:"},
	{"two documents", "package: p\n---\npackage: q", "second YAML document"},
	{"field without a name", "package: p\nrecords: {R: {\"\": Text}}", "without a name"},
	{"field without a type", "package: p\nrecords: {R: {a: }}", "no type"},
	{"a type of the contract language", "package: p\nrecords:\n  R:\n    a: Decimal", `record R: a: line 4: type Decimal: no type "Decimal" in package p and its imports: write Numeric`},
	{"optional of the contract language", "package: p\nrecords: {R: {a: Optional}}", "write optional T"},
	{"a type of another package", "package: p\nrecords: {R: {a: Amulet}}", "add its package to imports"},
	{"an anchor", "package: p\nrecords: {R: &r {a: Text}, S: {b: *r}}", "neither a type"},
	{"nested too deep", "package: p\nrecords: {R: {a: \"" + strings.Repeat("List<", 200) + "\"}}", "nested deeper"},
	{"interface twice", "package: p\ntemplates: {\"M:T\": {fields: {}}}\ninterfaces: {\"M:T\": {}}", "M:T is declared twice"},
	{"unknown key of a choice", "package: p\ninterfaces: {\"M:I\": {choices: {C: {arguments: {}}}}}", "unknown key arguments; the keys here are argument and result"},
	{"ambiguous template", "package: p\nrecords: {R: {a: T}}\ntemplates: {\"M:T\": {fields: {}}, \"N:T\": {fields: {}}}", "more than one template T"},
	{"template without a module", "package: p\ntemplates: {T: {fields: {}}}", "Module:Entity"},
	{"bad choice argument", "package: p\ninterfaces: {\"M:I\": {choices: {C: {argument: Nope}}}}", "argument of C"},
	{"bad choice result", "package: p\ntemplates: {\"M:T\": {fields: {}, choices: {C: {result: Nope}}}}", "result of C"},
}

func TestLoadErrors(t *testing.T) {
	for _, tt := range badFiles {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(fstest.MapFS{"bad.yaml": {Data: []byte(tt.text)}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load(%q) = %v, want an error with %q", tt.text, err, tt.want)
			}
		})
	}
}

// Everything that is wrong is said at once, by file and line.
func TestLoadSaysAllThatIsWrong(t *testing.T) {
	_, err := Load(fstest.MapFS{
		"a.yaml": {Data: []byte("package: a\nrecords:\n  R: {x: Decimal}\n  S:\n    y: Time\n    z: Int")},
		"b.yaml": {Data: []byte("package: b\nenums: {E: [A]}\nvariants: {V: {W: Bool, X: Boolean}}")},
	})
	const want = `reading a template catalogue: a.yaml: record R: x: line 3: type Decimal: no type "Decimal" in package a and its imports: write Numeric; a.yaml: record S: y: line 5: type Time: no type "Time" in package a and its imports: write Timestamp; a.yaml: record S: z: line 6: type Int: no type "Int" in package a and its imports: write Int64; b.yaml: variant V: X: line 3: type Boolean: no type "Boolean" in package b and its imports: write Bool`
	if err == nil || err.Error() != want {
		t.Errorf("Load gives\n%v\nwant\n%s", err, want)
	}
}

func TestLoadWantsFiles(t *testing.T) {
	if _, err := Load(fstest.MapFS{"acme.yml": {Data: []byte(acme)}}); err == nil || !strings.Contains(err.Error(), "no *.yaml file") {
		t.Errorf("Load of a folder without files: %v", err)
	}
	_, err := Load(fstest.MapFS{"a.yaml": {Data: []byte(acme)}, "b.yaml": {Data: []byte(acme)}})
	if err == nil || !strings.Contains(err.Error(), "b.yaml: Acme.Trade:Order of package acme-trade is also in a.yaml: remove one") {
		t.Errorf("Load of two files of the same: %v", err)
	}
}

// Two modules of a package may have templates of the same name.
func TestLoadSameEntityInTwoModules(t *testing.T) {
	c, err := Load(fstest.MapFS{"p.yaml": {Data: []byte(`
package: p
templates:
  M:T: {fields: {x: Text}, choices: {Swap: {argument: {other: "N:T"}, result: ContractId<T>}}}
  N:T: {fields: {y: Int64}}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	if firstField(c.Template("p", "M:T")) != "x" || firstField(c.Template("p", "N:T")) != "y" {
		t.Errorf("templates M:T %v, N:T %v", c.Template("p", "M:T"), c.Template("p", "N:T"))
	}
	if other := c.ChoiceArgument("p", "M:T", "", "Swap").Fields[0].Type; other != c.Template("p", "N:T") {
		t.Errorf("N:T as a type is %v", other)
	}
	if got, want := c.Templates(), Default().Templates()+2; got != want {
		t.Errorf("%d templates, want %d", got, want)
	}
}

// Entries are what filters may name: all templates and interfaces, once each.
func TestEntriesOfTheCatalogue(t *testing.T) {
	c, err := Load(fstest.MapFS{"mine.yaml": {Data: []byte(`
package: splice-amulet
templates:
  Splice.Amulet:Amulet:
    fields: {}
    implements: [Mine.Api:Thing]
  Mine:New:
    fields: {}
interfaces:
  Mine.Api:Thing: {}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Entry{}
	last := ""
	for _, e := range c.Entries() {
		name := e.PackageName + " " + e.Entity
		if name <= last {
			t.Errorf("%s comes after %s", name, last)
		}
		last, byName[name] = name, e
	}
	for name, want := range map[string]string{
		"splice-amulet Splice.Amulet:Amulet":       "Mine.Api:Thing", // the later file counts
		"splice-amulet Splice.Amulet:LockedAmulet": "Splice.Api.Token.HoldingV1:Holding Splice.Api.Token.HoldingV2:Holding",
		"splice-amulet Mine:New":                   "",
	} {
		if e, ok := byName[name]; !ok || strings.Join(e.Implements, " ") != want || e.Interface {
			t.Errorf("%s: %+v, want it to implement %q", name, e, want)
		}
	}
	if e, ok := byName["splice-amulet Mine.Api:Thing"]; !ok || !e.Interface {
		t.Errorf("the interface is %+v, %t", e, ok)
	}
	// What the network's templates are said to implement must be in the catalogue.
	for _, e := range Default().Entries() {
		for _, i := range e.Implements {
			if known, _ := c.lookup("", i); known == nil {
				t.Errorf("%s implements %s, which is not in the catalogue", e.Entity, i)
			}
		}
	}
	_, err = Load(fstest.MapFS{"bad.yaml": {Data: []byte("package: p\ntemplates:\n  M:T: {fields: {}, implements: [Thing]}\n")}})
	if err == nil || !strings.Contains(err.Error(), `implements "Thing", which is not of the form Module:Entity`) {
		t.Errorf("an interface without module: %v", err)
	}
}
