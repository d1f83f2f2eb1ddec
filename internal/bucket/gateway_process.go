package bucket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// childEnv marks the child process. A program that does not run GatewayMain under
// GatewayCommand would start itself over and over without it.
const childEnv = "LEDGERLAKE_S3_GATEWAY_CHILD"

// maxLogBytes is the size above which the log is put aside at the next start.
const maxLogBytes = 8 << 20

// child is the gateway's process as its parent sees it.
type child struct {
	pid     int
	done    chan struct{} // closed when the process has ended
	exit    error         // valid once done is closed
	stdin   io.Closer     // its end tells the child to stop
	process *os.Process
	logPath string
	logFrom int64       // where this start's log begins
	stopped atomic.Bool // by us
}

// startChild starts the gateway's process. It learns its keys from standard input,
// which other users of the machine cannot see, unlike arguments.
func startChild(executable, dir string, port int, lock *os.File, settings gatewaySettings) (*child, error) {
	if os.Getenv(childEnv) != "" {
		return nil, fmt.Errorf("this program was started as %q but does not run bucket.GatewayMain", GatewayCommand)
	}
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding our own program: %w", err)
		}
	}
	log, from, err := openLog(dir)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own copy
	cmd := exec.Command(executable, GatewayCommand, "--data", dir, "--port", strconv.Itoa(port))
	cmd.Env = childEnviron()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lock} // see lockDir
	cmd.SysProcAttr = childAttr()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("connecting to the gateway process: %w", err)
	}
	c := &child{done: make(chan struct{}), stdin: stdin, logPath: log.Name(), logFrom: from}
	if err := c.run(cmd); err != nil {
		return nil, err
	}
	if err := json.NewEncoder(stdin).Encode(settings); err != nil {
		return nil, errors.Join(fmt.Errorf("handing over the keys: %w", err), c.end(0))
	}
	return c, nil
}

// childEnviron is what the child needs of our environment: no more, because ours may
// hold secrets of other parts.
func childEnviron() []string {
	env := []string{childEnv + "=1"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TZ", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// openLog opens the gateway's log for appending and returns its present length.
func openLog(dir string) (*os.File, int64, error) {
	path := filepath.Join(dir, logFile)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		if err := os.Rename(path, filepath.Join(dir, oldLogFile)); err != nil {
			return nil, 0, fmt.Errorf("putting the gateway's log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the gateway's log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("opening the gateway's log: %w", err), file.Close())
	}
	return file, info.Size(), nil
}

// run starts cmd and watches it until it ends. The kernel signals the child when the
// thread that started it ends, not the process, so that thread is kept.
func (c *child) run(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			c.process, c.pid = cmd.Process, cmd.Process.Pid
		}
		started <- err
		if err == nil {
			c.exit = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting the gateway process: %w", err)
	}
	return nil
}

// end asks the process to stop, kills it after patience, and waits until it is gone.
// It returns an error if the process did not end cleanly, unless it was killed at once.
func (c *child) end(patience time.Duration) error {
	select {
	case <-c.done:
		return nil // by itself, which Err tells
	default:
	}
	c.stopped.Store(true)
	_ = c.stdin.Close() // if it is gone already, done will tell
	_ = c.process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(patience):
		_ = c.process.Kill()
		<-c.done
	}
	if patience > 0 && c.exit != nil {
		return fmt.Errorf("stopping the s3 gateway: %w", c.exit)
	}
	return nil
}

// failure says why the process ended by itself, nil if we stopped it. done must be
// closed.
func (c *child) failure() error {
	if c.stopped.Load() {
		return nil
	}
	if line := c.lastLogLine(); line != "" {
		return fmt.Errorf("s3 gateway ended (%w): %s", c.state(), line)
	}
	return fmt.Errorf("s3 gateway ended: %w", c.state())
}

// state is the exit of the process as an error, also if it was 0.
func (c *child) state() error {
	if c.exit == nil {
		return errors.New("exit status 0")
	}
	return c.exit
}

// lastLogLine returns the last line that this process wrote to its log.
func (c *child) lastLogLine() string {
	raw, err := os.ReadFile(c.logPath)
	if err != nil || int64(len(raw)) < c.logFrom {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(raw[c.logFrom:]), []byte("\n"))
	return string(lines[len(lines)-1])
}
