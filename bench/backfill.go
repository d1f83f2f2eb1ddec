package main

import (
	"context"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// The targets of the ingest, on two cores.
const (
	minUpdatesPerSecond = 8000
	minEventsPerSecond  = 64_000
	maxProductMiB       = 1024
)

// measureBackfill loads the history in the way the product does it: ingester, writer
// and lifetimes in one process, the engine in another, the network in a third.
func measureBackfill(ctx context.Context, l *lab.Lab, s lab.Section) error {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	got, err := l.Ingested(ctx)
	if err != nil {
		return err
	}
	updates, events := float64(n.Rows["updates"]), float64(n.Rows["events"])
	s.Add("events", events, "")
	s.Add("pages", float64(got.PageBytes)/lab.Megabyte, "MB")
	s.Add("time until all history was in", got.HistorySeconds, "s")
	s.Add("time until lifetimes were, too", got.Seconds, "s")
	s.AtLeast(minUpdatesPerSecond, "updates, lifetimes included", updates/got.Seconds, "1/s")
	s.AtLeast(minEventsPerSecond, "events, lifetimes included", events/got.Seconds, "1/s")
	s.Add("pages, lifetimes included", float64(got.PageBytes)/lab.Megabyte/got.Seconds, "MB/s")
	s.AtMost(maxProductMiB, "peak memory of the product", float64(got.ClientPeak)/lab.Mebibyte, "MiB")
	s.Add("peak memory of the engine", float64(got.EnginePeak)/lab.Mebibyte, "MiB")
	addCost(s, "", got.Cost, events)
	addCost(s, ", with merges", got.Settled, events)
	s.Add("processor time of the network, without a part in these", got.Cost.Network, "s")
	return nil
}

// addCost adds what a load cost, apart and together. suffix says what is in it.
func addCost(s lab.Section, suffix string, c lab.Cost, events float64) {
	s.Add("processor time of the product"+suffix, c.Client, "s")
	s.Add("processor time of the engine"+suffix, c.Engine, "s")
	s.Add("processor time of both"+suffix, c.Total(), "s")
	s.Add("processor time of both"+suffix+", per million events", c.Total()/events*lab.Million, "s")
}
