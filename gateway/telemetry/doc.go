// Package telemetry turns what happens into metrics and logs.
//
// It owns every metric's name, help, unit and label, the Prometheus registry that serves them, and the JSON log handler.
// Durations are seconds, labels are closed sets, and no label ever holds a person, a call or a word. It never decides
// anything and nothing waits for it.
package telemetry
