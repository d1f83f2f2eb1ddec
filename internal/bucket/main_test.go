package bucket_test

import (
	"flag"
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

// parallel is how many tests run at a time: most of them wait for the store, so more than there are
// processors.
const parallel = "8"

func TestMain(m *testing.M) {
	buckettest.ServeIfChild()
	holdIfChild()
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
