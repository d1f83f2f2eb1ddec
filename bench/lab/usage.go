package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// clockTicks is the unit of CPU times in /proc: USER_HZ, 100 on every platform that
// Go runs Linux on.
const clockTicks = 100

// CPUSeconds returns the user and system time of a process so far, its children left out.
func CPUSeconds(pid int) (float64, error) { return readProc(pid, "stat", parseCPU) }

// PeakBytes returns the largest resident set that a process has had.
func PeakBytes(pid int) (int64, error) { return readProc(pid, "status", parsePeak) }

// readProc parses a file of a process in /proc.
func readProc[T any](pid int, name string, parse func([]byte) (T, error)) (value T, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err == nil {
		value, err = parse(text)
	}
	if err != nil {
		return value, fmt.Errorf("reading %s of process %d: %w", name, pid, err)
	}
	return value, nil
}

// parseCPU reads utime and stime, fields 14 and 15 of /proc/PID/stat. The second field
// is the program's name in parentheses and may hold anything.
func parseCPU(stat []byte) (float64, error) {
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 13 {
		return 0, fmt.Errorf("%q is not a line of /proc/PID/stat", stat)
	}
	user, userErr := strconv.ParseUint(fields[11], 10, 64)
	system, systemErr := strconv.ParseUint(fields[12], 10, 64)
	return float64(user+system) / clockTicks, errors.Join(userErr, systemErr)
}

// FamilyCPU is the processor time of a process and of its children that are running.
func FamilyCPU(pid int) (float64, error) {
	total, err := CPUSeconds(pid)
	if err != nil {
		return 0, err
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	for _, path := range tasks {
		children, err := os.ReadFile(path)
		if err != nil {
			return 0, fmt.Errorf("looking for the children of process %d: %w", pid, err)
		}
		for _, text := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(text)
			if err != nil {
				return 0, err
			}
			more, err := FamilyCPU(child)
			if err != nil {
				return 0, err
			}
			total += more
		}
	}
	return total, nil
}

// parsePeak reads VmHWM of /proc/PID/status.
func parsePeak(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		value, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		return kib << 10, err
	}
	return 0, errors.New("there is no VmHWM")
}

// Cost is what a load took of the processor, in seconds.
type Cost struct {
	// Client is the process that fetches and writes: the product, or the baseline's.
	Client float64 `json:"client"`
	Engine float64 `json:"engine"`
	// Network is the simulated network that answers, which is no part of the cost but
	// takes its share of a small machine.
	Network float64 `json:"network"`
}

// Total is the cost of client and engine.
func (c Cost) Total() float64 { return c.Client + c.Engine }

// Minus is the cost since another reading.
func (c Cost) Minus(o Cost) Cost {
	return Cost{c.Client - o.Client, c.Engine - o.Engine, c.Network - o.Network}
}

// Meter reads the CPU times of the processes of one load since it was started.
type Meter struct {
	engine, network int // process ids
	begin           Cost
}

// StartMeter begins to measure this process, an engine and a network.
func StartMeter(enginePID, networkPID int) (*Meter, error) {
	m := &Meter{engine: enginePID, network: networkPID}
	var err error
	m.begin, err = m.read()
	return m, err
}

// Since returns the cost since the start.
func (m *Meter) Since() (Cost, error) {
	now, err := m.read()
	return now.Minus(m.begin), err
}

func (m *Meter) read() (c Cost, err error) {
	var errs [3]error
	c.Client, errs[0] = CPUSeconds(os.Getpid())
	c.Engine, errs[1] = CPUSeconds(m.engine)
	c.Network, errs[2] = CPUSeconds(m.network)
	return c, errors.Join(errs[:]...)
}
