package indexer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestMiningRounds reads the rounds of public history.
func TestMiningRounds(t *testing.T) {
	f := newFixture(t)
	present := f.reader.State().Present()
	if rounds, err := present.MiningRounds(t.Context()); err != nil || len(rounds.Open)+len(rounds.Issuing) > 0 {
		t.Fatalf("before there is any history: %+v, %v", rounds, err)
	}
	h := &stateHistory{}
	round := func(template, id string, number int, opensAt string) {
		h.create("splice-amulet:Splice.Round:"+template, id, fmt.Sprintf(
			`{"amuletPrice":"0.0050000000","opensAt":%q,"round":{"number":"%d"},"targetClosesAt":"2026-07-01T01:00:00Z"}`, opensAt, number), []string{stateDSO}, nil)
	}
	round("OpenMiningRound", "0012", 12, "2026-07-01T00:20:00Z")
	round("OpenMiningRound", "0010", 10, "2026-07-01T00:00:00Z")
	round("OpenMiningRound", "0011", 11, "2026-07-01T00:10:00Z")
	round("OpenMiningRound", "0009", 9, "2026-06-30T23:50:00Z")
	h.archive("splice-amulet:Splice.Round:OpenMiningRound", "0009")
	round("IssuingMiningRound", "0008", 8, "2026-07-01T00:05:00Z")
	round("SummarizingMiningRound", "0007", 7, "2026-07-01T00:05:00Z")
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.items, 10) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	rounds, err := present.MiningRounds(t.Context())
	if err != nil || len(rounds.Open) != 3 || len(rounds.Issuing) != 1 || rounds.At != h.items[len(h.items)-1].Update.RecordTime {
		t.Fatalf("%+v, %v", rounds, err)
	}
	at := func(text string) schemas.Micros {
		m, err := schemas.ParseTime(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if r := rounds.Open[2]; r.Contract.Event.ContractID != "0012" || r.Price.String() != "0.0050000000" || r.ClosesAt != at("2026-07-01T01:00:00Z") {
		t.Errorf("round %+v", r)
	}
}

// TestWaitingForAnOffset ends when wallets show it, and not before.
func TestWaitingForAnOffset(t *testing.T) {
	f := newFixture(t)
	list := nodeHistory("participant", true)
	stream := list[0].Stream
	reader := wallethistory.NewReader(f.db, stream)
	wallets, writer := wallet.New(f.db, stream, time.Millisecond, f.log), NewWriter(f.db, stream, f.log)
	for _, b := range list {
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := reader.WaitFor(short, 14); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before anything is derived: %v", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- reader.WaitFor(t.Context(), 25) }()
	if err := wallets.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if end, err := reader.End(t.Context()); err != nil || end != 25 {
		t.Errorf("wallets end at %d: %v", end, err)
	}
	if _, err := reader.Contract(t.Context(), "00ff", "nobody"); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("a contract that there is not: %v", err)
	}
}
