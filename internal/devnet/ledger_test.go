package devnet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// fileHashes are the SHA-256 of all data files, by name.
func fileHashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.Sum256(content)
		hashes[f.Name()] = hex.EncodeToString(h[:])
	}
	return hashes
}

// TestSameSeedSameBytes runs once with several renderers and once with one.
func TestSameSeedSameBytes(t *testing.T) {
	a, _ := startLedger(t, sim.Config{Updates: 2000, Seed: 1})
	before := runtime.GOMAXPROCS(1)
	b, _ := startLedger(t, sim.Config{Updates: 2000, Seed: 1})
	runtime.GOMAXPROCS(before)
	other, _ := startLedger(t, sim.Config{Updates: 2000, Seed: 2})

	hashes := fileHashes(t, a.Config.Dir)
	if got := fileHashes(t, b.Config.Dir); !reflect.DeepEqual(got, hashes) {
		t.Errorf("same seed, different files: %v and %v", hashes, got)
	}
	if !reflect.DeepEqual(a.Digests(), b.Digests()) {
		t.Errorf("same seed, different digests: %+v and %+v", a.Digests(), b.Digests())
	}
	if len(hashes) != 4 {
		t.Errorf("data files are %v, want 4", hashes)
	}
	for name, hash := range fileHashes(t, other.Config.Dir) {
		if hashes[name] == hash {
			t.Errorf("another seed gives the same %s", name)
		}
	}
	for name, d := range other.Digests().Tables {
		if a.Digests().Tables[name].Hash == d.Hash {
			t.Errorf("another seed gives the same digest of %s", name)
		}
	}
}

// TestAdvanceContinues compares a ledger that was advanced in steps with one that
// was advanced at once.
func TestAdvanceContinues(t *testing.T) {
	a, _ := startLedger(t, sim.Config{Updates: 500, Seed: 3})
	b, client := startLedger(t, sim.Config{Updates: 500, Seed: 3})
	if err := a.Advance(t.Context(), 400); err != nil {
		t.Fatal(err)
	}
	if err := b.Advance(t.Context(), 399); err != nil {
		t.Fatal(err)
	}
	if got := client.allUpdates("/v2/updates", "compact_json", 1000); len(got) != 899 {
		t.Errorf("%d updates visible, want 899", len(got))
	}
	if a.Digests().Counts.Updates != 900 || b.Digests().Counts.Updates != 899 {
		t.Errorf("counts are %+v and %+v", a.Digests().Counts, b.Digests().Counts)
	}
	if c := countedCoins(a).String(); c != a.Supply().Circulating {
		t.Errorf("%s coins counted, supply is %+v", c, a.Supply())
	}
}

// TestServesWhileAdvancing polls a live ledger: what was seen once never changes
// and nothing is skipped.
func TestServesWhileAdvancing(t *testing.T) {
	l, c := startLedger(t, sim.Config{Updates: 300, Seed: 4})
	done := make(chan error, 1)
	go func() {
		var err error
		for range 20 {
			err = errors.Join(err, l.Advance(t.Context(), 30))
		}
		done <- err
	}()
	var seen []eventItem
	for live := true; live; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			live = false
		default:
			seen = c.allEvents("protobuf_json", 200)
		}
	}
	all := c.allEvents("protobuf_json", 1000)
	for i := range seen {
		if string(seen[i].Update) != string(all[i].Update) || string(seen[i].Verdict) != string(all[i].Verdict) {
			t.Fatalf("event %d changed", i)
		}
	}
	r := newReplay(t)
	updates := c.allUpdates("/v2/updates", "protobuf_json", 1000)
	for _, it := range updates {
		r.add(it)
	}
	if len(updates) != 300+20*30 {
		t.Errorf("%d updates, want %d", len(updates), 300+20*30)
	}
	var sum rowSum
	for _, e := range r.active {
		sum.add(e.row())
	}
	sum.compare(t, "active_contracts", l.Digests())
}

