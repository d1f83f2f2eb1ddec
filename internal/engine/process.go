//go:build unix

package engine

import (
	"errors"
	"os/exec"
	"syscall"
)

const errAddrInUse = syscall.EADDRINUSE

// isolate keeps signals that a terminal sends to our process group away from the
// child: Ctrl-C asks us to stop, and we then stop the engine when we are done with it.
func isolate(cmd *exec.Cmd, deathSignal bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if deathSignal {
		setDeathSignal(cmd.SysProcAttr)
	}
}

// kill ends the child and whatever it started.
func kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil // it has ended already
	}
	return err
}
