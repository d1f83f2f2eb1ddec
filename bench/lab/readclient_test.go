package lab

import "testing"

func TestCursorFollowsAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want Cursor
	}{
		"updates":             {`{"transactions":[{"migration_id":0,"record_time":"a"},{"migration_id":1,"record_time":"b"}]}`, Cursor{1, "b"}},
		"a reassignment":      {`{"transactions":[{"event":{"migration_id":2,"x":1},"record_time":"c"}]}`, Cursor{2, "c"}},
		"a page of nothing":   {`{"transactions":[]}`, Cursor{}},
		"without its time":    {`{"transactions":[{"migration_id":1}]}`, Cursor{}},
		"migration no number": {`{"migration_id":x,"record_time":"d"}`, Cursor{}},
	} {
		var got Cursor
		if err := got.take([]byte(tt.body)); got != tt.want || (err == nil) != (tt.want != Cursor{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
