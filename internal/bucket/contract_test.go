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
	t.Parallel()
	runContract(t, bucketsOf(buckettest.Gateway(t)))
}

func TestContractGatewayWithSidecar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A data folder that has a sidecar keeps it, whatever its file system can do.
	if err := os.MkdirAll(filepath.Join(dir, "metadata"), 0o700); err != nil {
		t.Fatal(err)
	}
	runContract(t, bucketsOf(buckettest.GatewayIn(t, dir)))
}

// TestContractExternal runs the suite against any S3, e.g. a MinIO or a Garage.
func TestContractExternal(t *testing.T) {
	endpoint := os.Getenv("LEDGERLAKE_TEST_S3_ENDPOINT")
	if endpoint == "" {
		t.Skip("LEDGERLAKE_TEST_S3_ENDPOINT, _ACCESS_KEY and _SECRET_KEY name no other store to test")
	}
	run := time.Now().Unix()
	var n atomic.Int64
	runContract(t, func(*testing.T) bucket.Config {
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

// runContract checks the contract of bucket.Client against one store. open returns the
// configuration of an empty bucket, another one for each call; the bucket need not
// exist yet. The store must be reached over plain HTTP.
func runContract(t *testing.T, open func(t *testing.T) bucket.Config) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, cfg bucket.Config)
	}{
		{"EnsureBucketTwice", ensureBucketTwice},
		{"PutTwiceSameBytes", putTwiceSameBytes},
		{"PutReplaces", putReplaces},
		{"PutKeepsDescription", putKeepsDescription},
		{"EmptyObject", emptyObject},
		{"MissingIsErrNotFound", missingIsErrNotFound},
		{"MissingBucketIsErrNoBucket", missingBucketIsErrNoBucket},
		{"DeleteIsRepeatable", deleteIsRepeatable},
		{"PutIfAbsentHasOneWinner", putIfAbsentHasOneWinner},
		{"PutIfAbsentInPartsHasOneWinner", putIfAbsentInPartsHasOneWinner},
		{"PutIfAbsentSurvivesLostReply", putIfAbsentSurvivesLostReply},
		{"PartsSurviveLostReply", partsSurviveLostReply},
		{"RefusedCompletionIsRepeated", refusedCompletionIsRepeated},
		{"ExpiredUploadIsBegunAgain", expiredUploadIsBegunAgain},
		{"WrongSumIsErrChecksum", wrongSumIsErrChecksum},
		{"WrongSizeIsRefused", wrongSizeIsRefused},
		{"BadKeysAreRefused", badKeysAreRefused},
		{"Ranges", ranges},
		{"ReadResumesAfterBrokenConnection", readResumesAfterBrokenConnection},
		{"ReadOfReplacedObjectIsErrChanged", readOfReplacedObjectIsErrChanged},
		{"ListInPages", listInPages},
		{"PrefixHidesTheRest", prefixHidesTheRest},
		{"WrongSecretIsErrDenied", wrongSecretIsErrDenied},
		{"MultipartKeepsWholeSum", multipartKeepsWholeSum},
		{"CancelledUploadLeavesNothing", cancelledUploadLeavesNothing},
		{"StaleUploadsAreAborted", staleUploadsAreAborted},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}
