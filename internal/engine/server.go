package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// server is one run of the child process.
type server struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   *logFile
	done  chan struct{} // closed when the process has been waited for
	exit  error         // how it ended; valid once done is closed

	logClosed sync.Once
}

// closeLog closes the log; closing it twice is fine.
func (s *server) closeLog() (err error) {
	s.logClosed.Do(func() { err = s.log.Close() })
	return err
}

// launch starts the child on p. It returns as soon as the process exists.
func launch(cfg Config, loc Location, p ports, configFile string) (*server, error) {
	log, err := openLog(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	cmd, err := command(cfg, loc, p, configFile)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	cmd.Stdout, cmd.Stderr = log.File, log.File
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the engine's stdin: %w", err), log.Close())
	}
	s := &server{cmd: cmd, stdin: stdin, log: log, done: make(chan struct{})}
	if err := s.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting engine %s: %w", loc.Path, err), log.Close())
	}
	return s, nil
}

// start runs and waits for the process on one locked thread: Linux sends the parent
// death signal when the thread that started a child ends, not when the process does.
func (s *server) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		s.exit = s.cmd.Wait()
		close(s.done)
	}()
	return <-started
}

func command(cfg Config, loc Location, p ports, configFile string) (*exec.Cmd, error) {
	args := serverArgs(cfg.DataDir, p, configFile)
	var cmd *exec.Cmd
	if loc.Binary {
		cmd = exec.Command(loc.Path, append([]string{"local"}, args...)...)
	} else {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding our own executable: %w", err)
		}
		leading := append(append([]string{}, cfg.Child...), loc.Path)
		cmd = exec.Command(self, append(leading, args...)...)
	}
	cmd.Dir = cfg.DataDir
	cmd.Env = childEnv(os.Environ(), cfg.DataDir)
	isolate(cmd, !cfg.noDeathSignal)
	return cmd, nil
}

// serverArgs make a command line tool into a server. Its last query ends when stdin
// does, and the process with it.
func serverArgs(dataDir string, p ports, configFile string) []string {
	args, listen := []string{
		"--config-file=" + configFile,
		"--path=" + storeDir(dataDir),
		"--listen_host=" + p.host,
		"--tcp_port=" + strconv.Itoa(p.tcp),
	}, "SYSTEM START LISTEN TCP; "
	if p.http != 0 {
		args = append(args, "--http_port="+strconv.Itoa(p.http))
		listen += "SYSTEM START LISTEN HTTP; "
	}
	return append(args, "--multiquery", "--query", listen+"SELECT count() FROM file('/dev/stdin', LineAsString)")
}

// childEnv is the child's environment: what a process needs to load and run, and
// nothing else, because the engine's table functions would pick up cloud credentials
// and proxies from it.
func childEnv(environ []string, dataDir string) []string {
	keep := map[string]bool{"PATH": true, "LD_LIBRARY_PATH": true, "DYLD_LIBRARY_PATH": true, "TMPDIR": true, "SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "GOCOVERDIR": true}
	debug := noAsyncPreemption
	env := []string{"TZ=UTC", "LC_ALL=C.UTF-8", "HOME=" + dataDir}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if keep[name] {
			env = append(env, kv)
		}
		if name == "GODEBUG" && value != "" {
			debug = value + "," + debug
		}
	}
	return append(env, "GODEBUG="+debug)
}

// awaitListening returns nil once both listeners are open and the query that keeps the
// engine alive runs, else an error when the process ended or ctx did.
//
// It sends a line longer than any pipe buffers. The write is over when that last query
// has read from it, and the listeners were opened before.
func (s *server) awaitListening(ctx context.Context) error {
	const beyondPipeBuffer = 1 << 20
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(s.stdin, strings.Repeat(" ", beyondPipeBuffer-1)+"\n")
		written <- err
	}()
	select {
	case err := <-written:
		if err == nil {
			return nil
		}
		<-s.done // nobody reads: the process is ending
		return s.ended("while starting")
	case <-s.done:
		return s.ended("while starting")
	case <-ctx.Done():
		return fmt.Errorf("waiting for the engine to listen: %w; end of its log: %s", context.Cause(ctx), s.log.tail())
	}
}

// ended describes a process that is no more, with the end of its log.
func (s *server) ended(when string) error {
	how := "exit status 0"
	if s.exit != nil {
		how = s.exit.Error()
	}
	return fmt.Errorf("engine ended %s (%s); end of its log: %s", when, how, s.log.tail())
}

// stop ends the process: cleanly within ctx by the end of stdin, else by a kill, which
// it reports. The log is closed afterwards.
func (s *server) stop(ctx context.Context) error {
	_ = s.stdin.Close() // fails only if the process is gone already
	select {
	case <-s.done:
		return s.closeLog()
	case <-ctx.Done():
		late := fmt.Errorf("engine did not end in time and was killed: %w", context.Cause(ctx))
		return errors.Join(late, s.abort())
	}
}

// abort kills the process, if it still runs; for starts that failed.
func (s *server) abort() error {
	if err := s.terminate(); err != nil {
		return err
	}
	return s.closeLog()
}

// terminate kills the process and waits for its end.
func (s *server) terminate() error {
	if err := kill(s.cmd); err != nil {
		return fmt.Errorf("killing engine process %d: %w", s.cmd.Process.Pid, err)
	}
	<-s.done
	return nil
}
