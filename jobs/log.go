package jobs

import (
	"fmt"
	"log/slog"
	"strings"
)

// asynqLog passes on what asynq says. Its chatter about starting and stopping is of no
// interest but for debugging.
type asynqLog struct {
	log *slog.Logger
}

// Debug implements asynq.Logger, as do the others.
func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq", "said", text(args)) }

// Info is shown as debug.
func (l asynqLog) Info(args ...any) { l.log.Debug("asynq", "said", text(args)) }

// Warn tells of tasks that were cut off and of calls to be repeated.
func (l asynqLog) Warn(args ...any) { l.log.Warn("asynq", "said", text(args)) }

// Error tells of a Redis that fails.
func (l asynqLog) Error(args ...any) { l.log.Error("asynq", "said", text(args)) }

// Fatal does not exit: this is a library, and asynq goes on as well.
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq", "said", text(args)) }

func text(args []any) string { return strings.TrimSpace(fmt.Sprint(args...)) }
