package main

import "context"

// The targets of the ingest, on two cores.
const (
	minUpdatesPerSecond = 8000
	minEventsPerSecond  = 64_000
	maxProductMiB       = 1024
)

// measureBackfill loads the history in the way the product does it: ingester, writer
// and lifetimes in one process, the engine in another, the network in a third.
func measureBackfill(ctx context.Context, l *lab, s section) error {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	got, err := l.ingested(ctx)
	if err != nil {
		return err
	}
	updates, events := float64(n.Rows["updates"]), float64(n.Rows["events"])
	s.add("events", events, "")
	s.add("pages", float64(got.PageBytes)/megabyte, "MB")
	s.add("time until all history was in", got.HistorySeconds, "s")
	s.add("time until lifetimes were, too", got.Seconds, "s")
	s.atLeast(minUpdatesPerSecond, "updates, lifetimes included", updates/got.Seconds, "1/s")
	s.atLeast(minEventsPerSecond, "events, lifetimes included", events/got.Seconds, "1/s")
	s.add("pages, lifetimes included", float64(got.PageBytes)/megabyte/got.Seconds, "MB/s")
	s.atMost(maxProductMiB, "peak memory of the product", float64(got.ClientPeak)/mebibyte, "MiB")
	s.add("peak memory of the engine", float64(got.EnginePeak)/mebibyte, "MiB")
	addCost(s, "", got.Cost, events)
	addCost(s, ", with merges", got.Settled, events)
	s.add("processor time of the network, without a part in these", got.Cost.Network, "s")
	return nil
}

// addCost adds what a load cost, apart and together. suffix says what is in it.
func addCost(s section, suffix string, c cost, events float64) {
	s.add("processor time of the product"+suffix, c.Client, "s")
	s.add("processor time of the engine"+suffix, c.Engine, "s")
	s.add("processor time of both"+suffix, c.total(), "s")
	s.add("processor time of both"+suffix+", per million events", c.total()/events*million, "s")
}
