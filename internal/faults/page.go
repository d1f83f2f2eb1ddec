package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// pagedOperations are the operations whose answers are lists of items, and the member
// that holds the list.
var pagedOperations = map[string]string{
	"/v0/events":                     "events",
	"/v2/updates":                    "transactions",
	"/v1/updates":                    "transactions",
	"/v0/backfilling/updates-before": "transactions",
	importsOperation:                 "transactions",
}

const importsOperation = "/v0/backfilling/import-updates"

// page is a list of items in an answer.
type page struct {
	member  string
	imports bool
	after   string // record time of the request's cursor, "" at the beginning
	items   []item
	cut     bool // the body ends with the last item, unfinished
}

// item is one of a page, with where it stands.
type item struct {
	raw        []byte
	updateID   string
	recordTime string
}

// before compares with a subject of history. Record times are of one width, so that
// their text sorts like the times.
func (it *item) before(s Subject) bool {
	if it.recordTime != s.RecordTime {
		return it.recordTime < s.RecordTime
	}
	return it.updateID < s.UpdateID
}

func (p *page) find(updateID string) int {
	return slices.IndexFunc(p.items, func(it item) bool { return it.updateID == updateID })
}

// position is what an item of any operation says of where it stands.
type position struct {
	UpdateID   string `json:"update_id"`
	RecordTime string `json:"record_time"`
}

// readPage reads the answer to one of pagedOperations.
func readPage(operation string, request, body []byte) (*page, error) {
	p := &page{member: pagedOperations[operation], imports: operation == importsOperation}
	var lists map[string][]json.RawMessage
	if err := json.Unmarshal(body, &lists); err != nil {
		return nil, fmt.Errorf("reading an answer of %s: %w", operation, err)
	}
	for _, raw := range lists[p.member] {
		var at struct {
			position
			Update, Verdict *position
		}
		if err := json.Unmarshal(raw, &at); err != nil {
			return nil, fmt.Errorf("reading an item of %s: %w", operation, err)
		}
		it := item{raw: raw, updateID: at.UpdateID, recordTime: at.RecordTime}
		for _, inner := range []*position{at.Verdict, at.Update} {
			if inner != nil {
				it.updateID, it.recordTime = inner.UpdateID, inner.RecordTime
			}
		}
		p.items = append(p.items, it)
	}
	var q struct {
		After json.RawMessage `json:"after"`
	}
	var cursor struct {
		RecordTime string `json:"after_record_time"`
	}
	if json.Unmarshal(request, &q) == nil && len(q.After) > 0 && json.Unmarshal(q.After, &cursor) == nil {
		p.after = cursor.RecordTime
	}
	return p, nil
}

// text writes the page as an answer.
func (p *page) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"%s":[`, p.member)
	for i := range p.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(p.items[i].raw)
	}
	if !p.cut {
		b.WriteString("]}")
	}
	return []byte(b.String())
}
