package main

import (
	"context"
	"errors"
)

// measureHuge loads a history in which one update is far larger than a batch should be:
// memory must not follow it without bound.
func measureHuge(ctx context.Context, l *lab, s section) (err error) {
	n, err := l.startNetwork(ctx, networkTask{Dir: l.folder("huge-network"), Updates: l.hugeUpdates, HugeBytes: l.hugeBytes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.process.end()) }()
	got, err := l.load(ctx, "the product", roleIngest, n, loadTask{Dir: l.folder("huge-lake"), Lifetimes: true})
	if err != nil {
		return err
	}
	s.add("updates", float64(n.Rows["updates"]), "")
	s.add("size of the huge one", float64(l.hugeBytes)/megabyte, "MB")
	s.add("pages", float64(got.PageBytes)/megabyte, "MB")
	s.add("time until lifetimes were in", got.Seconds, "s")
	s.atMost(maxProductMiB, "peak memory of the product", float64(got.ClientPeak)/mebibyte, "MiB")
	s.add("peak memory of the engine", float64(got.EnginePeak)/mebibyte, "MiB")
	return nil
}
