package schematest

import "os"

// longEnv makes tests that repeat what they do do so as often as is worth a night.
const longEnv = "LEDGERLAKE_LONG"

// Rounds is how often a test repeats what it does: daily in ordinary runs, long in those of
// `make test-long`.
func Rounds(daily, long int) int {
	if os.Getenv(longEnv) != "" {
		return long
	}
	return daily
}
