package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/child"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// launch starts the child on p. It returns as soon as the process exists.
func launch(cfg Config, loc Location, p ports, configFile string) (*child.Process, error) {
	cmd, err := command(cfg, loc, p, configFile)
	if err != nil {
		return nil, err
	}
	deathSignal := syscall.SIGKILL
	if cfg.noDeathSignal {
		deathSignal = 0
	}
	return child.Start("engine", cmd, filepath.Join(cfg.DataDir, "engine.log"), deathSignal)
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
func awaitListening(ctx context.Context, p *child.Process) error {
	const beyondPipeBuffer = 1 << 20
	written := make(chan error, 1)
	guard.Go(func() error {
		_, err := io.WriteString(p.Stdin, strings.Repeat(" ", beyondPipeBuffer-1)+"\n")
		return err
	}, func(err error) { written <- err })
	select {
	case err := <-written:
		if err == nil {
			return nil
		}
		<-p.Done() // nobody reads: the process is ending
		return p.Ended("while starting")
	case <-p.Done():
		return p.Ended("while starting")
	case <-ctx.Done():
		return fmt.Errorf("waiting for the engine to listen: %w; end of its log: %s", context.Cause(ctx), p.LogTail())
	}
}
