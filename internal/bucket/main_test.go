package bucket_test

import (
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func TestMain(m *testing.M) {
	buckettest.ServeIfChild()
	holdIfChild()
	os.Exit(m.Run())
}
