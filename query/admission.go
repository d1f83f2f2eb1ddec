package query

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Class is how much of the server's memory and of the store a call takes. Calls wait for others of
// their class and never for those of another one.
type Class uint8

const (
	// Light calls take a query or two and some kilobytes of memory. Every call begins as one.
	Light Class = iota
	// Page calls buffer many elements: as much memory as they reserve.
	Page
	// Dump calls read ahead of a client for as long as it takes their answer.
	Dump
	classes
)

// String names the class in metrics.
func (c Class) String() string { return [classes]string{"light", "page", "dump"}[c] }

// AdmissionConfig says how much may go on at once.
type AdmissionConfig struct {
	// Memory is how many bytes the calls of all servers that share the Admission may take
	// together; default 512 MiB. Half is for pages, a quarter each for dumps and for answers
	// that wait for slow clients.
	Memory int64
	// MaxConcurrent is how many light calls are worked on at once; default 64. Eight times as
	// many may wait.
	MaxConcurrent int
	// QueueTimeout is how long a light call waits at most, others four times as long; default
	// 15 s.
	QueueTimeout time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

const (
	// maxPages is how many pages are worked on at once: fewer than the store has connections,
	// so that light calls, which need one for a moment, do not wait for those of pages.
	maxPages = 8
	// maxDumps is the same of dumps, which take several connections each.
	maxDumps = 2
	// maxQueue is how many pages, and how many dumps, may wait.
	maxQueue = 512
	// heavyWait is how many times as long as light calls other calls may wait.
	heavyWait = 4
)

// Admission decides which calls run. It has a budget of memory: when there are too many calls they
// wait their turn. Servers of one process share one. It is safe for
// concurrent use.
type Admission struct {
	queues [classes]*fairQueue
	// parked holds the memory of complete answers that clients are still taking.
	parked  *fairQueue
	maxWait time.Duration
}

// NewAdmission returns an Admission with nothing under way.
func NewAdmission(cfg AdmissionConfig) *Admission {
	memory, most := cmp.Or(cfg.Memory, 512<<20), cmp.Or(cfg.MaxConcurrent, 64)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	const noLimit = 1 << 30
	return &Admission{
		queues: [classes]*fairQueue{
			Light: newFairQueue(most, 0, 8*most, cfg.Now), // they reserve nothing
			Page:  newFairQueue(min(most, maxPages), memory/2, maxQueue, cfg.Now),
			Dump:  newFairQueue(min(most, maxDumps), memory/4, maxQueue, cfg.Now),
		},
		parked:  newFairQueue(noLimit, memory/4, 0, cfg.Now),
		maxWait: cmp.Or(cfg.QueueTimeout, 15*time.Second),
	}
}

// DumpBytes is how much memory a dump should take, so that as many as possible are worked on.
func (a *Admission) DumpBytes() int64 { return a.queues[Dump].bytes / int64(a.queues[Dump].most) }

// PageBytes is how much memory pages may take together.
func (a *Admission) PageBytes() int64 { return a.queues[Page].bytes }

// Spare reserves memory of pages for optional work such as reading ahead. ok is false when there is
// too little memory or a call waits for it; otherwise the caller must call release once.
func (a *Admission) Spare(bytes int64) (release func(), ok bool) {
	q := a.queues[Page]
	q.mu.Lock()
	defer q.mu.Unlock()
	// Half of it is for calls, which would else find all taken by what may be of no use.
	if q.waiting > 0 || q.held+bytes > q.bytes/2 {
		return nil, false
	}
	q.held += bytes
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.held -= bytes
		q.admit()
	}, true
}

// enter waits for a place in a class.
func (a *Admission) enter(ctx context.Context, class Class, key lineKey, bytes int64) (place, error) {
	maxWait := a.maxWait
	if class != Light {
		maxWait *= heavyWait
	}
	return a.queues[class].enter(ctx, key, bytes, maxWait)
}

var (
	runningDesc = prometheus.NewDesc("ledgerlake_admission_running", "Running requests, by class of cost.", []string{"class"}, nil)
	waitingDesc = prometheus.NewDesc("ledgerlake_admission_waiting", "Waiting requests, by class of cost.", []string{"class"}, nil)
	refusedDesc = prometheus.NewDesc("ledgerlake_admission_refused_total", "Requests that were refused because too many were waiting or they waited too long, by class of cost.", []string{"class"}, nil)
	bytesDesc   = prometheus.NewDesc("ledgerlake_admission_bytes", "Memory reserved for requests, by class of cost; parked is for complete answers that clients are still taking.", []string{"class"}, nil)
	limitDesc   = prometheus.NewDesc("ledgerlake_admission_bytes_limit", "Memory that may be reserved, by class of cost.", []string{"class"}, nil)
)

// Describe implements prometheus.Collector.
func (a *Admission) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(a, to) }

// Collect implements prometheus.Collector.
func (a *Admission) Collect(to chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, class string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, class)
	}
	for class, q := range a.queues {
		l, name := q.load(), Class(class).String()
		gauge(runningDesc, float64(l.running), name)
		gauge(waitingDesc, float64(l.waiting), name)
		to <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(l.refused), name)
		if Class(class) != Light {
			gauge(bytesDesc, float64(l.held), name)
			gauge(limitDesc, float64(l.bytes), name)
		}
	}
	l := a.parked.load()
	gauge(bytesDesc, float64(l.held), "parked")
	gauge(limitDesc, float64(l.bytes), "parked")
}
