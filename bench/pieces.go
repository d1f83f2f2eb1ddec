package main

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// allPieces are in the order in which they run: later ones reuse what earlier ones have made.
var allPieces = []lab.Piece{
	{Name: "backfill", Measure: measureBackfill},
	{Name: "verify", Product: true, Measure: measureVerify},
	{Name: "baseline", Measure: measureBaseline},
	{Name: "size", Measure: measureSize},
	{Name: "export", Needs: []lab.Comparator{lab.DuckDB}, Measure: measureExport},
	{Name: "faults", Product: true, Measure: measureFaults},
	{Name: "closing", Product: true, Measure: measureClosing},
	{Name: "download", Product: true, Needs: []lab.Comparator{lab.Nginx}, Measure: measureDownload},
	{Name: "huge", Measure: measureHuge},
	{Name: "node", Title: "node stream", Product: true, Measure: measureNodeStream},
	{Name: "latency", Product: true, Measure: measureLatency},
	{Name: "restart", Product: true, Measure: measureRestart},
	{Name: "cluster", Product: true, Measure: measureCluster},
	{Name: "reads", Product: true, Needs: []lab.Comparator{lab.Postgres}, Measure: measureReads},
	{Name: "activeset", Title: "active set", Product: true, Needs: []lab.Comparator{lab.Postgres}, Measure: measureActiveSet},
	{Name: "ledger", Product: true, Measure: measureLedger},
	{Name: "wallet", Product: true, Measure: measureWallet},
	{Name: "analytics", Product: true, Measure: measureAnalytics},
	{Name: "console", Product: true, Measure: measureConsole},
	{Name: "commands", Measure: measureCommands},
	{Name: "demo", Product: true, Measure: measureDemo},
}

// pieces are those that were asked for.
func (o options) pieces() []lab.Piece {
	if len(o.only) == 0 {
		return allPieces
	}
	return slices.DeleteFunc(slices.Clone(allPieces), func(p lab.Piece) bool { return !slices.Contains(o.only, p.Name) })
}

func pieceNames() string {
	var names []string
	for _, p := range allPieces {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
