package bucket

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/child"
)

// childEnv marks the child process. A program that does not run GatewayMain under
// GatewayCommand would start itself over and over without it.
const childEnv = "LEDGERLAKE_S3_GATEWAY_CHILD"

// startChild starts the gateway's process. It learns its keys from standard input,
// which other users of the machine cannot see, unlike arguments.
func (g *Gateway) startChild() (*child.Process, error) {
	if os.Getenv(childEnv) != "" {
		return nil, fmt.Errorf("this program was started as %q but does not run bucket.GatewayMain", GatewayCommand)
	}
	executable := g.executable
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding our own program: %w", err)
		}
	}
	cmd := exec.Command(executable, GatewayCommand, "--data", g.dir, "--port", strconv.Itoa(g.port))
	cmd.Env = childEnviron()
	cmd.ExtraFiles = []*os.File{g.lock} // see lockDir
	p, err := child.Start("s3 gateway", cmd, filepath.Join(g.dir, logFile), syscall.SIGTERM)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(p.Stdin).Encode(g.settings); err != nil {
		return nil, errors.Join(fmt.Errorf("handing over the keys: %w", err), p.Kill())
	}
	return p, nil
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
