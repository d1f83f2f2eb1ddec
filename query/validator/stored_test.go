package validator

import (
	"context"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// fixtureStream is the node's stream that the fixture stands for.
const fixtureStream = "node:fixture::1220aa"

// stored writes the fixture into the tables of a store, as what is derived from a node's stream
// is written there, and returns the views of them.
func (m *memory) stored(t testing.TB) Views {
	t.Helper()
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	end := int64(len(m.contracts) + 1000)
	m.insert(t, db, end)
	batches := store.NewBatches()
	batches.Append(store.BatchRow{
		Stream: journal.WalletStream(fixtureStream), Sequence: 1, State: store.Commit, After: schemas.Start,
		Through: schemas.Position{RecordTime: schemas.MicrosOf(present), UpdateID: "1220end", Offset: end}, Hash: "fixture", Writer: "fixture",
	})
	if err := db.Insert(t.Context(), "batches", "fixture", batches); err != nil {
		t.Fatal(err)
	}
	return &recorded{Views: wallethistory.NewReader(db, fixtureStream).Remembering(wallethistory.Fresh), fixture: m}
}

// insert writes contracts, logs and statuses. Logs end at an offset.
func (m *memory) insert(t testing.TB, db *store.DB, end int64) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	contracts, entries, statuses := store.NewWalletContracts(), store.NewWalletLog(), store.NewStreamRecords[store.WalletStatus]()
	for i := range m.contracts {
		row := m.contracts[i]
		row.Offset = int64(i + 1)
		for _, row.Party = range row.Event.Signatories {
			contracts.Append(fixtureStream, &row)
		}
	}
	for party, log := range m.log {
		for i := range log {
			e := log[i]
			e.Party, e.Offset = party, end-int64(i)
			entries.Append(fixtureStream, &e)
		}
	}
	for key, s := range m.statuses {
		part := strings.SplitN(key, " ", 3)
		s.Kind, s.Party, s.Sender, s.TrackingID, s.Offset = part[0], part[1], part[1], part[2], 1
		statuses.Append(fixtureStream, s)
	}
	for table, block := range map[string]store.Block{"wallet_contracts": contracts, "wallet_log": entries, "wallet_status": statuses} {
		if err := db.Insert(t.Context(), table, "fixture/"+table, block); err != nil {
			t.Fatal(err)
		}
	}
}

// recorded is Views that note as whom they are read.
type recorded struct {
	Views
	fixture *memory
}

func (r *recorded) note(parties ...string) {
	r.fixture.mu.Lock()
	defer r.fixture.mu.Unlock()
	r.fixture.asked = append(r.fixture.asked, parties)
}

func (r *recorded) Contracts(ctx context.Context, q wallethistory.Query) ([]wallethistory.Contract, error) {
	r.note(q.Parties...)
	return r.Views.Contracts(ctx, q)
}

func (r *recorded) Contract(ctx context.Context, id string, parties ...string) (wallethistory.Contract, error) {
	r.note(parties...)
	return r.Views.Contract(ctx, id, parties...)
}

func (r *recorded) Holdings(ctx context.Context, party string) (wallethistory.Holdings, error) {
	r.note(party)
	return r.Views.Holdings(ctx, party)
}

func (r *recorded) Balance(ctx context.Context, party string, round int64) (wallethistory.Balance, error) {
	r.note(party)
	return r.Views.Balance(ctx, party, round)
}

func (r *recorded) Log(ctx context.Context, party, before string, limit int) ([]wallethistory.Entry, error) {
	r.note(party)
	return r.Views.Log(ctx, party, before, limit)
}

func (r *recorded) OfferStatus(ctx context.Context, party, id string) (wallethistory.Status, error) {
	r.note(party)
	return r.Views.OfferStatus(ctx, party, id)
}

func (r *recorded) TrafficStatus(ctx context.Context, party, id string) (wallethistory.Status, error) {
	r.note(party)
	return r.Views.TrafficStatus(ctx, party, id)
}
