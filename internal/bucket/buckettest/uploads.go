package buckettest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

// Raw is the store without our client.
func Raw(cfg bucket.Config) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &cfg.Endpoint, UsePathStyle: cfg.PathStyle,
		Credentials: credentials.NewStaticCredentialsProvider(cfg.AccessKey, cfg.SecretKey, ""),
	})
}

// OpenUpload opens a multipart upload and leaves it, as a crash does.
func OpenUpload(t *testing.T, cfg bucket.Config, key string) {
	t.Helper()
	_, err := Raw(cfg).CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &cfg.Bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
}

// Uploads lists the keys of all open uploads.
func Uploads(t *testing.T, cfg bucket.Config) []string {
	t.Helper()
	out, err := Raw(cfg).ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &cfg.Bucket})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, u := range out.Uploads {
		keys = append(keys, aws.ToString(u.Key))
	}
	return keys
}
