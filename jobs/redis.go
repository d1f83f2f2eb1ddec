package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// pingTimeout bounds the first contact.
const pingTimeout = 5 * time.Second

// ErrUnreachable means that Redis does not answer or refuses us.
var ErrUnreachable = errors.New("redis is not usable")

// errBadURL does not wrap the parser's error, which repeats the URL and its password.
var errBadURL = errors.New("the redis url is not valid: write redis://[user:password@]host:port[/db], " +
	"or leave it empty for the built-in queue")

// connect opens the Redis of the URL and makes sure that it answers.
func connect(ctx context.Context, rawURL string) (redis.UniversalClient, error) {
	client, err := newClient(rawURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(explain(rawURL, err), client.Close())
	}
	return client, nil
}

// CheckURL returns an error unless the URL is one of a Redis. Nothing is sent.
func CheckURL(rawURL string) error {
	client, err := newClient(rawURL)
	if err != nil {
		return err
	}
	return client.Close()
}

// newClient parses the URL.
func newClient(rawURL string) (redis.UniversalClient, error) {
	if strings.HasPrefix(rawURL, "redis-sentinel:") {
		return newSentinelClient(rawURL)
	}
	options, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, errBadURL
	}
	options.ContextTimeoutEnabled = true
	return redis.NewClient(options), nil
}

// newSentinelClient parses the URL of a Redis behind sentinels.
func newSentinelClient(rawURL string) (redis.UniversalClient, error) {
	option, err := asynq.ParseRedisURI(rawURL)
	if err != nil {
		return nil, errBadURL
	}
	client, ok := option.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, errBadURL
	}
	return client, nil
}

// explain says in one line what is wrong and what to do about it.
func explain(rawURL string, err error) error {
	fix := "start redis there, or leave the redis url empty for the built-in queue"
	switch text := err.Error(); {
	case strings.Contains(text, "AUTH"), strings.Contains(text, "WRONGPASS"), strings.Contains(text, "invalid password"):
		fix = "correct the user and password in the redis url"
	case strings.Contains(text, "DB index"):
		fix = "correct the database number in the redis url"
	case strings.Contains(text, "tls:"), strings.Contains(text, "x509:"):
		fix = "use redis:// for a server without tls, or install its certificate"
	case strings.HasPrefix(rawURL, "rediss:") && !strings.Contains(text, "refused"):
		fix = "the server may not use tls: then write redis://" // which waits, as TLS clients do
	}
	return fmt.Errorf("%w: %s: %w: %s", ErrUnreachable, maskURL(rawURL), err, fix)
}

// maskURL returns the URL with its password, and anything else that could be one,
// replaced.
func maskURL(rawURL string) string {
	if rawURL == "" {
		return "built-in"
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" && u.Path == "" {
		return "(not a url)"
	}
	masked := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		masked.User = url.User("***")
	}
	return strings.Replace(masked.String(), "%2A%2A%2A", "***", 1)
}
