package bucket_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

func TestContractGateway(t *testing.T) {
	buckettest.Run(t, bucketsOf(buckettest.Gateway(t)))
}

func TestContractGatewayWithSidecar(t *testing.T) {
	dir := t.TempDir()
	// A data folder that has a sidecar keeps it, whatever its file system can do.
	if err := os.MkdirAll(filepath.Join(dir, "metadata"), 0o700); err != nil {
		t.Fatal(err)
	}
	buckettest.Run(t, bucketsOf(buckettest.GatewayIn(t, dir)))
}

// TestContractExternal runs the suite against any S3, e.g. a MinIO or a Garage.
func TestContractExternal(t *testing.T) {
	endpoint := os.Getenv("LEDGERLAKE_TEST_S3_ENDPOINT")
	if endpoint == "" {
		t.Skip("LEDGERLAKE_TEST_S3_ENDPOINT, _ACCESS_KEY and _SECRET_KEY name no other store to test")
	}
	run := time.Now().Unix()
	var n atomic.Int64
	buckettest.Run(t, func(*testing.T) bucket.Config {
		return bucket.Config{
			Endpoint:  endpoint,
			Bucket:    fmt.Sprintf("ledgerlake-test-%d-%d", run, n.Add(1)),
			AccessKey: os.Getenv("LEDGERLAKE_TEST_S3_ACCESS_KEY"),
			SecretKey: os.Getenv("LEDGERLAKE_TEST_S3_SECRET_KEY"),
			PathStyle: true,
		}
	})
}

// bucketsOf gives each call another bucket of g.
func bucketsOf(g *bucket.Gateway) func(*testing.T) bucket.Config {
	var n atomic.Int64
	return func(*testing.T) bucket.Config { return g.Config(fmt.Sprintf("bucket-%d", n.Add(1))) }
}
