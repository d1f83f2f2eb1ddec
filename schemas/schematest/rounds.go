package schematest

import "os"

// longEnv makes tests that repeat what they do do so as often as is worth a night.
const longEnv = "LEDGERLAKE_LONG"

// Long reports whether this is a run of `make test-long`.
func Long() bool { return os.Getenv(longEnv) != "" }

// Rounds is how often a test repeats what it does: daily in ordinary runs, long in those of
// `make test-long`.
func Rounds(daily, long int) int {
	if Long() {
		return long
	}
	return daily
}
