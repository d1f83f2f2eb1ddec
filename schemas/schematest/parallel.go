package schematest

import "flag"

// WaitInParallel has eight tests of a binary run at a time, more than there are processors: for
// packages of which most tests wait. TestMain calls it.
func WaitInParallel() {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // not a test
	}
}
