package query

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

// metrics counts requests by the name of their route.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	inFlight prometheus.Gauge
	// transfers is part of inFlight.
	transfers prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, admission *Admission) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ledgerlake_http_requests_total", Help: "Requests by route and status code.",
		}, []string{"route", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ledgerlake_http_request_duration_seconds", Help: "Time from the request's head to the last byte of the answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 17), // 0.5 ms to 33 s
		}, []string{"route"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ledgerlake_http_response_bytes_total", Help: "Bytes of answer bodies sent, after compression.",
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "ledgerlake_http_in_flight_requests", Help: "Requests in progress.",
		}),
		transfers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "ledgerlake_http_transfers", Help: "Downloads in progress.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.duration, m.bytes, m.inFlight, m.transfers, admission} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) observe(route string, status int, sent int64, elapsed time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(route).Observe(elapsed.Seconds())
	m.bytes.WithLabelValues(route).Add(float64(sent))
}

// unrouted counts a request that reached no route.
func (m *metrics) unrouted(status int) {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
}

// metricsRoute serves everything in the registry, not only what this package counts.
func metricsRoute(reg prometheus.Gatherer) Route {
	handler := fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	return Route{Method: "GET", Path: "/metrics", Name: "metrics", Probe: true, Handle: adapt(handler)}
}
