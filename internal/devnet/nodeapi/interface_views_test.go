package nodeapi

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// payloads makes up contracts of all templates that implement interfaces.
type payloads struct {
	*rand.Rand
	parties int
}

func (p payloads) party() model.Party { return model.Party(p.IntN(p.parties)) }

func (p payloads) amount() model.Decimal {
	return model.Decimal(p.Int64N(int64(model.One)*1000)) + 1
}

func (p payloads) contract() uint64 { return p.Uint64N(1 << 20) }
func (p payloads) time() int64      { return p.Int64N(4e15) }

// metadata has keys, sorted, with values: some of them what the second version of the standard says
// in other ways.
func (p payloads) metadata() (list []string) {
	for _, key := range []string{"a \"key\"", "cip-112/expiresAt", "cip-112/extra-executors", "cip-112/receiver.id", "cip-112/receiver.provider", "cip-112/sender.id",
		"cip-112/sender.provider", "splice.lfdecentralizedtrust.org/reason", "zü"} {
		if p.IntN(2) == 0 {
			list = append(list, key, []string{"bank::1220ab", "one::12,two::12", "<é>"}[p.IntN(3)])
		}
	}
	return list
}

func (p payloads) coin() model.Amulet {
	rate := p.amount()
	for range p.IntN(12) {
		rate /= 10
	}
	return model.Amulet{Owner: p.party(), Amount: p.amount(), Created: p.Int64N(1e6), Rate: rate}
}

func (p payloads) of(t *model.Template) model.Payload {
	switch t {
	case model.AmuletTemplate:
		return p.coin()
	case model.LockedAmuletTemplate:
		return model.LockedAmulet{Amulet: p.coin(), Holder: p.party(), Others: []model.Party{p.party()}[:p.IntN(2)], ExpiresAt: p.time(), Context: []string{"", "why"}[p.IntN(2)]}
	case model.TransferInstructionTemplate:
		return model.TransferInstruction{Locked: p.contract(), Transfer: model.TokenTransfer{Sender: p.party(), Receiver: p.party(), Amount: p.amount(),
			RequestedAt: p.time(), ExecuteBefore: p.time(), Inputs: []uint64{p.contract(), p.contract()}[:p.IntN(3)], Meta: p.metadata()}}
	case model.AllocationTemplate:
		return model.AmuletAllocation{Locked: p.contract(), Leg: model.Leg{Executor: p.party(), Reference: "a \"deal\"", Referenced: p.Uint64N(2), RequestedAt: p.time(),
			AllocateBefore: p.time(), SettleBefore: p.time(), SettlementMeta: p.metadata(), Id: "leg", Sender: p.party(), Receiver: p.party(), Amount: p.amount(), Meta: p.metadata()}}
	case model.AllocationV2Template:
		side := model.LegSide{Id: "leg", Sends: p.IntN(2) == 0, Other: []model.Party{model.BurnAccount, p.party()}[p.IntN(2)], Amount: p.amount(), Meta: p.metadata()}
		return model.AllocationV2{Locked: p.Uint64N(2), Settlement: model.Settlement{Executors: []model.Party{p.party(), p.party()}[:1+p.IntN(2)], Reference: "a \"deal\"",
			Referenced: p.Uint64N(2), Meta: p.metadata()}, Owner: p.party(), Iterations: p.Int64N(9), Sides: []model.LegSide{side, side}[:p.IntN(3)], Deadline: []int64{0, p.time()}[p.IntN(2)], Iterated: p.IntN(2) == 0,
			Next: model.Decimal(p.IntN(2)) * p.amount(), Committed: p.IntN(2) == 0, Meta: p.metadata(), ExpiresAt: p.time(), CreatedAt: p.time()}
	case model.FeaturedAppRightTemplate:
		return model.FeaturedAppRight{Provider: p.party(), Weight: p.amount()}
	case model.ActivityMarkerTemplate:
		return model.ActivityMarker{Provider: p.party(), Beneficiary: p.party(), Weight: p.amount()}
	case model.RewardCouponTemplate:
		return model.CouponV2{Provider: p.party(), Round: p.Int64N(1e6), Amount: p.amount(), ExpiresAt: p.time(), Beneficiary: []model.Party{model.NoParty, p.party()}[p.IntN(2)]}
	case model.AmuletRulesTemplate:
		return model.AmuletRules{Synchronizer: "global::12", Tick: 10 * time.Minute}
	case model.ConfigStateTemplate:
		return model.ConfigState{Round: p.Int64N(1e6), Price: p.amount()}
	case model.ExternalRulesTemplate:
		return model.ExternalRules{}
	}
	return nil
}

// TestViewsAreThoseOfTheProduct compares views of made-up contracts with those that the product
// computes: each was written without the other.
func TestViewsAreThoseOfTheProduct(t *testing.T) {
	const contracts = 200 // of each template
	names := model.NewNames(5, 1000, 1)
	p := payloads{rand.New(rand.NewPCG(5, 5)), len(names.Parties)}
	var arena model.Arena
	for kind, interfaces := range implements {
		var entities []string
		for _, i := range interfaces {
			entities = append(entities, model.InterfaceNames[i][1])
		}
		name := kind.Pkg.Name + ":" + kind.Name
		if kind.Pkg == model.ExchangePackage { // an app's: the product takes its views from the node
			if views.Of(name, entities[0]) != nil {
				t.Errorf("the product has a rule for views of %s", name)
			}
			continue
		}
		at := slices.IndexFunc(values.Default().Entries(), func(e values.Entry) bool { return e.PackageName+":"+e.Entity == name })
		known := slices.Sorted(slices.Values(values.Default().Entries()[at].Implements))
		if slices.Sort(entities); !slices.Equal(entities, known) {
			t.Errorf("%s implements %v, and by the catalogue %v", name, entities, known)
		}
		for n := range contracts {
			arena.Reset()
			value := p.of(kind).Arguments(&arena, uint8(n%model.Versions))
			text := model.CompactJSON.AppendValue(nil, names, &value)
			var argument fields
			if err := json.Unmarshal(text, &argument); err != nil {
				t.Fatal(err)
			}
			for _, i := range interfaces {
				ours, err := json.Marshal(viewBy(i, argument))
				if err != nil {
					t.Fatal(err)
				}
				theirs, err := views.Of(name, model.InterfaceNames[i][1])(nil, canonical(t, text))
				if want := canonical(t, ours); err != nil || string(theirs) != string(want) {
					t.Fatalf("%s of %s %s:\nthe product says %v, %s\nthe node says %s", model.InterfaceNames[i][1], name, text, err, theirs, want)
				}
			}
		}
	}
}

func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	out, err := jsonscan.AppendCanonical(nil, text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}
