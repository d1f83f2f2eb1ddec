package pages

import (
	"strconv"
	"strings"
	"testing"
)

func TestRenderKeepsOrder(t *testing.T) {
	write := func(dst []byte, n *int) []byte { return strconv.AppendInt(dst, int64(*n), 10) }
	for _, count := range []int{0, 1, renderRun, renderRun + 1, 10 * renderRun, 10*renderRun + 7} {
		rows := make([]int, count)
		texts := make([]string, count)
		for i := range rows {
			rows[i], texts[i] = i, strconv.Itoa(i)
		}
		for _, size := range []int64{0, 1, 50} {
			if got, want := string(render([]byte("["), rows, size, write)), "["+strings.Join(texts, ","); got != want {
				t.Errorf("%d rows: %.100s, want %.100s", count, got, want)
			}
		}
	}
}
