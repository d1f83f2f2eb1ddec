package lab

import (
	"bytes"
	"testing"
)

func TestReportJudges(t *testing.T) {
	r := &Report{Updates: 10, Machine: machine{Processor: "x", Cores: 2, MemoryBytes: 1 << 30, Kernel: "6", Go: "go1"}}
	s := Section{r, "backfill"}
	s.Add("pages", 1234567, "MB")
	s.AtLeast(8000, "updates", 8000, "1/s")
	s.AtMost(0.6, "share", 0.61, "")
	if got := r.Missed(); got != 1 {
		t.Errorf("missed() = %d, want 1", got)
	}
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `10 updates; 2 cores of x, 1 GiB, Linux 6, go1

| | What | Measured | Unit | Target | Met |
| --- | --- | ---: | --- | --- | --- |
| backfill | pages | 1,234,567 | MB |  |  |
|  | updates | 8,000 | 1/s | at least 8,000 | yes |
|  | share | 0.61 |  | at most 0.60 | no |
`
	if b.String() != want {
		t.Errorf("markdown:\n%s\nwant:\n%s", b.String(), want)
	}
}
