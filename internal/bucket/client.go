package bucket

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Names of the metadata kept with every object.
const (
	metaSHA256 = "sha256"   // hex, over the whole object
	metaWrite  = "write-id" // random, tells our own write from another's, see wroteIt
)

// Client reads and writes the objects of one bucket. It is safe for concurrent use.
type Client struct {
	cfg Config
	s3  *s3.Client
	// parts holds one token per part buffer in use, which bounds the memory of uploads;
	// buffers are those at rest.
	parts   chan struct{}
	buffers sync.Pool
}

// Object describes a stored object.
type Object struct {
	// Key is without the configured prefix.
	Key string
	// Size is the length of the whole object in bytes.
	Size int64
	// ETag is the store's tag without quotes. It is not a digest of known kind.
	ETag string
	// SHA256 is over the whole object, as given when it was stored. It is zero for
	// objects that another program stored and in the results of List.
	SHA256 [32]byte
	// ContentType is empty in the results of List.
	ContentType string
	// Modified is when the object was stored, by the store's clock, in UTC.
	Modified time.Time
}

// New returns a client for the bucket of cfg. It sends nothing: use EnsureBucket or
// Head to find out whether the store answers. ctx is used for looking up keys when
// cfg has none.
func New(ctx context.Context, cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	provider, err := credentialsOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Client{
		cfg:   cfg,
		s3:    s3.New(options(cfg, provider)),
		parts: make(chan struct{}, partBuffers),
	}, nil
}

// options are the SDK's settings. They are given in full and not loaded, so that
// nothing in the environment changes where a configured client writes to.
func options(cfg Config, provider aws.CredentialsProvider) s3.Options {
	o := s3.Options{
		Region:       cfg.Region,
		Credentials:  provider,
		HTTPClient:   newHTTPClient(cfg.Timeouts),
		Retryer:      newRetryer(cfg.MaxAttempts),
		UsePathStyle: cfg.PathStyle,
		// Every write names its SHA-256 itself, and a full read is checked against it.
		RequestChecksumCalculation:                aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation:                aws.ResponseChecksumValidationWhenRequired,
		DisableLogOutputChecksumValidationSkipped: true,
	}
	if cfg.Endpoint != "" {
		o.BaseEndpoint = aws.String(cfg.Endpoint)
	}
	return o
}

// credentialsOf returns the configured keys, else what the SDK's chain finds.
func credentialsOf(ctx context.Context, cfg Config) (aws.CredentialsProvider, error) {
	if cfg.AccessKey != "" {
		return credentials.NewStaticCredentialsProvider(cfg.AccessKey, cfg.SecretKey, ""), nil
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(cfg.Region))
	if err != nil {
		return nil, fmt.Errorf("bucket: looking up keys for bucket %s: %w", cfg.Bucket, err)
	}
	return loaded.Credentials, nil
}

// EnsureBucket creates the bucket unless it exists.
func (c *Client) EnsureBucket(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	err := c.CheckBucket(ctx)
	if !errors.Is(err, ErrNoBucket) {
		return err
	}
	return c.createBucket(ctx)
}

// CheckBucket returns ErrNoBucket unless the bucket exists. It makes nothing.
func (c *Client) CheckBucket(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	_, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &c.cfg.Bucket})
	if err == nil {
		return nil
	}
	if errors.Is(classify(err), ErrNotFound) { // an answer to HEAD has no code
		return fmt.Errorf("looking for bucket %s: %w", c.url(""), ErrNoBucket)
	}
	return c.wrap("looking for bucket", "", err)
}

// createBucket creates the bucket. That somebody else just did so for us is fine.
func (c *Client) createBucket(ctx context.Context) error {
	in := &s3.CreateBucketInput{Bucket: &c.cfg.Bucket}
	if c.cfg.Region != "us-east-1" { // which must not be named
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(c.cfg.Region),
		}
	}
	_, err := c.s3.CreateBucket(ctx, in)
	if err != nil && errorCode(err) != "BucketAlreadyOwnedByYou" {
		return c.wrap("creating bucket", "", err)
	}
	return nil
}

// Head describes the object, or returns ErrNotFound.
func (c *Client) Head(ctx context.Context, key string) (Object, error) {
	out, err := c.head(ctx, key)
	if err != nil {
		return Object{}, err
	}
	return Object{
		Key:         key,
		Size:        aws.ToInt64(out.ContentLength),
		ETag:        trimETag(out.ETag),
		SHA256:      sumOf(out.Metadata),
		ContentType: aws.ToString(out.ContentType),
		Modified:    aws.ToTime(out.LastModified).UTC(),
	}, nil
}

// head returns the store's answer as it is.
func (c *Client) head(ctx context.Context, key string) (*s3.HeadObjectOutput, error) {
	if err := checkKey(c.cfg.Prefix + key); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	out, err := c.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.cfg.Bucket, Key: c.key(key)})
	if err != nil {
		return nil, c.wrap("looking for", key, err)
	}
	return out, nil
}

// Delete removes the object. A missing one is no error.
func (c *Client) Delete(ctx context.Context, key string) error {
	if err := checkKey(c.cfg.Prefix + key); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Call)
	defer cancel()
	_, err := c.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.cfg.Bucket, Key: c.key(key)})
	if err != nil && !errors.Is(classify(err), ErrNotFound) {
		return c.wrap("deleting", key, err)
	}
	return nil
}

// key returns the key as the store knows it.
func (c *Client) key(key string) *string { return aws.String(c.cfg.Prefix + key) }

// URL names an object to other programs, such as "s3://lake/mainnet/updates/v1/part.parquet".
func (c *Client) URL(key string) string { return c.url(key) }

// url names an object, or with key "" the bucket, in messages.
func (c *Client) url(key string) string {
	return strings.TrimSuffix("s3://"+c.cfg.Bucket+"/"+c.cfg.Prefix+key, "/")
}

func trimETag(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

// sumOf returns the SHA-256 kept in an object's metadata, or zero if there is none.
func sumOf(metadata map[string]string) [32]byte {
	var sum [32]byte
	raw, err := hex.DecodeString(metadata[metaSHA256])
	if err == nil && len(raw) == len(sum) {
		copy(sum[:], raw)
	}
	return sum
}
