package devnet

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	if n == 0 {
		t.Skip()
	}
	t0 := time.Now()
	l, err := New(context.Background(), Config{Updates: n, Seed: 42, Dir: os.Getenv("D"), SkipCompact: os.Getenv("SKIP") != ""}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	el := time.Since(t0)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	fmt.Println(el, "rate", float64(n)/el.Seconds(), "heap MB", m.HeapAlloc>>20, "sys", m.Sys>>20)
	fmt.Printf("%+v %+v %v\n", l.Digests().Counts, l.Supply(), l.countedCoins())
	fmt.Println("ends", l.store.end(), "index", l.store.count*40>>20)
	cnt := map[string]int{}
	for _, c := range l.executor.active {
		cnt[c.template.name]++
	}
	fmt.Println(cnt)
	st, _ := os.ReadFile("/proc/self/status")
	for _, line := range []byte(st) {
		_ = line
	}
	fmt.Println(string(st[:0]))
	data, _ := os.ReadFile("/proc/self/status")
	i := 0
	for j := range data {
		if data[j] == '\n' {
			if string(data[i:i+5]) == "VmHWM" {
				fmt.Println(string(data[i:j]))
			}
			i = j + 1
		}
	}
}
