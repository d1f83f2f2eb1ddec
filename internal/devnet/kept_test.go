package devnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// goOn has another ledger go on from the journal of l as it is now, cut as cut says, as if
// the process of l had been killed.
func goOn(t testing.TB, l *ledger.Ledger, cut func(journal []byte) []byte) *ledger.Ledger {
	t.Helper()
	again, err := goOnWith(t, l, l.Config, cut)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func goOnWith(t testing.TB, l *ledger.Ledger, c sim.Config, cut func(journal []byte) []byte) (*ledger.Ledger, error) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(l.Config.Dir, ledger.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	if cut != nil {
		raw = cut(raw)
	}
	c.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(c.Dir, ledger.JournalName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := ledger.New(context.Background(), c, nil)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
	return again, nil
}

// files are all bytes that a ledger serves.
func files(t testing.TB, l *ledger.Ledger) (all [history.FileCount][]byte) {
	t.Helper()
	for i, f := range l.Store.Files {
		if f == nil {
			continue
		}
		var out bytes.Buffer
		out.Grow(int(l.Store.Ends[i]) + bytes.MinRead)
		a := history.Answer{}
		a.Extent(history.Extent{File: f, Start: 0, Size: l.Store.Ends[i]})
		if err := a.SendTo(&out); err != nil {
			t.Fatal(err)
		}
		all[i] = out.Bytes()
	}
	return all
}

// sameHistory compares what two ledgers serve, and what they will do next.
func sameHistory(t testing.TB, l, again *ledger.Ledger) {
	t.Helper()
	was, is := files(t, l), files(t, again)
	for i := range was {
		if !bytes.Equal(was[i], is[i]) {
			t.Errorf("%s has other bytes: %d and %d", history.FileNames[i], len(was[i]), len(is[i]))
		}
	}
	for _, pair := range [][2]any{{l.Digests(), again.Digests()}, {l.NodeDigests(), again.NodeDigests()}} {
		if a, b := fmt.Sprintf("%+v", pair[0]), fmt.Sprintf("%+v", pair[1]); a != b {
			t.Errorf("digests are\n%s, gone on\n%s", a, b)
		}
	}
	if a, b := chance(l), chance(again); a != b {
		t.Errorf("the next updates follow from %s, gone on from %s", a, b)
	}
}

// chance is what the next updates of a ledger follow from, besides its contracts.
func chance(l *ledger.Ledger) string {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	x := l.Executor
	return fmt.Sprint(x.Random, x.Private.Random, x.Tx.PrivateNumbers, x.Tx.ContractNumber, x.Tx.Entries, x.Tx.Updates, x.Clock.RecordTime,
		x.Clock.EffectiveAt, x.Clock.Gap, x.Clock.NextTick, len(x.Clock.Tasks), len(x.Clock.Alarms), x.Config.DelegatesSend, l.Finals, l.Commander.Prepared)
}

// TestGoesOn stops a ledger in several ways and at many points, and compares it with one
// that was never stopped.
func TestGoesOn(t *testing.T) {
	c := sim.Config{Updates: 900, Seed: 7, Node: &sim.NodeConfig{}, Keep: true}
	c.Dir = t.TempDir()
	whole, err := ledger.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	c.Dir = t.TempDir()
	for round, n := range []int{2, 70, 3, 300, 1} {
		if err := whole.Advance(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if err := whole.AdvanceTime(t.Context(), time.Duration(round)*20*time.Minute); err != nil {
			t.Fatal(err)
		}
		parts, err := ledger.New(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := parts.Advance(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if err := parts.AdvanceTime(t.Context(), time.Duration(round)*20*time.Minute); err != nil {
			t.Fatal(err)
		}
		sameHistory(t, whole, parts)
		if err := parts.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoesOnAfterAnyCut cuts the journal at every kind of place. What is left is a beginning
// of the same history, that goes on.
func TestGoesOnAfterAnyCut(t *testing.T) {
	d := newDesk(t, sim.Config{Updates: 120, Seed: 9})
	alice := d.party("alice", nil)
	for i := range 4 {
		d.tap(alice, 10)
		if err := d.l.Advance(t.Context(), 5+i); err != nil {
			t.Fatal(err)
		}
		d.advance(25 * time.Minute)
	}
	raw, err := os.ReadFile(filepath.Join(d.l.Config.Dir, ledger.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	complete := files(t, d.l)
	for at := 1; at < len(raw); at += len(raw)/12 + 1 {
		again := goOn(t, d.l, func(journal []byte) []byte { return journal[:at] })
		for i, part := range files(t, again) {
			if !bytes.HasPrefix(complete[i], part) {
				t.Fatalf("cut at byte %d of %d, %s is no beginning of what it was", at, len(raw), history.FileNames[i])
			}
		}
		if err := again.Advance(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		sameHistory(t, again, goOn(t, again, nil))
	}
	_, err = goOnWith(t, d.l, d.l.Config, func(journal []byte) []byte {
		return bytes.Replace(journal, []byte("\n{\"entries\""), []byte("\nx\"entries\""), 1)
	})
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a journal with a damaged line inside is taken: %v", err)
	}
}

// TestKeptIsRefused has what cannot go on.
func TestKeptIsRefused(t *testing.T) {
	c := sim.Config{Updates: 200, Seed: 5, Dir: t.TempDir(), Keep: true, Node: &sim.NodeConfig{}}
	l, err := ledger.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := ledger.ReadNetwork(c.Dir); err != nil || n == nil || *n != l.Network() || n.Updates != 200 || n.Seed != 5 {
		t.Errorf("the folder says %+v, %v; the ledger %+v", n, err, l.Network())
	}
	if _, err := ledger.New(t.Context(), c, nil); !errors.Is(err, ledger.ErrInUse) {
		t.Errorf("a second ledger in the folder: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*sim.Config){
		"other updates": func(c *sim.Config) { c.Updates++ },
		"another seed":  func(c *sim.Config) { c.Seed++ },
		"other days":    func(c *sim.Config) { c.Days = 9 },
		"another node":  func(c *sim.Config) { c.Node = &sim.NodeConfig{Participant: "Super-Validator-1"} },
		"rewards":       func(c *sim.Config) { c.TrafficRewards = true },
		"fewer domains": func(c *sim.Config) { c.Synchronizers = 1 },
		"fund rules":    func(c *sim.Config) { c.Fund.MintingDelay = time.Hour },
		"a text":        func(c *sim.Config) { c.HugeUpdateBytes = 10 },
	} {
		other := c
		change(&other)
		if l, err := ledger.New(t.Context(), other, nil); !errors.Is(err, ledger.ErrOtherNetwork) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				l.Close()
			}
		}
	}
	for name, edit := range map[string]func(string) string{
		"another version":     func(s string) string { return strings.Replace(s, `"simulation":5`, `"simulation":9`, 1) },
		"other first updates": func(s string) string { return strings.Replace(s, `"genesis":"`, `"genesis":"00`, 1) },
	} {
		_, err := goOnWith(t, l, c, func(journal []byte) []byte { return []byte(edit(string(journal))) })
		if !errors.Is(err, ledger.ErrOtherVersion) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c.DelegatesSend, c.Start = true, time.Now() // these are no reason
	again, err := ledger.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !again.DelegatesSend() {
		t.Error("delegates do not send")
	}
	c = again.Config
	c.DelegatesSend = false
	third, err := goOnWith(t, again, c, nil)
	if err != nil || !third.DelegatesSend() {
		t.Errorf("delegates do not send any more: %v", err)
	}
}

// TestSimulationVersion pins the history of a seed with commands. If it fails because the
// simulation was changed on purpose, raise the constant simulation and put in what is new:
// networks that were kept cannot go on then, and say so.
func TestSimulationVersion(t *testing.T) {
	l, err := ledger.New(t.Context(), sim.Config{Updates: 500, Seed: 3, Node: &sim.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(l.AdvanceTime(t.Context(), 3*time.Hour), l.Advance(t.Context(), 100)); err != nil {
		t.Fatal(err)
	}
	digest, err := ledger.GenesisOf(l)
	if err != nil {
		t.Fatal(err)
	}
	const version, want = 5, "ed6c57a784e1e8d2d42e6cd0c56e1eb4"
	if ledger.Simulation != version || digest != want {
		t.Errorf("version %d of the simulation gives %s, pinned is %s of version %d", ledger.Simulation, digest, want, version)
	}
}

// TestKeptNode has clients of a node change everything that it knows, and asks the one that
// goes on for it.
func TestKeptNode(t *testing.T) {
	l, c := startNode(t, sim.Config{Updates: 600, Seed: 11, SkipCompact: true, Keep: true}, nodeapi.NodeOptions{})
	f := flow{c, l, l.Names.Name(model.Dso), l.Names.Name(l.Names.ValidatorOf(l.View.Parties[0]))}
	ada, bob := f.onboardExternal("ada", 21), f.addParty("bob")
	var ignored json.RawMessage
	for _, user := range []string{"bob", "gone"} {
		f.call("POST", "/v2/users", fmt.Sprintf(`{"user":{"id":%q,"primaryParty":%q,"metadata":{"annotations":{"k":"v"}}},"rights":[{"kind":{"CanActAs":{"value":{"party":%q}}}}]}`, user, bob, bob), &ignored)
	}
	f.call("POST", "/v2/users/bob/rights", fmt.Sprintf(`{"rights":[{"kind":{"CanReadAs":{"value":{"party":%q}}}}]}`, ada), &ignored)
	f.call("PATCH", "/v2/users/bob", `{"user":{"id":"bob","metadata":{"annotations":{"more":"1"}}},"updateMask":{"paths":["metadata.annotations"]}}`, &ignored)
	f.call("DELETE", "/v2/users/gone", "", &ignored)
	f.call("PATCH", "/v2/parties/"+bob, fmt.Sprintf(`{"partyDetails":{"party":%q,"localMetadata":{"annotations":{"a":"b"}}},"updateMask":{"paths":["localMetadata.annotations"]}}`, bob), &ignored)
	f.call("POST", "/v2/commands/submit-and-wait", f.install("bob", bob, "install-bob"), &ignored)
	events := f.signAndExecute(21, ada, "propose", fmt.Sprintf(`{"CreateCommand":{"templateId":"#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal","createArguments":{"receiver":%q,"provider":%q,"expectedDso":%q}}}`, ada, f.operator, f.dso))
	archive := exerciseText("#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal",
		createdOf(t, events, "TransferPreapprovalProposal").ContractID, "Archive", `{}`)
	var prepared nodeapi.WirePrepared
	f.call("POST", "/v2/interactive-submission/prepare", fmt.Sprintf(`{"commandId":"archive","actAs":[%q],"commands":[%s]}`, ada, archive), &prepared)

	again := goOn(t, l, nil)
	sameHistory(t, l, again)
	g := flow{serveNode(t, again, nodeapi.NodeOptions{}), again, f.dso, f.operator}
	for _, ask := range []string{"/v2/users", "/v2/users/bob/rights", "/v2/users/gone", "/v2/parties/" + bob, "/v2/parties"} {
		wasStatus, _, was := f.do("GET", ask, "")
		isStatus, _, is := g.do("GET", ask, "")
		if wasStatus != isStatus || !bytes.Equal(was, is) {
			t.Errorf("%s was %d %s, gone on %d %s", ask, wasStatus, was, isStatus, is)
		}
	}
	for user, party := range map[string]string{nodeapi.AdminUser: bob} {
		was, is := f.completionsSince(user, party, 0), g.completionsSince(user, party, 0)
		if a, b := fmt.Sprintf("%+v", was), fmt.Sprintf("%+v", is); a != b || len(was) == 0 {
			t.Errorf("the completions of %s were %s, gone on %s", user, a, b)
		}
	}
	g.refuses(refusal{"a command that was executed", "POST", "/v2/commands/submit-and-wait", f.install("bob", bob, "install-bob"), 409, "DUPLICATE_COMMAND"})
	// What was prepared is executed, and what is prepared next has other ids.
	var done waited
	g.call("POST", "/v2/interactive-submission/executeAndWait", executeBody(prepared.Transaction, ada, signatureBy(testKey(21), prepared.Hash)), &done)
	g.signAndExecute(21, ada, "propose-again", fmt.Sprintf(`{"CreateCommand":{"templateId":"#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal","createArguments":{"receiver":%q,"provider":%q,"expectedDso":%q}}}`, ada, f.operator, f.dso))
	sameHistory(t, again, goOn(t, again, nil))
}

// TestKeptWithoutNode goes on without the node's view, and then with it again: what the
// node's clients did holds all the same.
func TestKeptWithoutNode(t *testing.T) {
	d := newDesk(t, sim.Config{Updates: 500, Seed: 13})
	alice := d.party("alice", nil)
	d.tap(alice, 10)
	if err := d.l.Advance(t.Context(), 200); err != nil {
		t.Fatal(err)
	}
	c := d.l.Config
	c.Node = nil
	without, err := goOnWith(t, d.l, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*ledger.Ledger{d.l, without} {
		if err := l.Advance(t.Context(), 200); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := fmt.Sprintf("%+v", d.l.Digests()), fmt.Sprintf("%+v", without.Digests()); a != b {
		t.Errorf("with its node the network has\n%s, without\n%s", a, b)
	}
	c = d.l.Config
	with, err := goOnWith(t, without, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameHistory(t, d.l, with)
}

// TestClosedWhileLive closes a kept ledger while time goes on, as a stop by signal does.
func TestClosedWhileLive(t *testing.T) {
	c := sim.Config{Updates: 200, Seed: 5, Dir: t.TempDir(), Keep: true, Node: &sim.NodeConfig{}}
	for range 4 {
		l, err := ledger.New(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		before := l.Digests().Counts.Updates
		go func() { done <- l.RunLive(ctx, 500) }()
		for l.Digests().Counts.Updates < before+100 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		// The end of what is on disk may follow this moment, but never contradict it.
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil && !errors.Is(err, ledger.ErrClosed) {
			t.Fatal(err)
		}
	}
}

// TestRunReachesTheClock has the simulated users, whose time goes faster than ours, come up
// with the wall clock. History never gets ahead of it: that would be a fault of an upstream.
func TestRunReachesTheClock(t *testing.T) {
	l, err := ledger.New(t.Context(), sim.Config{Updates: 300, Seed: 5, Start: time.Now().Add(-10 * 24 * time.Hour)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	end := l.Now()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx, 300) }()
	for time.Since(l.Now()) > time.Minute {
		time.Sleep(5 * time.Millisecond)
	}
	for before := l.Digests().Counts.Updates; l.Digests().Counts.Updates < before+200; {
		time.Sleep(5 * time.Millisecond)
	}
	if now := l.Now(); now.After(time.Now().Add(time.Second)) || !now.After(end) {
		t.Errorf("history ended at %s, and ends at %s now, in the future", end, now)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
