//go:build !linux

package child

import "syscall"

// attributes put a child into a process group of its own. That this process has ended it learns
// from its standard input.
func attributes(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
