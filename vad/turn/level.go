package turn

import "math"

// floorDB is the level of silence, below what 16 bits can hold.
const floorDB = -100

// level follows loudness with a time constant of about 100 ms.
type level struct{ power float64 }

func (l *level) hear(pcm []int16) {
	if len(pcm) == 0 {
		return
	}
	sum := 0.0
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	n := float64(len(pcm))
	keep := 1 - min(n/1600, 1)
	l.power = keep*l.power + (1-keep)*sum/n/(32768*32768)
}

func (l *level) decibels() float32 {
	return float32(max(10*math.Log10(l.power+1e-12), floorDB))
}
