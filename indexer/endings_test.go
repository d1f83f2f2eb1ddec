package indexer

import (
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	voteRequestName = "splice-dso-governance:Splice.DsoRules:VoteRequest"
	closeRequest    = "DsoRules_CloseVoteRequest"
)

// exercise adds an exercise of a choice of the governance rules that archives a request.
func (h *stateHistory) exercise(choice, id string) schemas.Position {
	h.archive(voteRequestName, id)
	u := h.items[len(h.items)-1].Update
	archive := u.Events[0]
	archive.Node, archive.EventID = 1, schemas.EventID(u.UpdateID, 1)
	u.Events = []schemas.Event{{
		EventID: schemas.EventID(u.UpdateID, 0), Kind: schemas.Exercised, ContractID: "00d0", TemplateID: "6a3b:Splice.DsoRules:DsoRules", PackageName: "splice-dso-governance",
		Choice: choice, Argument: []byte(`{}`), Result: []byte(`"` + id + `"`), ActingParties: []string{stateDSO}, Children: []int32{1},
	}, archive}
	return u.Position()
}

// The exercises of a choice that ends contracts are found by these, in any stretch of history, before
// and after housekeeping has moved what has ended.
func TestEndings(t *testing.T) {
	f := newFixture(t)
	h := &stateHistory{}
	for _, id := range []string{"00a0", "00a1", "00a2", "00a3"} {
		h.create(voteRequestName, id, `{"requester":"x"}`, []string{stateDSO}, nil)
	}
	h.create(entryName, "00e0", `{"name":"x"}`, []string{stateDSO}, nil)
	all := []schemas.Position{h.exercise(closeRequest, "00a0")}
	h.exercise("DsoRules_CastVote", "00a1")
	h.archive(entryName, "00e0")
	all = append(all, h.exercise(closeRequest, "00a2"))
	between := all[1]
	for i := range 3 {
		h.create(voteRequestName, "00b"+string(rune('0'+i)), `{"requester":"x"}`, []string{stateDSO}, nil)
	}
	all = append(all, h.exercise(closeRequest, "00b0"), h.exercise(closeRequest, "00b1"))
	for i := range h.items {
		if it := &h.items[i]; between.Before(it.Position()) {
			it.Update.MigrationID, it.Verdict.MigrationID = 1, 1
		}
	}
	all[2].MigrationID, all[3].MigrationID = 1, 1
	last := h.items[len(h.items)-1].Position()

	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.items, 3) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	l := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log)
	if err := l.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	ending := history.Ending{Templates: []string{"x:y:z", voteRequestName}, Choice: closeRequest}
	for range 2 {
		for _, c := range []struct {
			after, through schemas.Position
			want           []schemas.Position
		}{
			{schemas.Start, last, all},
			{schemas.Start, all[1], all[:2]},
			{all[0], all[2], all[1:3]},
			{all[3], last, nil},
		} {
			for _, limit := range []int{1, 2, 1000} {
				var found []schemas.Position
				err := f.reader.State().EndingPages(t.Context(), ending, history.Range{After: c.after, Through: c.through, Limit: limit}, func(page []schemas.Update) error {
					for _, u := range page {
						if len(u.Events) != 1 || u.Events[0].Choice != closeRequest || u.Encoding != schemas.CompactJSON {
							t.Errorf("an exercise is %+v", u)
						}
						found = append(found, u.Position())
					}
					return nil
				})
				if err != nil || !slices.Equal(found, c.want) {
					t.Errorf("after %s through %s, %d at a time: %v, %v, want %v", c.after, c.through, limit, found, err, c.want)
				}
			}
		}
		exercises, err := f.reader.State().ExercisesAt(t.Context(), closeRequest, 1, []schemas.Micros{all[3].RecordTime, all[0].RecordTime, last.RecordTime + 1})
		if err != nil || len(exercises) != 1 || string(exercises[0].Events[0].Result) != `"00b1"` {
			t.Errorf("exercises at instants: %+v, %v", exercises, err)
		}
		if err := l.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
