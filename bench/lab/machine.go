package lab

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine says what was measured on.
type machine struct {
	Processor   string `json:"processor"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes"`
	Kernel      string `json:"kernel"`
	Go          string `json:"go"`
}

func describeMachine() (machine, error) {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Processor: runtime.GOARCH}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m, fmt.Errorf("describing the machine: %w", err)
	}
	if name := field(info, "model name"); name != "" {
		m.Processor = name
	}
	memory, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m, fmt.Errorf("describing the machine: %w", err)
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(field(memory, "MemTotal"), " kB"), 10, 64)
	if err != nil {
		return m, fmt.Errorf("describing the machine: memory: %w", err)
	}
	m.MemoryBytes = kib << 10
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return m, fmt.Errorf("describing the machine: %w", err)
	}
	m.Kernel = strings.TrimSpace(string(kernel))
	return m, nil
}

// field returns the first value of a name in a file of "name : value" lines.
func field(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// loadAverage is the number of processes that wanted to run in the last minute, which
// tells whether a measurement had the machine to itself.
func loadAverage() (float64, error) {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("reading the load: %w", err)
	}
	first, _, _ := strings.Cut(string(raw), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the load: %w", err)
	}
	return load, nil
}
