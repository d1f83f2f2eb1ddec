package history

import (
	"slices"
	"sort"
	"strconv"
	"testing"
)

func TestTextOrder(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 25, 100, 101, 1234} {
		want := make([]string, n)
		for i := range want {
			want[i] = strconv.Itoa(i)
		}
		sort.Strings(want)
		var got []string
		for _, i := range AppendTextOrder(nil, n) {
			got = append(got, strconv.Itoa(int(i)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("order of %d numbers: got %v, want %v", n, got, want)
		}
	}
}