func TestRunAdvancesUntilStopped(t *testing.T) {
	l, _ := startLedger(t, sim.Config{Updates: 50, Seed: 10, SkipCompact: true})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx, 200) }()
	for l.Digests().Counts.Updates < 60 {
		select {
		case err := <-done:
			t.Fatalf("stopped by itself: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	n := l.Digests().Counts.Updates
	if err := l.Advance(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if got := l.Digests().Counts.Updates; got != n+5 {
		t.Errorf("%d updates after %d and 5 more", got, n)
	}
	if err := l.Run(t.Context(), 0); err == nil {
		t.Error("a rate of 0 was accepted")
	}
}

func TestHugeUpdate(t *testing.T) {
	const size = 3 << 20
	l, c := startLedger(t, sim.Config{Updates: 40, Seed: 8, HugeUpdateBytes: size})
	huge := 0
	for _, it := range c.allUpdates("/v2/updates", "compact_json", 7) {
		if len(it.raw) > size {
			huge++
			status, alone := c.do("GET", "/v2/updates/"+it.UpdateID, "")
			if status != 200 || string(alone) != string(it.raw) {
				t.Errorf("update %s by id: status %d, %d bytes, want %d", it.UpdateID, status, len(alone), len(it.raw))
			}
		}
	}
	if huge != 1 {
		t.Errorf("%d updates with more than %d bytes, want 1", huge, size)
	}
	if n := l.Digests().Counts.Updates; n != 40 {
		t.Errorf("%d updates, want 40", n)
	}
}

// TestSmallLedgers covers the sizes at which the network is hardly founded.
func TestSmallLedgers(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 13, 50} {
		l, c := startLedger(t, sim.Config{Updates: n, Seed: 9, Synchronizers: 1, Days: 1})
		if got := len(c.allUpdates("/v2/updates", "protobuf_json", 1000)); got != n {
			t.Errorf("%d updates served, want %d", got, n)
		}
		if err := l.Advance(t.Context(), 60); err != nil {
			t.Errorf("%d updates, then 60 more: %v", n, err)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []sim.Config{
		{}, {Updates: -1}, {Updates: 1, Days: 400}, {Updates: 1, Synchronizers: 3}, {Updates: 1, HugeUpdateBytes: -1},
		{Updates: sim.MaxUpdates + 1},
	} {
		if l, err := ledger.New(t.Context(), c, nil); err == nil {
			t.Errorf("%+v was accepted", c)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNewStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	calls := 0
	_, err := ledger.New(ctx, sim.Config{Updates: 1 << 20, Seed: 1, SkipCompact: true, Dir: t.TempDir()}, func(done, total int) {
		calls++
		if done > total || total != 1<<20 {
			t.Errorf("progress is %d of %d", done, total)
		}
		cancel(reason)
	})
	if !errors.Is(err, reason) || calls == 0 {
		t.Errorf("after %d calls of progress: %v", calls, err)
	}
}

// TestCloseRemovesOnlyOwnFiles: a temporary folder goes, a given one stays.
func TestCloseRemovesOnlyOwnFiles(t *testing.T) {
	l, err := ledger.New(t.Context(), sim.Config{Updates: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := l.Config.Dir
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary folder %s is still there: %v", dir, err)
	}
	given := t.TempDir()
	if l, err = ledger.New(t.Context(), sim.Config{Updates: 10, Dir: given}, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if len(fileHashes(t, given)) != 4 {
		t.Errorf("given folder was emptied")
	}
}

// TestHistoryIsVaried guards the point of the simulation: that everything a reader
// must cope with occurs.
func TestHistoryIsVaried(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 6000, Seed: 47, SkipCompact: true})
	choices, templates := map[string]int{}, map[string]int{}
	var bytes, nodes, updates, synchronizers, interfaces, roots int
	for _, it := range c.allUpdates("/v2/updates", "protobuf_json", 1000) {
		updates++
		bytes += len(it.raw)
		nodes += max(1, len(it.EventsByID))
		roots = max(roots, len(it.RootEventIDs))
		if strings.HasPrefix(it.SynchronizerID, "harbor-domain") {
			synchronizers++
		}
		for _, raw := range it.EventsByID {
			e := decodeEvent(t, raw)
			_, name, _ := strings.Cut(e.TemplateID, ":")
			if templates[name]++; e.Choice != "" {
				choices[e.Choice]++
			}
			if strings.Contains(string(raw), `"interface_id":`) {
				interfaces++
			}
		}
	}
	if mean := bytes / updates; mean < 6000 || mean > 14000 {
		t.Errorf("an update has %d bytes on average", mean)
	}
	if mean := float64(nodes) / float64(updates); mean < 7 || mean > 9 {
		t.Errorf("an update has %.1f events on average", mean)
	}
	for _, tpl := range allTemplateNames() {
		if templates[tpl] == 0 {
			t.Errorf("template %s does not occur", tpl)
		}
	}
	for _, choice := range []string{
		"AmuletRules_Transfer", "AmuletRules_DevNet_Tap", "AmuletRules_Mint", "LockedAmulet_Unlock", "LockedAmulet_OwnerExpireLock",
		"AmuletRules_BuyMemberTraffic", "AmuletRules_MergeMemberTrafficContracts", "AmuletRules_AdvanceOpenMiningRounds",
		"AmuletRules_MiningRound_StartIssuing", "AmuletRules_MiningRound_Close", "AmuletRules_MiningRound_Archive",
		"AmuletRules_ClaimExpiredRewards", "AppRewardCoupon_DsoExpire", "AmuletRules_CreateTransferPreapproval",
		"TransferPreapproval_Send", "TransferPreapproval_Renew", "TransferPreapproval_Cancel", "TransferPreapproval_Expire",
		"TransferFactory_Transfer", "TransferInstruction_Accept", "TransferInstruction_Reject", "TransferInstruction_Withdraw",
		"AnsRules_RequestEntry", "AnsRules_CollectInitialEntryPayment", "AnsRules_CollectEntryRenewalPayment", "AnsEntry_Expire",
		"ValidatorLicense_RecordValidatorLivenessActivity", "FeaturedAppRight_CreateActivityMarker",
		"AmuletRules_ConvertFeaturedAppActivityMarkers", "FeaturedAppRight_Withdraw", "Amulet_Expire", "Amulet_ExpireV2", "Archive",
		"AmuletRules_Amulet_ExpireTransferInstructions", "TransferInstruction_Update", "LockedAmulet_OwnerExpireLockV2",
		"SubscriptionInitialPayment_Collect", "SubscriptionPayment_Collect",
		"ExternalPartyAmuletRules_CreateTransferCommand", "TransferCommand_Send", "TransferCommand_Withdraw", "TransferCommand_Expire",
		"AmuletRules_AllocateDevelopmentFundCoupon", "DevelopmentFundCoupon_Withdraw", "DevelopmentFundCoupon_Reject",
		"DevelopmentFundCoupon_DsoExpire", "AmuletRules_MergeUnclaimedDevelopmentFundCoupons", "UnclaimedActivityRecord_DsoExpire",
		"DsoRules_AllocateUnallocatedUnclaimedActivityRecord", "AmuletRules_SetConfig", "FeaturedAppRight_Cancel",
		"AmuletRules_UpdateExternalPartyConfigStates", "DsoRules_SetSynchronizerNodeConfig",
		"Shipment_Advance", "Shipment_Inspect", "Tracked_Ping", "DsoRules_ReceiveSvRewardCoupon", "DsoRules_OnboardValidator",
		"DsoRules_UpdateAmuletPriceVote", "DsoRules_RequestVote", "DsoRules_CastVote", "DsoRules_CloseVoteRequest", "DsoRules_UpdateSvRewardWeight",
	} {
		if choices[choice] == 0 {
			t.Errorf("choice %s does not occur", choice)
		}
	}
	if synchronizers == 0 || interfaces == 0 || roots < 2 {
		t.Errorf("%d transactions on the second synchronizer, %d exercises by interface, at most %d roots",
			synchronizers, interfaces, roots)
	}
}

// allTemplateNames are those of the contracts that all histories have: others take a command, or
// rewards by traffic.
func allTemplateNames() []string {
	others := []*model.Template{model.SetupProposalTemplate, model.AllocationTemplate, model.AllocationV2Template, model.RewardCouponTemplate, model.CalculateRewardsTemplate, model.ProcessRewardsTemplate}
	var all []string
	for _, t := range model.Templates {
		if !t.Private && !slices.Contains(others, t) {
			all = append(all, t.Name)
		}
	}
	return all
}

// countedCoins sums up the coins that are active now, for comparison with Supply.
func countedCoins(l *ledger.Ledger) model.Decimal {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	var sum model.Decimal
	for _, c := range l.Executor.Tx.Active {
		if c.Template == model.AmuletTemplate || c.Template == model.LockedAmuletTemplate {
			sum += model.CoinOf(c).Amount
		}
	}
	return sum
}
