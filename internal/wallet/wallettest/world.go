// Package wallettest gives tests a small network with a node, ingested into a real store, and
// the wallet of the node's validator. A test binary needs enginetest.Run as its TestMain.
package wallettest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	indexerwallet "github.com/ledgerlake/ledgerlake/indexer/wallet"
	ingestnode "github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/blobs"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// World is a network that goes on until the test ends.
type World struct {
	*testing.T
	Ledger *devnet.Ledger
	// Client is that of the node, Wallets and Public are what the store has.
	Client  *node.Client
	Wallets *wallethistory.Reader
	Public  *wallet.StorePublic
	// Node reads the node's stream.
	Node *nodehistory.Reader
	// History reads the public history, Present what is active in it.
	History *history.Reader
	Present *history.Present
	// Wallet acts for the operator and those whom it onboards.
	Wallet   *wallet.Wallet
	Operator wallet.Actor
	// NodeURL is where the node serves its ledger interface.
	NodeURL string

	db *store.DB
}

// New starts a network, with some adjustments, and ingests it.
func New(t *testing.T, adjust ...func(*devnet.Config)) *World {
	t.Helper()
	config := devnet.Config{Updates: 400, Seed: 16, Node: &devnet.NodeConfig{}}
	for _, change := range adjust {
		change(&config)
	}
	l, err := devnet.New(t.Context(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	api, err := l.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nodeServer, scanServer := httptest.NewServer(api), httptest.NewServer(l.Handler())
	t.Cleanup(nodeServer.Close)
	t.Cleanup(scanServer.Close)
	w := &World{T: t, Ledger: l, NodeURL: nodeServer.URL}
	w.Client, err = node.New(node.Config{BaseURL: nodeServer.URL, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	w.ingest(scanServer.URL)
	operator := strings.TrimPrefix(l.NodeDigests().ParticipantID, "participant-")
	w.Wallet = w.newWallet(operator, w.Client)
	w.Operator = w.Onboarded("operator", operator)
	return w
}

// maxWait is the longest that things may take, whatever else the machine has to do.
const maxWait = 2 * time.Minute

// publicPoll is how often public history is followed, walletPoll how often wallets are derived from
// the node's stream, for which each action waits. To look for more costs several ms of processor
// time, and a batch of history as much as some actions.
const (
	publicPoll = 200 * time.Millisecond
	walletPoll = 50 * time.Millisecond
)

var quiet = slog.New(slog.DiscardHandler)

// ingest has both streams follow the network until the test ends.
func (w *World) ingest(scanURL string) {
	w.Helper()
	db := storetest.Open(w.T, enginetest.StartMigrated(w.T, indexer.MigrateCluster))
	w.db = db
	public, err := scan.New(scan.Config{BaseURL: scanURL, Settings: stream.Settings{Sink: indexer.NewSinks(db, quiet), Log: quiet}, Poll: publicPoll})
	if err != nil {
		w.Fatal(err)
	}
	own, err := ingestnode.New(ingestnode.Config{BaseURL: w.NodeURL, Settings: stream.Settings{Sink: indexer.NewSinks(db, quiet), Log: quiet},
		Interfaces: func() []string { return views.Given(values.Default()) }, Computed: views.Computes})
	if err != nil {
		w.Fatal(err)
	}
	stream := schemas.NodeStream(w.Ledger.NodeDigests().ParticipantID)
	w.Wallets = wallethistory.NewReader(db, stream).Remembering(wallethistory.Fresh)
	w.Node = nodehistory.NewReader(db, stream)
	ctx, stop := context.WithCancel(context.Background())
	parts := []func(context.Context) error{
		public.Run, own.Run, indexer.NewLifetimes(db, schemas.ScanStream, publicPoll, quiet).Run,
		indexer.NewLifetimes(db, stream, walletPoll, quiet).Run, indexerwallet.New(db, stream, walletPoll, quiet).Run,
	}
	ended := make(chan error, len(parts))
	for _, part := range parts {
		go func() { ended <- part(ctx) }()
	}
	w.Cleanup(func() {
		stop()
		for range parts {
			if err := <-ended; err != nil && ctx.Err() == nil {
				w.Errorf("ingest ended: %v", err)
			}
		}
	})
	w.History = history.NewReader(db, schemas.ScanStream)
	w.Present = w.History.State().Present()
	w.AwaitPublic()
	finder, err := blobs.New(blobs.Config{ScanURL: scanURL, Log: quiet})
	if err != nil {
		w.Fatal(err)
	}
	w.Public, err = wallet.NewStorePublic(wallet.StorePublicConfig{
		Present: w.Present, Blobs: finder,
		Hosts: w.hosts,
	})
	if err != nil {
		w.Fatal(err)
	}
}

// hosts returns the node for its own parties: of others nobody is asked.
func (w *World) hosts(ctx context.Context, _, party string) ([]string, error) {
	known, ok, err := w.Client.Party(ctx, party)
	switch {
	case err != nil:
		return nil, err
	case !ok || !known.Local:
		return nil, schemas.ErrNotFound
	}
	return []string{wallet.ParticipantMember(w.Ledger.NodeDigests().ParticipantID)}, nil
}

func (w *World) newWallet(operator string, ledger wallet.Ledger, adjust ...func(*wallet.Config)) *wallet.Wallet {
	w.Helper()
	config := wallet.Config{
		Ledger: ledger, Reader: wallet.NewStoreReader(w.Wallets, w.Node, values.Default()), Public: w.Public, Log: quiet, Operator: operator, TransferCommands: true,
		Wait: maxWait, Timeout: 2 * maxWait,
	}
	for _, change := range adjust {
		change(&config)
	}
	made, err := wallet.New(config)
	if err != nil {
		w.Fatal(err)
	}
	return made
}

// AwaitPublic waits until public history is there up to the last update of the network, which
// must be a public one.
func (w *World) AwaitPublic() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), maxWait)
	defer cancel()
	for {
		committed := w.db.NextCommit(journal.ContractsStream(schemas.ScanStream))
		mark, err := w.History.ContractsWatermark(ctx)
		if err == nil && mark != schemas.Start && mark.RecordTime.Time().Equal(w.Ledger.Now()) {
			return
		}
		if ctx.Err() != nil {
			w.Fatalf("waited for public history in vain, last %v, %v", mark, err)
		}
		committed.Await(ctx, time.Second, time.Second)
	}
}

// Restarted is the wallet of a process that has just started, with some adjustments.
func (w *World) Restarted(adjust ...func(*wallet.Config)) *wallet.Wallet {
	return w.newWallet(w.Operator.Party, w.Client, adjust...)
}

// Advance moves the network's time, by the node's operation for it, and waits until what was due
// by then is there.
func (w *World) Advance(d time.Duration) {
	w.Helper()
	body := fmt.Sprintf(`{"duration":{"seconds":%d,"nanos":%d}}`, d/time.Second, d%time.Second)
	response, err := http.Post(w.NodeURL+"/devnet/advance-time", "application/json", strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		w.Fatalf("advancing the time by %s: %s", d, response.Status)
	}
	w.Tap(w.Operator, "1") // a public update at the new time
	w.AwaitPublic()
}

// Onboarded makes a wallet; party is "" for a new one.
func (w *World) Onboarded(user, party string) wallet.Actor {
	w.Helper()
	party, err := w.Wallet.Users.Onboard(w.Context(), wallet.OnboardRequest{User: user, Party: party})
	if err != nil {
		w.Fatalf("onboarding %s: %v", user, err)
	}
	return wallet.Actor{User: user, Party: party}
}

// Tap gives an actor coins worth some dollars.
func (w *World) Tap(actor wallet.Actor, dollars string) {
	w.Helper()
	if _, err := w.Wallet.Coins.Tap(w.Context(), actor, decimal.Must(dollars), ""); err != nil {
		w.Fatalf("tapping %s USD for %s: %v", dollars, actor.User, err)
	}
}

// Balance is what an actor has, locked or not.
func (w *World) Balance(actor wallet.Actor) (unlocked, locked decimal.Decimal) {
	w.Helper()
	b, err := w.Wallets.Balance(w.Context(), actor.Party, 0)
	if err != nil {
		w.Fatal(err)
	}
	return b.Unlocked, b.Locked
}

// Await waits until something is done. It looks after each commit of public history, and now and
// then: looking costs queries.
func (w *World) Await(what string, done func() bool) {
	w.Helper()
	for deadline := time.Now().Add(maxWait); ; {
		committed := w.db.NextCommit(journal.ContractsStream(schemas.ScanStream))
		if done() {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("waited for %s in vain", what)
		}
		committed.Await(w.Context(), walletPoll, walletPoll)
	}
}

// Soon is an expiry in the network's near future.
func (w *World) Soon() time.Time { return w.Ledger.Now().Add(time.Hour) }
