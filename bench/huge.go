package main

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// measureHuge loads a history in which one update is far larger than a batch should be:
// memory must not follow it without bound.
func measureHuge(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.StartNetwork(ctx, lab.NetworkTask{Dir: l.Folder("huge-network"), Updates: l.HugeUpdates, HugeBytes: l.HugeBytes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	got, err := l.Load(ctx, "the product", lab.RoleIngest, n, lab.LoadTask{Dir: l.Folder("huge-lake"), Lifetimes: true})
	if err != nil {
		return err
	}
	s.Add("updates", float64(n.Rows["updates"]), "")
	s.Add("size of the huge one", float64(l.HugeBytes)/lab.Megabyte, "MB")
	s.Add("pages", float64(got.PageBytes)/lab.Megabyte, "MB")
	s.Add("time until lifetimes were in", got.Seconds, "s")
	s.AtMost(maxProductMiB, "peak memory of the product", float64(got.ClientPeak)/lab.Mebibyte, "MiB")
	s.Add("peak memory of the engine", float64(got.EnginePeak)/lab.Mebibyte, "MiB")
	return nil
}
