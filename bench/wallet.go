package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/multiply_wallet_contracts.sql
var multiplyWalletContracts string

//go:embed sql/multiply_wallet_log.sql
var multiplyWalletLog string

// The targets of reading wallets.
const (
	maxWalletBalance  = 15 // ms at the 99th percentile, and the coins as much
	maxWalletLog      = 30 // ms for 1,000 transactions, at the 99th percentile
	walletCoins       = 100
	walletEntries     = 2000
	walletLogParties  = 500
	walletsAsked      = 300
	walletsPerInsert  = 250_000
	walletsEndedEvery = 20 // one in so many coins has ended
	walletLogPage     = 1000
)

// measureWallet derives wallets from a node's stream, and reads balances, coins and
// transaction logs of parties out of a store with many of them.
func measureWallet(ctx context.Context, l *lab, s section) (err error) {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	if err := measureOffers(ctx, l, s); err != nil {
		return err
	}
	dir := l.folder("wallet-lake")
	l.say("ingesting the node's stream")
	if err := l.run(ctx, "ingest", "--once", "--data", dir, "--node-url", n.NodeURL); err != nil {
		return err
	}
	if err := rebuildWallets(ctx, l, s, dir); err != nil {
		return err
	}
	e, err := openEngine(ctx, filepath.Join(dir, "engine"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	stream, err := manyWallets(ctx, l, s, e)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, e.engine.DSN())
	if err != nil {
		return err
	}
	defer db.Close()
	m, err := startMeter(e.engine.PID(), n.PID)
	if err != nil {
		return err
	}
	return readWallets(ctx, s, wallethistory.NewReader(db, stream).Remembering(wallethistory.Fresh), m)
}

// rebuildWallets measures the derivation by itself.
func rebuildWallets(ctx context.Context, l *lab, s section, dir string) error {
	l.say("deriving wallets again")
	cmd := l.command(ctx, "rebuild", "wallets", "--data", dir)
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running ledgerlake rebuild wallets: %w", err)
	}
	s.add("updates that wallets are derived from", float64(l.updates)/time.Since(begin).Seconds(), "1/s")
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.add("processor time for 1,000 updates, with the engine", cpu.Seconds()*1e6/float64(l.updates), "ms")
	return nil
}

// manyWallets fills the store and returns the stream.
func manyWallets(ctx context.Context, l *lab, s section, e *engineStore) (stream string, err error) {
	before, err := e.tables(ctx)
	if err != nil {
		return "", err
	}
	var own, all float64
	for name, t := range before {
		all += float64(t.Bytes)
		if strings.HasPrefix(name, "wallet_") {
			own += float64(t.Bytes)
		}
	}
	s.add("bytes of wallets / of all tables of the node's stream", own/all, "")
	for at := 0; at < l.liveContracts; at += walletsPerInsert {
		l.say("coins from %d on", at)
		query := fmt.Sprintf(multiplyWalletContracts, at, min(at+walletsPerInsert, l.liveContracts), walletCoins, walletsEndedEvery)
		if err := e.conn.Exec(ctx, query); err != nil {
			return "", fmt.Errorf("making coins: %w", err)
		}
	}
	l.say("transaction logs of %d parties", walletLogParties)
	if err := e.conn.Exec(ctx, fmt.Sprintf(multiplyWalletLog, 0, walletLogParties, walletEntries)); err != nil {
		return "", fmt.Errorf("making entries of transaction logs: %w", err)
	}
	if err := e.settle(ctx, l.quiet); err != nil {
		return "", err
	}
	after, err := e.tables(ctx)
	if err != nil {
		return "", err
	}
	s.add("rows of contracts of wallets", float64(after["wallet_contracts"].Rows), "")
	s.add("entries of transaction logs", float64(after["wallet_log"].Rows), "")
	if err := e.conn.QueryRow(ctx, "SELECT any(stream) FROM wallet_contracts").Scan(&stream); err != nil {
		return "", fmt.Errorf("asking for the stream of wallets: %w", err)
	}
	return stream, nil
}

// holder is a party that the queries made.
func holder(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return fmt.Sprintf("holder-%d::1220%s", n, hex.EncodeToString(sum[:]))
}

// readWallets asks for each party once, one after another.
func readWallets(ctx context.Context, s section, w *wallethistory.Reader, m *meter) error {
	if err := readHoldings(ctx, s, w, m); err != nil {
		return err
	}
	return readLogs(ctx, s, w, m)
}

// perRequest is the processor time of the engine and of this process since another reading, in
// ms for each of those who were asked for.
func perRequest(m *meter, before cost) (float64, error) {
	now, err := m.since()
	return now.minus(before).total() * 1000 / walletsAsked, err
}

func readHoldings(ctx context.Context, s section, w *wallethistory.Reader, m *meter) error {
	before, err := m.since()
	if err != nil {
		return err
	}
	var balances, coins, both timings
	for n := range walletsAsked {
		party := holder(n)
		begin := time.Now()
		balance, err := w.Balance(ctx, party, 10_000)
		if err != nil {
			return err
		}
		middle := time.Now()
		holdings, err := w.Holdings(ctx, party)
		if err != nil {
			return err
		}
		end := time.Now()
		want := walletCoins - walletCoins/walletsEndedEvery
		if got := len(holdings.Coins) + len(holdings.Locked); got != want || balance.Coins+balance.LockedCoins != want {
			return fmt.Errorf("%s has %d coins, its balance is of %d; there are %d", party, got, balance.Coins+balance.LockedCoins, want)
		}
		balances.each, coins.each = append(balances.each, middle.Sub(begin)), append(coins.each, end.Sub(middle))
		both.each = append(both.each, end.Sub(begin))
	}
	cpu, err := perRequest(m, before)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("balance of a party with %d coins", walletCoins)
	s.add(what+", median", balances.percentile(50), "ms")
	s.atMost(maxWalletBalance, what+", 99th percentile", balances.percentile(99), "ms")
	s.add("its coins, median", coins.percentile(50), "ms")
	s.atMost(maxWalletBalance, "its coins, 99th percentile", coins.percentile(99), "ms")
	s.add("balance and coins one after the other, 99th percentile", both.percentile(99), "ms")
	s.add("processor time of both, with the engine", cpu, "ms")
	return nil
}

func readLogs(ctx context.Context, s section, w *wallethistory.Reader, m *meter) error {
	before, err := m.since()
	if err != nil {
		return err
	}
	var logs timings
	for n := range walletsAsked {
		begin := time.Now()
		entries, err := w.Log(ctx, holder(n), "", walletLogPage)
		if err != nil {
			return err
		}
		if len(entries) != walletLogPage {
			return fmt.Errorf("%s has %d entries in its transaction log, not %d", holder(n), len(entries), walletLogPage)
		}
		logs.each = append(logs.each, time.Since(begin))
	}
	cpu, err := perRequest(m, before)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d entries of a transaction log", walletLogPage)
	s.add(what+", median", logs.percentile(50), "ms")
	s.atMost(maxWalletLog, what+", 99th percentile", logs.percentile(99), "ms")
	s.add("processor time of them, with the engine", cpu, "ms")
	return nil
}
