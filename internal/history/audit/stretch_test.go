package audit

import (
	"strings"
	"testing"
)

// Both queries of sums hash the columns in the same way.
func TestEventSumsAreTheSame(t *testing.T) {
	columns := func(query string) string {
		from, to := strings.Index(query, "WITH"), strings.Index(query, "WHERE")
		if from < 0 || to < from {
			t.Fatalf("a query without WITH and WHERE: %s", query)
		}
		return query[from:to]
	}
	if columns(eventSumsBetweenQuery) != columns(eventSumsByOffsetQuery) {
		t.Error("event_sums_between.sql and event_sums_by_offset.sql differ before WHERE")
	}
}
