package sfu

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// pionLoggers lets Pion's warnings and errors through at debug level: what matters to an operator, a Peer says
// itself. Everything below a warning is dropped before it is formatted.
type pionLoggers struct{ log *slog.Logger }

func (l pionLoggers) NewLogger(scope string) logging.LeveledLogger {
	return pionLogger{l.log.With("pion", scope)}
}

type pionLogger struct{ log *slog.Logger }

func (l pionLogger) say(msg string) { l.log.Debug(msg) }

func (l pionLogger) sayf(format string, args []any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug(fmt.Sprintf(format, args...))
	}
}

func (pionLogger) Trace(string)                        {}
func (pionLogger) Tracef(string, ...any)               {}
func (pionLogger) Debug(string)                        {}
func (pionLogger) Debugf(string, ...any)               {}
func (pionLogger) Info(string)                         {}
func (pionLogger) Infof(string, ...any)                {}
func (l pionLogger) Warn(msg string)                   { l.say(msg) }
func (l pionLogger) Warnf(format string, args ...any)  { l.sayf(format, args) }
func (l pionLogger) Error(msg string)                  { l.say(msg) }
func (l pionLogger) Errorf(format string, args ...any) { l.sayf(format, args) }
