package main

import (
	"bytes"
	"testing"
)

func TestReportJudges(t *testing.T) {
	r := &report{Updates: 10, Machine: machine{Processor: "x", Cores: 2, MemoryBytes: 1 << 30, Kernel: "6", Go: "go1"}}
	s := section{r, "backfill"}
	s.add("pages", 1234567, "MB")
	s.atLeast(8000, "updates", 8000, "1/s")
	s.atMost(0.6, "share", 0.61, "")
	if got := r.missed(); got != 1 {
		t.Errorf("missed() = %d, want 1", got)
	}
	var b bytes.Buffer
	if err := r.markdown(&b); err != nil {
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
