package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// ErrInUse means that another process serves the data folder.
var ErrInUse = errors.New("data folder is in use")

// lockTimeout is how long a start waits for the lock: a gateway whose parent was
// just killed still holds it for the moment that it needs to stop.
const lockTimeout = 2 * time.Second

// lockDir locks the folder for as long as any process has the returned file open.
// The child process inherits it, so the folder stays locked until the process that
// writes to it has ended, even if this one was killed.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening lock file: %w", err)
	}
	if err := flock(ctx, file); err != nil {
		holder := readHolder(file)
		return nil, errors.Join(fmt.Errorf("%w: %s%s", err, dir, holder), file.Close())
	}
	if err := writeHolder(file); err != nil {
		return nil, errors.Join(fmt.Errorf("writing lock file: %w", err), file.Close())
	}
	return file, nil
}

// flock takes the lock, or returns ErrInUse after lockTimeout.
func flock(ctx context.Context, file *os.File) error {
	timeout := time.NewTimer(lockTimeout)
	defer timeout.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timeout.C:
			return ErrInUse
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// writeHolder notes our process id for the message another start will give.
func writeHolder(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt(strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
	return err
}

// readHolder returns " (by process 123)", or "" if the file does not tell.
func readHolder(file *os.File) string {
	var content [20]byte
	n, _ := file.ReadAt(content[:], 0) // io.EOF on success
	pid, err := strconv.Atoi(string(bytes.TrimSpace(content[:n])))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (by process %d)", pid)
}
