package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"
)

// childCommand is the hidden first argument of a measured part: bench internal-bench
// ROLE TASK, the task being JSON. It answers with JSON values on stdout and ends when
// its stdin does.
const childCommand = "internal-bench"

// productMemoryLimit is the default of ledgerlake's --memory-limit.
const productMemoryLimit = 700 << 20

// exportMemoryLimit is what ledgerlake export takes instead.
const exportMemoryLimit = 448 << 20

// childGrace is how long a child may take to end before it is killed.
const childGrace = 30 * time.Second

// The roles of children.
const (
	roleNetwork  = "network"
	roleIngest   = "ingest"
	roleBaseline = "baseline"
	roleExport   = "export"
	roleCommands = "commands"
)

// childMain is main of a child process.
func childMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%s is started by bench itself", childCommand)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, err := io.Copy(io.Discard, stdin)
		cancel(errors.Join(errors.New("asked to end"), err))
	}()
	answer := json.NewEncoder(stdout)
	switch role, task := args[0], []byte(args[1]); role {
	case roleNetwork:
		return runRole(ctx, task, answer, serveNetwork)
	case roleIngest:
		debug.SetMemoryLimit(productMemoryLimit)
		return runRole(ctx, task, answer, ingestHistory)
	case roleBaseline:
		return runRole(ctx, task, answer, loadRawJSON)
	case roleExport:
		debug.SetMemoryLimit(exportMemoryLimit)
		return runRole(ctx, task, answer, exportHistory)
	case roleCommands:
		return runRole(ctx, task, answer, executeTransfers)
	default:
		return fmt.Errorf("there is no part named %q", role)
	}
}

// runRole decodes the task and runs the role, which answers through its last argument.
func runRole[T any](ctx context.Context, raw []byte, out *json.Encoder, role func(context.Context, T, func(any) error) error) error {
	var task T
	if err := json.Unmarshal(raw, &task); err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	return role(ctx, task, out.Encode)
}

// child is a running part.
type child struct {
	role    string
	cmd     *exec.Cmd
	stdin   io.Closer
	answers *json.Decoder
}

// startChild starts a part. It is killed when ctx ends and it does not end by itself.
func startChild(ctx context.Context, role string, task any, stderr io.Writer) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding our own executable: %w", err)
	}
	raw, err := json.Marshal(task)
	if err != nil {
		return nil, fmt.Errorf("encoding the task of %s: %w", role, err)
	}
	cmd := exec.CommandContext(ctx, self, childCommand, role, string(raw))
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the stdin of %s: %w", role, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the stdout of %s: %w", role, err)
	}
	cmd.Cancel, cmd.WaitDelay = stdin.Close, childGrace
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", role, err)
	}
	return &child{role: role, cmd: cmd, stdin: stdin, answers: json.NewDecoder(stdout)}, nil
}

// answer reads the next answer. If there is none, the error says how the part ended.
func (c *child) answer(into any) error {
	if err := c.answers.Decode(into); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", c.role, errors.Join(err, c.end()))
	}
	return nil
}

// end asks the part to end and waits for it.
func (c *child) end() error {
	_ = c.stdin.Close() // fails only if it is closed already
	timer := time.AfterFunc(childGrace, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s failed: %w", c.role, err)
	}
	return nil
}

// ask runs a part that gives one answer.
func ask[A any](ctx context.Context, role string, task any, stderr io.Writer) (answer A, err error) {
	c, err := startChild(ctx, role, task, stderr)
	if err != nil {
		return answer, err
	}
	if err := c.answer(&answer); err != nil {
		return answer, err
	}
	return answer, c.end()
}
