package bucket_test

import (
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) {
	buckettest.ServeIfChild()
	holdIfChild()
	schematest.WaitInParallel() // most of them do
	os.Exit(m.Run())
}
