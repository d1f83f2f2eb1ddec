package main

import "testing"

func TestCursorFollowsAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want cursor
	}{
		"updates":             {`{"transactions":[{"migration_id":0,"record_time":"a"},{"migration_id":1,"record_time":"b"}]}`, cursor{1, "b"}},
		"a reassignment":      {`{"transactions":[{"event":{"migration_id":2,"x":1},"record_time":"c"}]}`, cursor{2, "c"}},
		"a page of nothing":   {`{"transactions":[]}`, cursor{}},
		"without its time":    {`{"transactions":[{"migration_id":1}]}`, cursor{}},
		"migration no number": {`{"migration_id":x,"record_time":"d"}`, cursor{}},
	} {
		var got cursor
		if err := got.take([]byte(tt.body)); got != tt.want || (err == nil) != (tt.want != cursor{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
