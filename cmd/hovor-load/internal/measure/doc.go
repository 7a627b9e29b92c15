// Package measure turns times into figures: series with percentiles, histograms for every packet, thresholds, and the verdict on the tester.
//
// It owns the arithmetic and the names of the metrics. It never touches a network, a codec or a clock of its own.
package measure
