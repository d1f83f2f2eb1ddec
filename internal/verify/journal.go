package verify

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// journal is what the journals say of the stream.
type journal struct {
	commits []journals.Row // by sequence, one for each number
	pending bool           // a batch is announced and not committed
	last    int64          // sequence number of the last commit, marks among them
}

// readJournals reads the journals of the stream and of its lifetimes.
func (v *verification) readJournals(ctx context.Context) (*journal, error) {
	rows, err := v.cfg.Source.Journal(ctx)
	if err != nil {
		return nil, err
	}
	j := v.checkJournal(v.cfg.Source.Stream(), rows)
	rows, err = v.cfg.Source.ContractsJournal(ctx)
	if err != nil {
		return nil, err
	}
	v.checkJournal(journals.ContractsStream(v.cfg.Source.Stream()), rows)
	// Another process may have committed since the watermark was read.
	for len(j.commits) > 0 && v.mark.Before(j.commits[len(j.commits)-1].Through) {
		j.commits, j.pending = j.commits[:len(j.commits)-1], true
	}
	return j, nil
}

// checkJournal checks one journal. Without check batches its findings are dropped.
func (v *verification) checkJournal(stream string, rows []journals.Row) *journal {
	check := v.checks[Batches]
	if check == nil {
		check = NewCheck(Batches, 0)
	}
	w := journalWalk{stream: stream, check: check, journal: new(journal), end: schemas.Start}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Sequence == rows[0].Sequence {
			n++
		}
		w.batch(rows[:n])
		rows = rows[n:]
	}
	check.Count("batches", int64(len(w.journal.commits)))
	return w.journal
}

// journalWalk goes through a journal batch by batch.
type journalWalk struct {
	stream  string
	check   *Check
	journal *journal
	last    int64            // sequence number of the last commit
	end     schemas.Position // where it ended
}

// batch takes the lines of one sequence number.
func (w *journalWalk) batch(rows []journals.Row) {
	where := fmt.Sprintf("batch %d of %s", rows[0].Sequence, w.stream)
	var commit *journals.Row
	for i := range rows {
		switch r := &rows[i]; {
		case r.State == journals.Commit && commit == nil:
			commit = r
		case r.State == journals.Commit && (r.Hash != commit.Hash || r.After != commit.After || r.Through != commit.Through):
			w.check.Add(Finding{What: "two commits", Where: where, Expected: "through " + commit.Through.String(), Found: "through " + r.Through.String()})
		}
	}
	for _, r := range journals.StandingIntents(rows) {
		w.intent(where, &r, commit)
	}
	if commit != nil {
		w.commit(where, commit)
	}
}

// intent checks an intent that stands, against the commit that followed it, if any.
func (w *journalWalk) intent(where string, r, commit *journals.Row) {
	switch {
	case commit == nil && (r.Sequence != w.last+1 || r.After != w.end):
		w.check.Add(Finding{
			What: "an intent is left over that is not the next batch", Where: where,
			Expected: fmt.Sprintf("batch %d after %s", w.last+1, w.end), Found: "after " + r.After.String(),
		})
	case commit == nil && w.journal.pending:
		w.check.Add(Finding{What: "more than one pending intent", Where: where})
	case commit == nil:
		w.journal.pending = true
	case r.After != commit.After || r.Through != commit.Through || r.Hash != commit.Hash:
		w.check.Add(Finding{
			What: "committed differently than announced", Where: where,
			Expected: fmt.Sprintf("(%s, %s] with hash %s", r.After, r.Through, r.Hash),
			Found:    fmt.Sprintf("(%s, %s] with hash %s", commit.After, commit.Through, commit.Hash),
		})
	}
}

func (w *journalWalk) commit(where string, r *journals.Row) {
	if r.IsMark() { // the stream was taken back to where it stands; numbers are not used again
		if r.After != w.end {
			w.check.Add(Finding{What: "the stream was taken back to another position than it is at", Where: where, Expected: w.end.String(), Found: r.After.String()})
		}
		w.last, w.journal.last = r.Sequence, r.Sequence
		return
	}
	switch {
	case r.Sequence != w.last+1:
		w.check.Add(Finding{What: "batches are missing before it", Where: where, Expected: fmt.Sprintf("batch %d", w.last+1), Found: fmt.Sprintf("batch %d", r.Sequence)})
	case r.After != w.end:
		w.check.Add(Finding{What: "does not start where the one before ended", Where: where, Expected: w.end.String(), Found: r.After.String()})
	}
	if !r.After.Before(r.Through) {
		w.check.Add(Finding{What: "ends before it starts", Where: where, Expected: "after " + r.After.String(), Found: r.Through.String()})
	}
	w.last, w.end, w.journal.last = r.Sequence, r.Through, r.Sequence
	w.journal.commits = append(w.journal.commits, *r)
}

// rowsAbove looks for rows above the watermark that no pending batch explains.
func (v *verification) rowsAbove(ctx context.Context, check *Check) error {
	if v.journal.pending {
		return nil
	}
	counts, err := v.cfg.Source.RowsAbove(ctx, v.mark)
	if err != nil || len(counts) == 0 {
		return err
	}
	rows, err := v.cfg.Source.Journal(ctx)
	if err != nil {
		return err
	}
	if len(rows) > 0 && rows[len(rows)-1].Sequence > v.journal.last {
		return nil // a batch is being written
	}
	for table, n := range counts {
		check.Add(Finding{
			What: "rows above the watermark, and no pending batch", Where: "table " + table,
			Expected: "none", Found: fmt.Sprintf("%d rows above %s", n, v.mark),
		})
	}
	return nil
}

// wrongPlaces compares table places, by which updates are found, with what stands there.
func (v *verification) wrongPlaces(ctx context.Context, check *Check) error {
	return v.cfg.Audit.WrongPlaces(ctx, v.mark, func(w audit.WrongPlaces) error {
		check.Add(Finding{
			What:     fmt.Sprintf("places of kind %s", w.Kind),
			Where:    fmt.Sprintf("migration %d in the hour from %s", w.MigrationID, w.From),
			Expected: fmt.Sprintf("%d according to history", w.Expected), Found: fmt.Sprintf("%d, or others", w.Found),
		})
		return nil
	})
}
