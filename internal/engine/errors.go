package engine

import "errors"

// Conditions a caller may want to tell apart. The errors that wrap them are complete
// sentences for a person: they name the folder, port or paths, and the fix.
var (
	// ErrMissing means that no engine was found where Locate looks.
	ErrMissing = errors.New("engine not found")
	// ErrInUse means that another process runs an engine on the data folder.
	ErrInUse = errors.New("data folder in use")
	// ErrPortTaken means that a configured port is used by another process.
	ErrPortTaken = errors.New("port taken")
	// ErrNotRunning means that no engine runs on the data folder.
	ErrNotRunning = errors.New("engine not running")
)
