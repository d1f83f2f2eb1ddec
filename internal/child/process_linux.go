package child

import "syscall"

// attributes put a child into a process group of its own, and have the kernel send it a signal when
// the thread that started it ends.
func attributes(deathSignal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: deathSignal}
}
