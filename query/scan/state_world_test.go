package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Templates that the state operations read, in the network's spelling.
const (
	openRoundTemplate     = "splice-amulet:Splice.Round:OpenMiningRound"
	issuingRoundTemplate  = "splice-amulet:Splice.Round:IssuingMiningRound"
	closedRoundTemplate   = "splice-amulet:Splice.Round:ClosedMiningRound"
	coinRulesTemplate     = "splice-amulet:Splice.AmuletRules:AmuletRules"
	externalRulesTemplate = "splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
	preapprovalTemplate   = "splice-amulet:Splice.AmuletRules:TransferPreapproval"
	commandTemplate       = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommand"
	counterTemplate       = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommandCounter"
	featuredAppTemplate   = "splice-amulet:Splice.Amulet:FeaturedAppRight"
	fundCouponTemplate    = "splice-amulet:Splice.Amulet:UnclaimedDevelopmentFundCoupon"
	memberTrafficTemplate = "splice-amulet:Splice.DecentralizedSynchronizer:MemberTraffic"
	licenseTemplate       = "splice-amulet:Splice.ValidatorLicense:ValidatorLicense"
	ansRulesTemplate      = "splice-amulet-name-service:Splice.Ans:AnsRules"
	ansEntryTemplate      = "splice-amulet-name-service:Splice.Ans:AnsEntry"
	dsoRulesTemplate      = "splice-dso-governance:Splice.DsoRules:DsoRules"
	voteRequestTemplate   = "splice-dso-governance:Splice.DsoRules:VoteRequest"
	priceVoteTemplate     = "splice-dso-governance:Splice.DSO.AmuletPrice:AmuletPriceVote"
	nodeStateTemplate     = "splice-dso-governance:Splice.DSO.SvState:SvNodeState"
)

// rewardRounds is where the accounting of rewards is.
const rewardRounds = "/v0/internal/reward-accounting-process/rounds/"

// now is the record time of the state world's end, in migration 1.
var stateEnd = at("2026-07-02T04:40:00Z")

const day = schemas.Micros(24 * 3600 * 1e6)

// put adds an active contract of a template to the state, created some time before the end.
func (m *memory) put(template, id, payload string, before schemas.Micros, change ...func(*lifetime)) {
	pkg, name, _ := strings.Cut(template, ":")
	l := lifetime{
		ActiveContract: history.ActiveContract{Encoding: schemas.CompactJSON, Event: schemas.Event{
			Kind: schemas.Created, ContractID: id, TemplateID: "6a3b:" + name, PackageName: pkg, Argument: []byte(payload),
			CreatedAt: stateEnd - before, Signatories: []string{dso}, Observers: []string{},
		}},
		migration: 1, from: stateEnd - before, to: store.NeverArchived,
	}
	for _, c := range change {
		c(&l)
	}
	m.contracts = append(m.contracts, l)
	slices.SortFunc(m.contracts, func(a, b lifetime) int {
		return cmp.Or(cmp.Compare(a.Event.CreatedAt, b.Event.CreatedAt), strings.Compare(a.Event.ContractID, b.Event.ContractID))
	})
}

func observedBy(party string) func(*lifetime) {
	return func(l *lifetime) { l.Event.Observers = []string{party} }
}

func signedBy(party string) func(*lifetime) {
	return func(l *lifetime) { l.Event.Signatories = []string{dso, party} }
}

func endedAt(t schemas.Micros) func(*lifetime) { return func(l *lifetime) { l.to = t } }

func openRound(number int, opens string) string {
	return fmt.Sprintf(`{"dso":"%s","opensAt":"%s","round":{"number":"%d"},"tickDuration":{"microseconds":"600000000"}}`, dso, opens, number)
}

