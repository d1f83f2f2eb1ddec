package jobs_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// startRedis runs a real redis-server until the test ends and returns its URL. Without
// the program the test is skipped, but fails where CI is set.
func startRedis(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not on PATH")
		}
		t.Skip("redis-server is not on PATH: install it to run this test")
	}
	port := freePort(t)
	cmd := exec.Command(program, append([]string{
		"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--loglevel", "warning",
	}, args...)...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
	})
	url := fmt.Sprintf("redis://127.0.0.1:%d", port)
	awaitRedis(t, fmt.Sprintf("127.0.0.1:%d", port))
	return url
}

// awaitRedis waits until the server answers, if only to ask for a password.
func awaitRedis(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1})
	defer client.Close()
	for {
		err := client.Ping(ctx).Err()
		if err == nil || redis.HasErrorPrefix(err, "NOAUTH") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("redis-server at %s does not answer: %v", address, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
