package probe

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A full disk is named before anything is started on it.
func TestFullDataFolder(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skip("needs a small file system, which only root may mount: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	full := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o644)
	if !errors.Is(full, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", full)
	}
	err := MakeFolder(dir)
	if err == nil || !strings.HasPrefix(err.Error(), "--data "+dir+": the disk is full: free some space, or name a folder on another: ") {
		t.Errorf("a full disk: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A port that a user may not have can't be tried where tests run as root.
func TestPrivilegedPort(t *testing.T) {
	const want = "--listen 0.0.0.0:80: this user may not listen on port 80: choose one above 1023"
	if err := ExplainListen("0.0.0.0:80", "listen", &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EACCES)}); err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
