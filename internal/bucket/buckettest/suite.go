package buckettest

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

// Run checks the contract of bucket.Client against one store. open returns the
// configuration of an empty bucket, another one for each call; the bucket need not
// exist yet. The store must be reached over plain HTTP.
func Run(t *testing.T, open func(t *testing.T) bucket.Config) {
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
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}
