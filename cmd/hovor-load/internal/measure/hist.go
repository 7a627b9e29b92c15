package measure

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Hist counts durations in log-linear buckets (64 per power of two of microseconds: at most 1.6 % wide) and may be fed by any number of
// goroutines at once without a lock or an allocation. It is for things that happen with every packet. The zero value is ready.
type Hist struct {
	buckets [histBuckets]atomic.Uint64
	count   atomic.Uint64
	sum     atomic.Int64
	max     atomic.Int64
	min     atomic.Int64 // smallest value + 1; 0 = none yet
}

const (
	histSub     = 64
	histBuckets = 27 * histSub // up to 2^32 µs, more than an hour
)

// Add takes one duration; a negative one counts as zero.
func (h *Hist) Add(d time.Duration) {
	us := max(int64(d/time.Microsecond), 0)
	h.buckets[bucketOf(us)].Add(1)
	h.count.Add(1)
	h.sum.Add(us)
	for m := h.max.Load(); us > m && !h.max.CompareAndSwap(m, us); m = h.max.Load() {
	}
	for m := h.min.Load(); (m == 0 || us+1 < m) && !h.min.CompareAndSwap(m, us+1); m = h.min.Load() {
	}
}

func bucketOf(us int64) int {
	if us < histSub {
		return int(us)
	}
	shift := bits.Len64(uint64(us)) - 7 // keeps seven bits: 64..127
	return min((shift+1)*histSub+int(us>>shift)-histSub, histBuckets-1)
}

// upper is the largest number of microseconds that falls into bucket i.
func upper(i int) int64 {
	if i < histSub {
		return int64(i)
	}
	shift := i/histSub - 1
	return (int64(i%histSub+histSub)+1)<<shift - 1
}

// Count is the number of samples.
func (h *Hist) Count() int { return int(h.count.Load()) }

// Mean is in milliseconds.
func (h *Hist) Mean() float64 { return float64(h.sum.Load()) / 1000 / float64(h.count.Load()) }

// Quantile is in milliseconds, exact at 0 and 1, else the upper edge of the bucket.
func (h *Hist) Quantile(q float64) float64 {
	n := h.Count()
	if n == 0 {
		return math.NaN()
	}
	if q <= 0 {
		return float64(h.min.Load()-1) / 1000
	}
	most := h.max.Load()
	if q >= 1 {
		return float64(most) / 1000
	}
	left := uint64(rank(q, n))
	for i := range h.buckets {
		c := h.buckets[i].Load()
		if c >= left {
			return float64(min(upper(i), most)) / 1000
		}
		left -= c
	}
	return float64(most) / 1000
}

// Reset forgets everything: for the end of a warm-up. Samples that are added meanwhile may be half forgotten.
func (h *Hist) Reset() {
	for i := range h.buckets {
		h.buckets[i].Store(0)
	}
	h.count.Store(0)
	h.sum.Store(0)
	h.max.Store(0)
	h.min.Store(0)
}

// Bucket is one filled bucket: Count samples of at most LE milliseconds (and above the LE of the bucket before).
type Bucket struct {
	LE    float64 `json:"le_ms"`
	Count uint64  `json:"count"`
}

// Buckets are the filled buckets in ascending order.
func (h *Hist) Buckets() []Bucket {
	out := []Bucket{}
	for i := range h.buckets {
		if c := h.buckets[i].Load(); c > 0 {
			out = append(out, Bucket{LE: float64(upper(i)) / 1000, Count: c})
		}
	}
	return out
}
