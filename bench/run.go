package main

import (
	"context"
	"errors"
	"io"
	"strings"
)

// piece is one thing that can be measured by itself.
type piece struct {
	name    string // by which --only selects it
	title   string // of its rows in the report, if that is not the name
	product bool   // whether it runs the ledgerlake binary
	needs   []comparator
	measure func(context.Context, *lab, section) error
}

// errInterrupted is why pieces were not measured after ctx had ended.
var errInterrupted = errors.New("the run was interrupted")

// measureAll measures pieces one after another: two at once would measure each other. A piece
// that fails leaves the results of the others, and an interrupted run what it has measured: the
// report says which pieces are incomplete. An error means that nothing could be measured.
func measureAll(ctx context.Context, s settings, pieces []piece, stderr io.Writer) (_ *report, err error) {
	l, err := newLab(s, stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if l.report.Machine, err = describeMachine(); err != nil {
		return nil, err
	}
	l.report.NotInstalled = lookForComparators(pieces, stderr)
	for i, p := range pieces {
		if err := l.measure(ctx, p); ctx.Err() != nil {
			l.report.fail(errInterrupted, pieces[i:]...)
			break
		} else if err != nil {
			l.say("%s failed: %v", p.name, err)
			l.report.fail(err, p)
		}
	}
	return l.report, nil
}

// measure measures one piece, beginning with the load of the machine before it, which everything
// else in it depends on.
func (l *lab) measure(ctx context.Context, p piece) error {
	if p.product {
		if err := l.build(ctx); err != nil {
			return err
		}
	}
	load, err := loadAverage()
	if err != nil {
		return err
	}
	s := section{l.report, p.name}
	if p.title != "" {
		s.piece = p.title
	}
	s.add("load of the machine before", load, "processes")
	return p.measure(ctx, l, s)
}

// failure says why pieces have not all of their rows.
type failure struct {
	Pieces []string `json:"pieces"`
	Error  string   `json:"error"`
}

func (f failure) String() string { return strings.Join(f.Pieces, ", ") + ": " + f.Error }

func (r *report) fail(err error, pieces ...piece) {
	f := failure{Error: err.Error()}
	for _, p := range pieces {
		f.Pieces = append(f.Pieces, p.name)
	}
	r.Failed = append(r.Failed, f)
}
