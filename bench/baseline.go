package main

import (
	"context"
	"errors"
	"fmt"
)

// maxShareOfBaseline is the most processor time that the product may take of what the
// baseline takes for the same rows.
const maxShareOfBaseline = 0.5

// measureBaseline compares the product with raw JSON pages that are put into the same
// engine and columns that are extracted by SQL. Both read the same pages with the same
// number of requests in flight, write tables of the same definition, and must end with
// equal contents.
func measureBaseline(ctx context.Context, l *lab, s section) error {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	withLifetimes, err := l.ingested(ctx)
	if err != nil {
		return err
	}
	ours, err := l.load(ctx, "the product without lifetimes", roleIngest, n, loadTask{Dir: l.folder("lake-without-lifetimes")})
	if err != nil {
		return err
	}
	plain, err := l.load(ctx, "raw JSON and SQL", roleBaseline, n, loadTask{Dir: l.folder("baseline")})
	if err != nil {
		return err
	}
	once, err := l.load(ctx, "raw JSON and SQL that parses once", roleBaseline, n, loadTask{Dir: l.folder("baseline-once"), ParseOnce: true})
	if err != nil {
		return err
	}
	if err := errors.Join(equalContents(ours, plain), equalContents(ours, once), equalContents(ours, withLifetimes)); err != nil {
		return err
	}
	perMillion := million / float64(n.Rows["events"])
	for _, load := range []struct {
		name string
		*loaded
	}{
		{"product without lifetimes", ours}, {"product with lifetimes", withLifetimes},
		{"raw JSON and SQL", plain}, {"raw JSON and SQL that parses once", once},
	} {
		s.add(load.name+": time", load.Seconds, "s")
		s.add(load.name+": client, per million events", load.Settled.Client*perMillion, "s")
		s.add(load.name+": engine, per million events", load.Settled.Engine*perMillion, "s")
		s.add(load.name+": both, per million events", load.Settled.total()*perMillion, "s")
	}
	s.atMost(maxShareOfBaseline, "product without lifetimes / raw JSON and SQL", ours.Settled.total()/plain.Settled.total(), "")
	s.add("product with lifetimes / raw JSON and SQL", withLifetimes.Settled.total()/plain.Settled.total(), "")
	s.atMost(maxShareOfBaseline, "product without lifetimes / raw JSON and SQL that parses once", ours.Settled.total()/once.Settled.total(), "")
	s.add("product with lifetimes / raw JSON and SQL that parses once", withLifetimes.Settled.total()/once.Settled.total(), "")
	return nil
}

// equalContents makes sure that two loads wrote the same rows: else they would not be
// compared for the same work.
func equalContents(a, b *loaded) error {
	var errs []error
	for _, table := range historyTables {
		x, y := a.Tables[table], b.Tables[table]
		if x.Rows != y.Rows || x.Content != y.Content {
			errs = append(errs, fmt.Errorf("table %s differs: %d rows of content %x, and %d of %x", table, x.Rows, x.Content, y.Rows, y.Content))
		}
	}
	return errors.Join(errs...)
}
