package lab

import (
	"os"
	"testing"
)

func TestParseCPU(t *testing.T) {
	for _, tt := range []struct {
		name, stat string
		want       float64
		fails      bool
	}{
		{"a plain name", "12 (bench) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0", 3, false},
		{"a name with parentheses and spaces", "12 (a) R (b) S 1 2 3 4 5 6 7 8 9 10 100 1 0 0", 1.01, false},
		{"no name", "12 S 1 2 3 4 5 6 7 8 9 10 100 1", 0, true},
		{"cut off", "12 (bench) S 1 2", 0, true},
		{"not a number", "12 (bench) S 1 2 3 4 5 6 7 8 9 10 x 1 0", 0, true},
	} {
		got, err := parseCPU([]byte(tt.stat))
		if (err != nil) != tt.fails || err == nil && got != tt.want {
			t.Errorf("%s: parseCPU(%q) = %v, %v, want %v, error %v", tt.name, tt.stat, got, err, tt.want, tt.fails)
		}
	}
}

func TestParsePeak(t *testing.T) {
	got, err := parsePeak([]byte("Name:\tbench\nVmPeak:\t  900 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 10 kB\n"))
	if err != nil || got != 2<<20 {
		t.Errorf("parsePeak = %d, %v, want %d", got, err, 2<<20)
	}
	if _, err := parsePeak([]byte("Name:\tbench\n")); err == nil {
		t.Error("parsePeak without VmHWM gave no error")
	}
}

func TestOwnUsageCanBeRead(t *testing.T) {
	if _, err := CPUSeconds(os.Getpid()); err != nil {
		t.Error(err)
	}
	if peak, err := PeakBytes(os.Getpid()); err != nil || peak < 1<<20 {
		t.Errorf("peakBytes of this process = %d, %v", peak, err)
	}
}
