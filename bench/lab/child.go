package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// ChildCommand is the hidden first argument of a measured part: bench internal-bench
// ROLE TASK, the task being JSON. It answers with JSON values on stdout and ends when
// its stdin does.
const ChildCommand = "internal-bench"

// childGrace is how long a child may take to end before it is killed.
const childGrace = 30 * time.Second

// Role is what a child does: it reads its task, which is JSON, and answers with values that are
// encoded as JSON.
type Role func(ctx context.Context, task []byte, answer func(any) error) error

// RoleOf is a role whose tasks are of type T.
func RoleOf[T any](run func(ctx context.Context, task T, answer func(any) error) error) Role {
	return func(ctx context.Context, raw []byte, answer func(any) error) error {
		var task T
		if err := json.Unmarshal(raw, &task); err != nil {
			return fmt.Errorf("reading the task: %w", err)
		}
		return run(ctx, task, answer)
	}
}

// ChildMain is main of a child process, which has one of some roles.
func ChildMain(ctx context.Context, args []string, roles map[string]Role, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("%s is started by bench itself", ChildCommand)
	}
	run := roles[args[0]]
	switch args[0] {
	case roleNetwork:
		run = RoleOf(serveNetwork)
	case RoleIngest:
		run = RoleOf(ingestHistory)
	}
	if run == nil {
		return fmt.Errorf("there is no part named %q", args[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, err := io.Copy(io.Discard, stdin)
		cancel(errors.Join(errors.New("asked to end"), err))
	}()
	return run(ctx, []byte(args[1]), json.NewEncoder(stdout).Encode)
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
	cmd := exec.CommandContext(ctx, self, ChildCommand, role, string(raw))
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

// Ask runs a part that gives one answer.
func Ask[A any](ctx context.Context, role string, task any, stderr io.Writer) (answer A, err error) {
	c, err := startChild(ctx, role, task, stderr)
	if err != nil {
		return answer, err
	}
	if err := c.answer(&answer); err != nil {
		return answer, err
	}
	return answer, c.end()
}
