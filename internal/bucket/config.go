package bucket

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// Sizes of multipart uploads, in bytes. S3 refuses parts below MinPartSize (but for
// the last one) and uploads of more than maxParts parts.
const (
	MinPartSize     = 5 << 20
	DefaultPartSize = 8 << 20
	maxParts        = 10_000
	// partBuffers is how many parts a client holds in memory at most, over all its uploads.
	partBuffers = 4
)

// Config says which bucket a Client works on.
type Config struct {
	// Endpoint is the base URL of the store, e.g. "http://127.0.0.1:9000". Empty means
	// AWS itself. It must not carry a user name or password.
	Endpoint string
	// Region defaults to "us-east-1".
	Region string
	// Bucket is the name of the bucket, required.
	Bucket string
	// AccessKey and SecretKey sign the requests. With both empty the SDK's own chain
	// looks for keys: environment, shared files, role of the machine or pod.
	AccessKey string
	SecretKey string `json:"-" yaml:"-"`
	// PathStyle puts the bucket into the path and not into the host name. Most stores
	// other than AWS need it.
	PathStyle bool
	// Prefix is put before every key, e.g. "mainnet/". Callers never see it. A missing
	// slash at its end is added.
	Prefix string
	// Timeouts bound the waits, see there.
	Timeouts Timeouts
	// MaxAttempts is how often a request is sent at most, the first included; waits
	// between attempts grow and are jittered. Defaults to 6.
	MaxAttempts int
	// PartSize is the size in bytes above which an object is sent in parts, and of the
	// parts. Defaults to DefaultPartSize, at least MinPartSize.
	PartSize int64
}

// Timeouts are the waits that a Client accepts. Zero fields take the default.
type Timeouts struct {
	// Connect is for a new connection, TLS included. Defaults to 5 s.
	Connect time.Duration
	// Stall ends a transfer of which no byte moved in either direction for that long.
	// A transfer as a whole has no limit but the caller's context. Defaults to 2 min.
	Stall time.Duration
	// Call is for a whole request that moves no object (head, one page of a list,
	// delete), with all attempts. Defaults to 30 s.
	Call time.Duration
}

// String returns the configuration with the secret masked.
func (c Config) String() string {
	return fmt.Sprintf("endpoint=%s region=%s bucket=%s prefix=%s access_key=%s secret_key=%s",
		c.Endpoint, c.Region, c.Bucket, c.Prefix, c.AccessKey, mask(c.SecretKey))
}

// GoString is String, so that %#v does not reveal the secret either.
func (c Config) GoString() string { return "bucket.Config{" + c.String() + "}" }

// LogValue implements slog.LogValuer with the secret masked.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("endpoint", c.Endpoint),
		slog.String("region", c.Region),
		slog.String("bucket", c.Bucket),
		slog.String("prefix", c.Prefix),
		slog.String("access_key", c.AccessKey),
		slog.String("secret_key", mask(c.SecretKey)),
	)
}

// mask shows only whether a secret is set, not even its length.
func mask(secret string) string {
	if secret == "" {
		return ""
	}
	return "***"
}

// withDefaults returns c with empty fields filled in.
func (c Config) withDefaults() Config {
	c.Region = cmp.Or(c.Region, "us-east-1")
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 6)
	c.PartSize = cmp.Or(c.PartSize, DefaultPartSize)
	c.Timeouts.Connect = cmp.Or(c.Timeouts.Connect, 5*time.Second)
	c.Timeouts.Stall = cmp.Or(c.Timeouts.Stall, 2*time.Minute)
	c.Timeouts.Call = cmp.Or(c.Timeouts.Call, 30*time.Second)
	if c.Prefix != "" && !strings.HasSuffix(c.Prefix, "/") {
		c.Prefix += "/"
	}
	return c
}

// validate refuses a configuration that cannot work. It expects defaults filled in.
func (c Config) validate() error {
	if c.Bucket == "" {
		return errors.New("bucket: no bucket name given")
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		return errors.New("bucket: access key and secret key must be given together, or neither of them")
	}
	if c.MaxAttempts < 1 {
		return fmt.Errorf("bucket: max attempts %d must be positive", c.MaxAttempts)
	}
	if c.PartSize < MinPartSize {
		return fmt.Errorf("bucket: part size %d is below the %d bytes that S3 accepts", c.PartSize, MinPartSize)
	}
	if c.Prefix != "" {
		if err := checkKey(strings.TrimSuffix(c.Prefix, "/")); err != nil {
			return fmt.Errorf("bucket: prefix: %w", err)
		}
	}
	return checkEndpoint(c.Endpoint)
}

// checkEndpoint accepts "" and absolute http and https URLs without credentials. Its
// errors do not repeat the endpoint, which may hold a password.
func checkEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("bucket: endpoint must be a URL like http://127.0.0.1:9000 or https://s3.example.com")
	}
	if u.User != nil {
		return errors.New("bucket: endpoint must not hold a user name or password: use the access key and secret key")
	}
	return nil
}
