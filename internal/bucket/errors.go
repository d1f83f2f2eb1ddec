package bucket

import (
	"errors"
	"fmt"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Conditions that callers decide on. Every error of Client that stems from one of
// these wraps it, names bucket and key, and holds no secret.
var (
	// ErrNotFound means that the bucket holds no object of that key.
	ErrNotFound = errors.New("object not found")
	// ErrNoBucket means that the bucket itself is missing.
	ErrNoBucket = errors.New("bucket not found")
	// ErrExists means that PutIfAbsent met an object of that key; it was left as it is.
	ErrExists = errors.New("object already exists")
	// ErrDenied means that the store refused the keys or lacks the permission.
	ErrDenied = errors.New("access denied")
	// ErrChecksum means that the bytes do not have the SHA-256 they should have. On a
	// write nothing was stored.
	ErrChecksum = errors.New("wrong sha-256")
	// ErrRange means that a ranged read starts behind the end of the object.
	ErrRange = errors.New("range not satisfiable")
	// ErrChanged means that the object was replaced while it was being read.
	ErrChanged = errors.New("object changed while it was read")
)

// Passes reports whether an error of Client has a cause that passes by itself or once somebody
// makes room: the store cannot be reached, is full, slow, or at fault.
func Passes(err error) bool {
	var response *awshttp.ResponseError
	if errors.As(err, &response) && (response.HTTPStatusCode() >= http.StatusInternalServerError ||
		response.HTTPStatusCode() == http.StatusTooManyRequests || response.HTTPStatusCode() == http.StatusRequestTimeout) {
		return true
	}
	var sent *smithyhttp.RequestSendError
	return errors.As(err, &sent) || full[errorCode(err)]
}

// full are the codes by which stores say that they have no room; their statuses differ.
var full = map[string]bool{"XMinioStorageFull": true, "XAdminBucketQuotaExceeded": true, "QuotaExceeded": true, "InsufficientStorage": true, "EntityTooLargeForQuota": true}

// codes maps S3 error codes to sentinels. Codes that are missing here fall back to
// the HTTP status, because answers to HEAD requests have no body and so no code.
var codes = map[string]error{
	"NoSuchKey":                   ErrNotFound,
	"NoSuchBucket":                ErrNoBucket,
	"PreconditionFailed":          ErrExists,
	"InvalidRange":                ErrRange,
	"BadDigest":                   ErrChecksum,
	"XAmzContentSHA256Mismatch":   ErrChecksum,
	"XAmzContentChecksumMismatch": ErrChecksum,
	"AccessDenied":                ErrDenied,
	"InvalidAccessKeyId":          ErrDenied,
	"SignatureDoesNotMatch":       ErrDenied,
	"InvalidToken":                ErrDenied,
	"ExpiredToken":                ErrDenied,
	"AllAccessDisabled":           ErrDenied,
}

// statuses maps HTTP statuses of answers without a known code.
var statuses = map[int]error{
	http.StatusNotFound:                     ErrNotFound,
	http.StatusForbidden:                    ErrDenied,
	http.StatusUnauthorized:                 ErrDenied,
	http.StatusPreconditionFailed:           ErrExists,
	http.StatusRequestedRangeNotSatisfiable: ErrRange,
}

// wrap returns err as "action s3://bucket/key: condition: cause".
func (c *Client) wrap(action, key string, err error) error {
	if condition := classify(err); condition != nil && !errors.Is(err, condition) {
		return fmt.Errorf("%s %s: %w: %w", action, c.url(key), condition, err)
	}
	return fmt.Errorf("%s %s: %w", action, c.url(key), err)
}

// classify returns the sentinel that err stands for, or nil.
func classify(err error) error {
	if condition, ok := codes[errorCode(err)]; ok {
		return condition
	}
	var response *awshttp.ResponseError
	if errors.As(err, &response) && errorCode(err) != "NoSuchUpload" {
		return statuses[response.HTTPStatusCode()]
	}
	return nil
}

// errorCode returns the S3 error code in err, e.g. "NoSuchKey", or "".
func errorCode(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	return api.ErrorCode()
}
