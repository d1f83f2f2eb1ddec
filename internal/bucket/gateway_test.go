package bucket_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
)

// holdCommand has this test program start a gateway, print its process id and wait.
const holdCommand = "hold-gateway"

// holdIfChild runs holdCommand with the data folder that follows it.
func holdIfChild() {
	if len(os.Args) < 3 || os.Args[1] != holdCommand {
		return
	}
	cfg := bucket.GatewayConfig{DataDir: os.Args[2], Log: discard()}
	g, err := bucket.StartGateway(context.Background(), cfg)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(g.PID())
	select {}
}

func TestGatewayEndsWhenItsParentIsKilled(t *testing.T) {
	dir := t.TempDir()
	parent := exec.Command(os.Args[0], holdCommand, dir)
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(bufio.NewReader(stdout), &pid); err != nil {
		t.Fatalf("the parent started no gateway: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // says that it was killed
	deadline := time.Now().Add(5 * time.Second)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("the gateway, process %d, outlived its parent", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
	buckettest.GatewayIn(t, dir) // the folder is free
}

// alive reports whether the process exists and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z ")) // no /proc on this system: trust the signal
}

// A gateway that is killed is started again at the same endpoint, and its clients go on.
func TestGatewayIsStartedAgain(t *testing.T) {
	dir := t.TempDir()
	g := start(t, dir)
	c := buckettest.Open(t, g.Config("lake"))
	buckettest.Put(t, c, "a/k", "kept")
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		pid := g.PID()
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
		awaitOther(t, g, pid)
		buckettest.Put(t, c, "a/"+signal.String(), "put afterwards")
		o, err := c.Head(t.Context(), "a/k")
		if err != nil || o.SHA256 != sha256.Sum256([]byte("kept")) {
			t.Errorf("after %s: %+v, %v", signal, o, err)
		}
	}
	if err := g.Err(); err != nil {
		t.Errorf("Err of a gateway that runs again: %v", err)
	}
}

// awaitOther waits until g runs as another process than pid, or is given up.
func awaitOther(t *testing.T, g *bucket.Gateway, pid int) {
	t.Helper()
	for began := time.Now(); g.PID() == pid && g.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("no other gateway a minute after process %d ended", pid)
		}
	}
}

// A gateway that ends again and again is given up, and its objects are kept.
func TestGatewayThatKeepsEndingIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	g := start(t, dir)
	c := buckettest.Open(t, g.Config("lake"))
	buckettest.Put(t, c, "a/k", "kept")
	for g.Err() == nil {
		pid := g.PID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		awaitOther(t, g, pid)
	}
	if err := g.Err(); !strings.Contains(err.Error(), "5 times within 1m0s") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("after five kills: %v, want an error that says so", err)
	}
	if err := g.Close(); err != nil {
		t.Errorf("closing a killed gateway: %v", err)
	}
	again := buckettest.Open(t, buckettest.GatewayIn(t, dir).Config("lake"))
	o, err := again.Head(t.Context(), "a/k")
	if err != nil || o.SHA256 != sha256.Sum256([]byte("kept")) {
		t.Errorf("after a restart: %+v, %v", o, err)
	}
}

func TestDamagedObjectIsErrChecksum(t *testing.T) {
	dir := t.TempDir()
	c := buckettest.Open(t, buckettest.GatewayIn(t, dir).Config("lake"))
	buckettest.Put(t, c, "a/k", "0123456789")
	if err := os.WriteFile(filepath.Join(dir, "objects", "lake", "a", "k"), []byte("0123456788"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := c.Get(t.Context(), "a/k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, bucket.ErrChecksum) {
		t.Errorf("reading an object whose file was changed: %v, want ErrChecksum", err)
	}
}

func TestGatewayProgramThatIsNone(t *testing.T) {
	_, err := bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: t.TempDir(), Log: discard(), Executable: "/bin/false"})
	if err == nil || !strings.Contains(err.Error(), "s3 gateway") {
		t.Errorf("start of a program that is no gateway: %v", err)
	}
}

func TestGatewayFolderInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buckettest.GatewayIn(t, dir)
	_, err := bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: dir, Log: discard()})
	want := fmt.Sprintf("starting the s3 gateway: data folder is in use: %s (by process %d)", dir, os.Getpid())
	if !errors.Is(err, bucket.ErrInUse) || err.Error() != want {
		t.Errorf("second gateway on one folder: %v, want %s", err, want)
	}
}

func TestGatewayKeepsItsKeys(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := first.Err(); err != nil {
		t.Errorf("after Close: %v", err)
	}
	second := buckettest.GatewayIn(t, dir)
	if first.AccessKey != second.AccessKey || first.SecretKey != second.SecretKey {
		t.Error("a restart changed the keys")
	}
	if other := buckettest.Gateway(t); other.SecretKey == second.SecretKey {
		t.Error("two folders have the same secret")
	}
}

func TestGatewayHidesItsSecret(t *testing.T) {
	dir := t.TempDir()
	g := buckettest.GatewayIn(t, dir)
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v %s", g, g, g, g), g.LogValue().String()} {
		if strings.Contains(printed, g.SecretKey) {
			t.Errorf("printed with its secret: %s", printed)
		}
	}
	wantPrivate(t, dir)
	if runtime.GOOS != "linux" {
		t.Skip("no /proc to look at arguments and environment in")
	}
	for _, name := range []string{"cmdline", "environ"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", g.PID(), name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(g.SecretKey)) {
			t.Errorf("the secret is in the gateway's %s", name)
		}
	}
}

// wantPrivate checks that nobody but the owner may open anything in the folder.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"gateway.json", "gateway.log", "LOCK", "objects"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v", name, info.Mode())
		}
	}
}

func TestGatewayListensOnLoopbackOnly(t *testing.T) {
	g := buckettest.Gateway(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(g.Endpoint, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, address := range addresses {
		ip, ok := address.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		tried++
		dialer := net.Dialer{Timeout: time.Second}
		if conn, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(ip.IP.String(), port)); err == nil {
			_ = conn.Close()
			t.Errorf("the gateway answers on %s", ip.IP)
		}
	}
	if tried == 0 {
		t.Skip("this machine has no address but the loopback one")
	}
}

func TestGatewayPortTaken(t *testing.T) {
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	_, err = bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: dir, Port: port, Log: discard()})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("start on a taken port: %v, want an error that says so", err)
	}
	buckettest.GatewayIn(t, dir) // a failed start leaves the folder free
}

func TestGatewayFinishesRequestsOnClose(t *testing.T) {
	g := start(t, t.TempDir())
	c := buckettest.Open(t, g.Config("lake"))
	content := bytes.Repeat([]byte("x"), 4<<20)
	body := &slowBody{ReadSeeker: bytes.NewReader(content), started: make(chan struct{})}
	result := make(chan error, 1)
	go func() {
		result <- c.Put(t.Context(), "k", body, int64(len(content)), sha256.Sum256(content), "")
	}()
	<-body.started
	if err := g.Close(); err != nil {
		t.Errorf("closing with a request open: %v", err)
	}
	if err := <-result; err != nil {
		t.Errorf("the request that was open: %v", err)
	}
}

// slowBody takes about half a second to be read.
type slowBody struct {
	io.ReadSeeker
	started chan struct{}
	reads   int
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.reads++; b.reads == 10 { // the head of the request has long arrived
		close(b.started)
	}
	time.Sleep(4 * time.Millisecond)
	return b.ReadSeeker.Read(p[:min(len(p), 32<<10)])
}

func TestGatewayWithDamagedSettings(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gateway.json"), []byte(`{"access_key":"a","secret_key":"hush`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: dir, Log: discard()})
	if err == nil || !strings.Contains(err.Error(), "damaged") || strings.Contains(err.Error(), "hush") {
		t.Errorf("start with damaged settings: %v", err)
	}
}

// start starts a gateway that the test ends itself.
func start(t *testing.T, dir string) *bucket.Gateway {
	t.Helper()
	g, err := bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: dir, Log: buckettest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // for a test that failed before it did
	return g
}
