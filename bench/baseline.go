package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// maxShareOfBaseline is the most processor time that the product may take of what the
// baseline takes for the same rows.
const maxShareOfBaseline = 0.5

// measureBaseline compares the product with raw JSON pages that are put into the same
// engine and columns that are extracted by SQL. Both read the same pages with the same
// number of requests in flight, write tables of the same definition, and must end with
// equal contents.
func measureBaseline(ctx context.Context, l *lab.Lab, s lab.Section) error {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	withLifetimes, err := l.Ingested(ctx)
	if err != nil {
		return err
	}
	ours, err := l.Load(ctx, "the product without lifetimes", lab.RoleIngest, n, lab.LoadTask{Dir: l.Folder("lake-without-lifetimes")})
	if err != nil {
		return err
	}
	plain, err := l.Load(ctx, "raw JSON and SQL", roleBaseline, n, lab.LoadTask{Dir: l.Folder("baseline")})
	if err != nil {
		return err
	}
	once, err := l.Load(ctx, "raw JSON and SQL that parses once", roleBaseline, n, lab.LoadTask{Dir: l.Folder("baseline-once"), ParseOnce: true})
	if err != nil {
		return err
	}
	if err := errors.Join(equalContents(ours, plain), equalContents(ours, once), equalContents(ours, withLifetimes)); err != nil {
		return err
	}
	perMillion := lab.Million / float64(n.Rows["events"])
	for _, load := range []struct {
		name string
		*lab.Loaded
	}{
		{"product without lifetimes", ours}, {"product with lifetimes", withLifetimes},
		{"raw JSON and SQL", plain}, {"raw JSON and SQL that parses once", once},
	} {
		s.Add(load.name+": time", load.Seconds, "s")
		s.Add(load.name+": client, per million events", load.Settled.Client*perMillion, "s")
		s.Add(load.name+": engine, per million events", load.Settled.Engine*perMillion, "s")
		s.Add(load.name+": both, per million events", load.Settled.Total()*perMillion, "s")
	}
	s.AtMost(maxShareOfBaseline, "product without lifetimes / raw JSON and SQL", ours.Settled.Total()/plain.Settled.Total(), "")
	s.Add("product with lifetimes / raw JSON and SQL", withLifetimes.Settled.Total()/plain.Settled.Total(), "")
	s.AtMost(maxShareOfBaseline, "product without lifetimes / raw JSON and SQL that parses once", ours.Settled.Total()/once.Settled.Total(), "")
	s.Add("product with lifetimes / raw JSON and SQL that parses once", withLifetimes.Settled.Total()/once.Settled.Total(), "")
	return nil
}

// equalContents makes sure that two loads wrote the same rows: else they would not be
// compared for the same work.
func equalContents(a, b *lab.Loaded) error {
	var errs []error
	for _, table := range lab.HistoryTables {
		x, y := a.Tables[table], b.Tables[table]
		if x.Rows != y.Rows || x.Content != y.Content {
			errs = append(errs, fmt.Errorf("table %s differs: %d rows of content %x, and %d of %x", table, x.Rows, x.Content, y.Rows, y.Content))
		}
	}
	return errors.Join(errs...)
}
