//go:build !linux

package bucket

import "syscall"

// childAttr keeps a Ctrl-C in the terminal from the child: the parent may still have
// objects to write. That the parent died the child sees from its standard input.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
