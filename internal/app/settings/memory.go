package settings

import (
	"os"
	"runtime/debug"
)

// LimitMemory sets the soft memory limit of this process, in bytes, unless GOMEMLIMIT has set one.
func LimitMemory(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