// stateWorld is world with contracts of all templates that the state operations read.
func stateWorld() *memory {
	m := world()
	m.put(coinRulesTemplate, "00rules", `{"dso":"`+dso+`"}`, 5*day)
	m.put(coinRulesTemplate, "00old", `{"dso":"`+dso+`"}`, 6*day, endedAt(stateEnd-5*day))
	m.put(ansRulesTemplate, "00ans", `{"dso":"`+dso+`"}`, 5*day)
	m.put(dsoRulesTemplate, "00dso", `{"dso":"`+dso+`","svs":[["sv2::1220","x"],["sv1::1220",{"name":"Digital-One"}]]}`, 5*day)
	m.put(nodeStateTemplate, "00node", `{}`, 5*day)
	m.put(openRoundTemplate, "00open7", openRound(7, "2026-07-02T04:20:00Z"), 3000*1e6)
	m.put(openRoundTemplate, "00open8", openRound(8, "2026-07-02T04:30:00Z"), 2000*1e6)
	m.put(openRoundTemplate, "00open9", openRound(9, "2026-07-02T04:50:00Z"), 1000*1e6)
	m.put(issuingRoundTemplate, "00issue5", `{"round":{"number":"5"}}`, 900*1e6)
	m.put(closedRoundTemplate, "00closed10", `{"round":{"number":"10"}}`, 800*1e6)
	m.put(closedRoundTemplate, "00closed9", `{"round":{"number":"9"}}`, 700*1e6)
	m.put(featuredAppTemplate, "00app1", `{"provider":"`+alice+`"}`, 600*1e6, observedBy(alice))
	m.put(featuredAppTemplate, "00app2", `{"provider":"`+bob+`"}`, 500*1e6, observedBy(bob))
	m.put(featuredAppTemplate, "00app3", `{"provider":"`+alice+`"}`, 400*1e6, observedBy(alice))
	entry := func(user, name, expires string) string {
		return fmt.Sprintf(`{"user":"%s","dso":"%s","name":"%s","url":"http://x/?a=b&c<d","description":"","expiresAt":"%s"}`, user, dso, name, expires)
	}
	m.put(ansEntryTemplate, "00name1", entry(alice, "zoe.unverified.cns", "2026-08-01T00:00:00Z"), 90*1e6, signedBy(alice))
	m.put(ansEntryTemplate, "00name2", entry(alice, "alice.unverified.cns", "2026-08-01T00:00:00Z"), 80*1e6, signedBy(alice))
	m.put(ansEntryTemplate, "00name3", entry(bob, "bob.unverified.cns", "2026-07-02T04:40:00Z"), 70*1e6, signedBy(bob))
	m.put(preapprovalTemplate, "00pre1", `{"receiver":"`+alice+`","expiresAt":"2026-08-01T00:00:00Z"}`, 60*1e6, signedBy(alice))
	m.put(preapprovalTemplate, "00pre2", `{"receiver":"`+bob+`","expiresAt":"2026-07-02T04:40:00Z"}`, 50*1e6, signedBy(bob))
	m.put(counterTemplate, "00count", `{"sender":"`+alice+`","nextNonce":"3"}`, 40*1e6, observedBy(alice))
	m.put(memberTrafficTemplate, "00mt1", `{"memberId":"PAR::p::1220ee","synchronizerId":"`+sync1+`","totalPurchased":"100"}`, 30*1e6)
	m.put(memberTrafficTemplate, "00mt2", `{"memberId":"PAR::p::1220ee","synchronizerId":"`+sync1+`","totalPurchased":"23"}`, 29*1e6)
	m.put(memberTrafficTemplate, "00mt3", `{"memberId":"PAR::p::1220ee","synchronizerId":"other::1220","totalPurchased":"7"}`, 28*1e6)
	m.put(memberTrafficTemplate, "00mt4", `{"memberId":"PAR::rich::1220ee","synchronizerId":"`+sync1+`","totalPurchased":"9000"}`, 28*1e6)
	for i := range 5 {
		validator := fmt.Sprintf("validator-%d::1220", i)
		m.put(licenseTemplate, fmt.Sprintf("00lic%d", i), fmt.Sprintf(
			`{"validator":"%s","faucetState":{"firstReceivedFor":{"number":"2"},"lastReceivedFor":{"number":"%d"},"numCouponsMissed":"1"}}`, validator, 10+i),
			schemas.Micros(20-i/2)*1e6, observedBy(validator)) // two each of one time
	}
	m.put(licenseTemplate, "00lic9", `{"validator":"idle::1220","faucetState":null}`, 19*day, observedBy("idle::1220"))
	m.put(fundCouponTemplate, "00fund", `{"amount":"1.0000000000"}`, 10*1e6)
	m.setMark(schemas.Position{MigrationID: 1, RecordTime: stateEnd, UpdateID: "1220010009"})
	return m
}
