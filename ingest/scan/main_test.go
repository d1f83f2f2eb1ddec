package scan

import (
	"flag"
	"os"
	"testing"
)

// parallel is how many tests run at a time: most of them wait for answers that come late, so more
// than there are processors.
const parallel = "8"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
