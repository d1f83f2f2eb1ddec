package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// reported is what is printed of some events.
func reported(t *testing.T, verbose bool, events ...event) string {
	t.Helper()
	var in, out bytes.Buffer
	for _, e := range events {
		if err := json.NewEncoder(&in).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	r := newReport(&out, verbose)
	if err := r.read(&in); err != nil {
		t.Fatal(err)
	}
	r.printSlowest()
	return out.String()
}

func TestAFailedTestIsPrintedWhole(t *testing.T) {
	got := reported(t, false,
		event{Action: "start", Package: "p"},
		event{Action: "run", Package: "p", Test: "TestGood"},
		event{Action: "output", Package: "p", Test: "TestGood", Output: "=== RUN   TestGood\n"},
		event{Action: "output", Package: "p", Test: "TestGood", Output: "said by a good test\n"},
		event{Action: "pass", Package: "p", Test: "TestGood", Elapsed: 2},
		event{Action: "output", Package: "p", Test: "TestBad", Output: "=== RUN   TestBad\n"},
		event{Action: "output", Package: "p", Test: "TestBad/case", Output: "=== RUN   TestBad/case\n"},
		event{Action: "output", Package: "p", Test: "TestBad/case", Output: "    x_test.go:7: one is not two\n"},
		event{Action: "output", Package: "p", Test: "TestBad/case", Output: "    --- FAIL: TestBad/case (0.00s)\n"},
		event{Action: "fail", Package: "p", Test: "TestBad/case", Elapsed: 3},
		event{Action: "output", Package: "p", Test: "TestBad", Output: "--- FAIL: TestBad (0.00s)\n"},
		event{Action: "fail", Package: "p", Test: "TestBad", Elapsed: 3},
		event{Action: "output", Package: "p", Test: "TestCutOff", Output: "panic: test timed out after 14m\n"},
		event{Action: "output", Package: "p", Output: "FAIL\tp\t6.0s\n"},
		event{Action: "fail", Package: "p", Elapsed: 6},
		event{Action: "output", Package: "q", Test: "TestGood", Output: "also said by a good one\n"},
		event{Action: "pass", Package: "q", Test: "TestGood", Elapsed: 0.5},
		event{Action: "output", Package: "q", Output: "PASS\n"},
		event{Action: "output", Package: "q", Output: "ok  \tq\t0.5s\n"},
		event{Action: "pass", Package: "q", Elapsed: 0.5})
	want := `--- FAIL: TestBad (0.00s)
    x_test.go:7: one is not two
    --- FAIL: TestBad/case (0.00s)
panic: test timed out after 14m
FAIL	p	6.0s
ok  	q	0.5s

The slowest packages, in seconds of the clock:
     6.0  p
     0.5  q

The slowest tests, in seconds of the clock:
     3.0  p  TestBad
     2.0  p  TestGood
     0.5  q  TestGood
`
	if got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestWhatBuildsPrintAndVerboseRunsArePrintedAtOnce(t *testing.T) {
	build := event{Action: "build-output", Output: "x.go:1:1: undefined: y\n"}
	test := event{Action: "output", Package: "p", Test: "TestGood", Output: "=== RUN   TestGood\n"}
	if got := reported(t, false, build, test); got != build.Output {
		t.Errorf("printed %q", got)
	}
	if got := reported(t, true, build, test); got != build.Output+test.Output {
		t.Errorf("printed with -v: %q", got)
	}
}

func TestLinesThatAreNoEventsArePrinted(t *testing.T) {
	var out bytes.Buffer
	if err := newReport(&out, false).read(strings.NewReader("go: downloading\nno newline")); err != nil || out.String() != "go: downloading\nno newline" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}

func TestTemporaryFilesAreKeptInMemoryOnlyWhereTheyFit(t *testing.T) {
	if fitsTests("/nowhere") || fitsTests("/proc") {
		t.Error("a folder that does not exist or has no room is said to fit")
	}
}
