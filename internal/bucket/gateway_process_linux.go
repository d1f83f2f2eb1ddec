package bucket

import "syscall"

// childAttr has the child told to stop when its parent dies, and keeps a Ctrl-C in
// the terminal from it: the parent may still have objects to write.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
