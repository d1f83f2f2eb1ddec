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

	"github.com/ledgerlake/ledgerlake/bench/lab"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
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
func measureWallet(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	if err := measureOffers(ctx, l, s); err != nil {
		return err
	}
	dir := l.Folder("wallet-lake")
	l.Say("ingesting the node's stream")
	if err := l.Run(ctx, "ingest", "--once", "--data", dir, "--node-url", n.NodeURL); err != nil {
		return err
	}
	if err := rebuildWallets(ctx, l, s, dir); err != nil {
		return err
	}
	e, err := lab.OpenEngine(ctx, filepath.Join(dir, "engine"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	stream, err := manyWallets(ctx, l, s, e)
	if err != nil {
		return err
	}
	m, err := lab.StartMeter(e.Engine.PID(), n.PID)
	if err != nil {
		return err
	}
	return readWallets(ctx, s, wallethistory.NewReader(e.DB, stream).Remembering(wallethistory.Fresh), m)
}

// rebuildWallets measures the derivation by itself.
func rebuildWallets(ctx context.Context, l *lab.Lab, s lab.Section, dir string) error {
	l.Say("deriving wallets again")
	cmd := l.Command(ctx, "rebuild", "wallets", "--data", dir)
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running ledgerlake rebuild wallets: %w", err)
	}
	s.Add("updates that wallets are derived from", float64(l.Updates)/time.Since(begin).Seconds(), "1/s")
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.Add("processor time for 1,000 updates, with the engine", cpu.Seconds()*1e6/float64(l.Updates), "ms")
	return nil
}

// manyWallets fills the store and returns the stream.
func manyWallets(ctx context.Context, l *lab.Lab, s lab.Section, e *lab.EngineStore) (stream string, err error) {
	before, err := e.Tables(ctx)
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
	s.Add("bytes of wallets / of all tables of the node's stream", own/all, "")
	for at := 0; at < l.LiveContracts; at += walletsPerInsert {
		l.Say("coins from %d on", at)
		query := fmt.Sprintf(multiplyWalletContracts, at, min(at+walletsPerInsert, l.LiveContracts), walletCoins, walletsEndedEvery)
		if err := e.Conn.Exec(ctx, query); err != nil {
			return "", fmt.Errorf("making coins: %w", err)
		}
	}
	l.Say("transaction logs of %d parties", walletLogParties)
	if err := e.Conn.Exec(ctx, fmt.Sprintf(multiplyWalletLog, 0, walletLogParties, walletEntries)); err != nil {
		return "", fmt.Errorf("making entries of transaction logs: %w", err)
	}
	if err := e.Settle(ctx, l.Quiet); err != nil {
		return "", err
	}
	after, err := e.Tables(ctx)
	if err != nil {
		return "", err
	}
	s.Add("rows of contracts of wallets", float64(after["wallet_contracts"].Rows), "")
	s.Add("entries of transaction logs", float64(after["wallet_log"].Rows), "")
	if err := e.Conn.QueryRow(ctx, "SELECT any(stream) FROM wallet_contracts").Scan(&stream); err != nil {
		return "", fmt.Errorf("reading the stream of wallets: %w", err)
	}
	return stream, nil
}

// holder is a party that the queries made.
func holder(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return fmt.Sprintf("holder-%d::1220%s", n, hex.EncodeToString(sum[:]))
}

// readWallets asks for each party once, one after another.
func readWallets(ctx context.Context, s lab.Section, w *wallethistory.Reader, m *lab.Meter) error {
	if err := readHoldings(ctx, s, w, m); err != nil {
		return err
	}
	return readLogs(ctx, s, w, m)
}

// perRequest is the processor time of the engine and of this process since another reading, in
// ms for each of those who were asked for.
func perRequest(m *lab.Meter, before lab.Cost) (float64, error) {
	now, err := m.Since()
	return now.Minus(before).Total() * 1000 / walletsAsked, err
}

func readHoldings(ctx context.Context, s lab.Section, w *wallethistory.Reader, m *lab.Meter) error {
	before, err := m.Since()
	if err != nil {
		return err
	}
	var balances, coins, both lab.Timings
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
		balances.Each, coins.Each = append(balances.Each, middle.Sub(begin)), append(coins.Each, end.Sub(middle))
		both.Each = append(both.Each, end.Sub(begin))
	}
	cpu, err := perRequest(m, before)
	if err != nil {
		return err
	}
	s.AddLatency(fmt.Sprintf("balance of a party with %d coins", walletCoins), balances, maxWalletBalance)
	s.AddLatency("its coins", coins, maxWalletBalance)
	s.Add("balance and coins one after the other, 99th percentile", both.Percentile(99), "ms")
	s.Add("processor time of both, with the engine", cpu, "ms")
	return nil
}

func readLogs(ctx context.Context, s lab.Section, w *wallethistory.Reader, m *lab.Meter) error {
	before, err := m.Since()
	if err != nil {
		return err
	}
	var logs lab.Timings
	for n := range walletsAsked {
		begin := time.Now()
		entries, err := w.Log(ctx, holder(n), "", walletLogPage)
		if err != nil {
			return err
		}
		if len(entries) != walletLogPage {
			return fmt.Errorf("%s has %d entries in its transaction log, not %d", holder(n), len(entries), walletLogPage)
		}
		logs.Each = append(logs.Each, time.Since(begin))
	}
	cpu, err := perRequest(m, before)
	if err != nil {
		return err
	}
	s.AddLatency(fmt.Sprintf("%d entries of a transaction log", walletLogPage), logs, maxWalletLog)
	s.Add("processor time of them, with the engine", cpu, "ms")
	return nil
}
