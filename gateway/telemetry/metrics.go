package telemetry

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Buckets of the classic form, in seconds. Every histogram is native too; the classic buckets serve Prometheus servers
// that do not scrape native histograms.
var (
	setupBuckets = []float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}
	turnBuckets  = []float64{.05, .1, .2, .3, .5, .7, 1, 1.5, 2, 3, 5, 8}
	yieldBuckets = []float64{.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .7, 1}
	toolBuckets  = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 7.5}
	netBuckets   = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5}
)

// Metrics is every metric of the gateway and the registry that serves them. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	sessions       *prometheus.GaugeVec
	sessionsTotal  *prometheus.CounterVec
	ends           *prometheus.CounterVec
	callSeconds    *prometheus.HistogramVec
	setup          *prometheus.HistogramVec
	turnStage      *prometheus.HistogramVec
	turns          *prometheus.CounterVec
	yield          prometheus.Histogram
	stale          prometheus.Counter
	packets        *prometheus.CounterVec
	lost           *prometheus.CounterVec
	dropped        *prometheus.CounterVec
	jitter         *prometheus.HistogramVec
	rtt            *prometheus.HistogramVec
	concealed      prometheus.Counter
	tools          *prometheus.CounterVec
	toolSeconds    *prometheus.HistogramVec
	providerErrors *prometheus.CounterVec
	notices        *prometheus.CounterVec
	tokens         *prometheus.CounterVec
	records        *prometheus.CounterVec
	audio          *prometheus.CounterVec
	refused        *prometheus.CounterVec
	replaced       prometheus.Counter
	draining       prometheus.Gauge
	capacity       prometheus.Gauge
}

// New makes the metrics in a registry of their own.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.calls()
	m.turning()
	m.media()
	m.acting()
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "hovor_build_info", Help: "Always 1; the label says which build this is.",
	}, []string{"version"})
	info.WithLabelValues(version).Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(g)
	return g
}

// histogram is native (growth factor 1.1, at most 160 buckets) with classic buckets beside.
func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}, labels)
	m.registry.MustRegister(h)
	return h
}

func (m *Metrics) calls() {
	m.sessions = m.gauge("hovor_sessions", "Calls that are open now.", "provider")
	m.sessionsTotal = m.counter("hovor_sessions_started_total", "Calls that were opened.", "provider")
	m.ends = m.counter("hovor_sessions_ended_total", "Calls that ended, by the one reason of each.", "provider", "reason")
	m.callSeconds = m.histogram("hovor_session_duration_seconds", "How long calls lasted.",
		[]float64{1, 5, 15, 60, 180, 600, 1800, 3600}, "provider")
	m.setup = m.histogram("hovor_setup_seconds",
		"From the offer to the named point of a call's setup.", setupBuckets, "phase")
	m.draining = m.gauge("hovor_draining", "1 while the node takes no new calls.").WithLabelValues()
	m.capacity = m.gauge("hovor_capacity_sessions", "The most calls that this node takes.").WithLabelValues()
}

func (m *Metrics) turning() {
	m.turnStage = m.histogram("hovor_turn_latency_seconds",
		"Answer latency by stage: endpointing is end of speech to commit, provider_first_audio is commit to the provider's first packet, total is end of speech to the first packet sent.",
		turnBuckets, "stage", "mode")
	m.turns = m.counter("hovor_turns_total", "Turns of people, by how they ended.", "mode", "outcome")
	m.yield = m.histogram("hovor_time_to_yield_seconds",
		"From the back-dated onset of speech over the assistant to the last packet of the assistant that left.", yieldBuckets).WithLabelValues().(prometheus.Histogram)
	m.stale = m.counter("hovor_stale_frames_total",
		"Assistant packets of a cut response that arrived after the cut and were dropped.").WithLabelValues()
}

func (m *Metrics) media() {
	m.packets = m.counter("hovor_rtp_packets_total", "Audio packets received from that side.", "direction")
	m.lost = m.counter("hovor_rtp_packets_lost_total", "Audio packets of that side that never arrived.", "direction")
	m.dropped = m.counter("hovor_rtp_packets_dropped_total", "Audio packets that the gateway itself could not pass on.", "direction")
	m.jitter = m.histogram("hovor_rtp_jitter_seconds", "Interarrival jitter (RFC 3550), sampled once a call at its end.", netBuckets, "direction")
	m.rtt = m.histogram("hovor_rtp_round_trip_seconds", "Round-trip time from RTCP, sampled once a call at its end.", netBuckets, "direction")
	m.concealed = m.counter("hovor_concealed_frames_total", "20 ms frames that the ear had to conceal.").WithLabelValues()
}

func (m *Metrics) acting() {
	m.tools = m.counter("hovor_tool_calls_total", "Tool calls by name, effect class and status; a name the catalogue lacks is \"unknown\".", "tool", "class", "status")
	m.toolSeconds = m.histogram("hovor_tool_seconds", "From the tool call to its status.", toolBuckets, "tool", "class")
	m.providerErrors = m.counter("hovor_provider_errors_total", "Failures of the upstream, by class.", "class")
	m.notices = m.counter("hovor_provider_notices_total", "What connections to a provider reported while they went on, by kind.", "provider", "kind")
	m.tokens = m.counter("hovor_provider_tokens_total",
		"Tokens that providers counted: read (input), read from a cache (cached, a part of input) and made (output), by kind.", "provider", "direction", "kind")
	m.records = m.counter("hovor_provider_responses_total",
		"Responses and transcriptions that were begun, by how they ended; told is false when the provider gave no count of tokens.", "provider", "kind", "status", "told")
	m.audio = m.counter("hovor_audio_seconds_total", "Audio of finished calls: from_client, to_client, and heard by the person.", "direction")
	m.refused = m.counter("hovor_events_refused_total", "Client events that the gate refused, by error code.", "code")
	m.replaced = m.counter("hovor_tool_outputs_replaced_total",
		"Tool results sent by a client that were not what the tool path recorded, and were replaced.").WithLabelValues()
}

// Handler serves the metrics, in the OpenMetrics form for those who ask for it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, Registry: m.registry})
}

// Draining says whether the node takes new calls.
func (m *Metrics) Draining(on bool) {
	v := 0.0
	if on {
		v = 1
	}
	m.draining.Set(v)
}

// Capacity says how many calls the node takes.
func (m *Metrics) Capacity(n int) { m.capacity.Set(float64(n)) }
