// Package child runs other programs beside this process. A child ends when this process ends,
// however that happens, and can be started again whenever it ends by itself.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a running program. Its methods are safe for concurrent use.
type Process struct {
	// Stdin is the program's standard input. Its end asks the program to end; the kernel closes it
	// when this process is killed.
	Stdin io.WriteCloser

	name string
	cmd  *exec.Cmd
	log  log
	done chan struct{} // closed when the program has been waited for
	exit error         // how it ended; valid once done is closed
}

// Start starts cmd and appends what it prints to the log at a path; name is for messages. It gets a
// process group of its own: Ctrl-C in a terminal asks this process to stop, which then stops the
// program when it no longer needs it. deathSignal is what the kernel sends the program when this
// process ends, where the system has that; 0 for none.
func Start(name string, cmd *exec.Cmd, logPath string, deathSignal syscall.Signal) (*Process, error) {
	file, log, err := openLog(logPath)
	if err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	defer file.Close() // the program has its own copy
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = attributes(deathSignal)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the standard input of the %s: %w", name, err)
	}
	p := &Process{Stdin: stdin, name: name, cmd: cmd, log: log, done: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("starting the %s: %w", name, err)
	}
	return p, nil
}

// start runs and waits for the program on one locked thread: Linux sends the death signal when
// the thread that started a child ends, not when the process does.
func (p *Process) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.exit = p.cmd.Wait()
		close(p.done)
	}()
	return <-started
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended describes a program that has ended at the given time, such as "while starting", with the end
// of its log.
func (p *Process) Ended(when string) error {
	how := "exit status 0"
	if p.exit != nil {
		how = p.exit.Error()
	}
	return fmt.Errorf("%s ended %s (%s); end of its log: %s", p.name, when, how, p.LogTail())
}

// LogTail is the end of what the program has printed, as one line.
func (p *Process) LogTail() string { return p.log.tail() }

// Stop asks the program to end and waits until it has. One that still runs when ctx ends is killed,
// which is an error.
func (p *Process) Stop(ctx context.Context) error {
	_ = p.Stdin.Close() // fails only if the program is gone already
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		late := fmt.Errorf("%s did not end in time and was killed: %w", p.name, context.Cause(ctx))
		return errors.Join(late, p.Kill())
	}
}

// Kill kills the program and whatever it started, and waits for its end.
func (p *Process) Kill() error {
	if err := syscall.Kill(-p.PID(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing the %s, process %d: %w", p.name, p.PID(), err)
	}
	<-p.done
	return nil
}
