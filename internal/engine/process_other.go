//go:build unix && !linux

package engine

import "syscall"

// setDeathSignal does nothing: without a parent death signal the end of stdin is what
// ends the child.
func setDeathSignal(*syscall.SysProcAttr) {}
