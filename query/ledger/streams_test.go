package ledger

import "testing"

// One client, or one user, cannot hold all websockets, however many they ask for.
func TestStreamsAreShared(t *testing.T) {
	s := newStreams(256, 64)
	take := func(h holder) (n int, ends []func()) {
		for {
			end, err := s.begin(h)
			if err != nil {
				return n, ends
			}
			n, ends = n+1, append(ends, end)
		}
	}
	var all []func()
	for i, c := range []struct {
		holder holder
		want   int
	}{
		{holderOf("", "192.0.2.1"), 128}, {holderOf("", "192.0.2.1"), 0}, {holderOf("", "192.0.2.2"), 64}, {holderOf("alice", "192.0.2.1"), 32},
		{holderOf("alice", "192.0.2.9"), 0}, {holderOf("bob", "192.0.2.1"), 16}, {holderOf("192.0.2.1", ""), 8},
	} {
		n, ends := take(c.holder)
		if n != c.want {
			t.Errorf("%d: %v got %d, want %d", i, c.holder, n, c.want)
		}
		all = append(all, ends...)
	}
	for _, end := range all {
		end()
	}
	if n := s.count(); n != 0 || len(s.byHolder) > 0 {
		t.Errorf("%d are left, of %v", n, s.byHolder)
	}
	if n, _ := take(holderOf("alice", "")); n != 64 {
		t.Errorf("a user got %d, want 64", n)
	}
}
