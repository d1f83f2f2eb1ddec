package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockTimeout is how long a start waits for the lock: the threads of a killed owner
// end one by one, and the last of them releases it.
const lockTimeout = 500 * time.Millisecond

// lockFile is locked by the process that uses a data folder, and has its id.
const lockFile = "engine.lock"

// lockFolder takes the data folder for this process, or returns an error that wraps
// ErrInUse and names the owner. The caller releases it with Unlock.
func lockFolder(ctx context.Context, dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path)
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	ok, err := lock.TryLockContext(waiting, 20*time.Millisecond)
	if err != nil && !errors.Is(err, waiting.Err()) {
		return nil, fmt.Errorf("locking data folder %s: %w", dir, err)
	}
	if ctx.Err() != nil {
		if ok {
			err = lock.Unlock()
		}
		return nil, errors.Join(fmt.Errorf("locking data folder %s: %w", dir, context.Cause(ctx)), err)
	}
	if !ok {
		return nil, errors.Join(inUse(dir, path), lock.Close())
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return nil, errors.Join(fmt.Errorf("writing our process id: %w", err), lock.Unlock())
	}
	return lock, nil
}

// CheckFree returns an error that wraps ErrInUse if another process uses a data folder. It makes
// nothing, and takes nothing for longer than it looks.
func CheckFree(ctx context.Context, dir string) error {
	if !isFile(filepath.Join(dir, lockFile)) {
		return nil
	}
	lock, err := lockFolder(ctx, dir)
	if err != nil {
		return err
	}
	return lock.Unlock()
}

func inUse(dir, path string) error {
	return fmt.Errorf("%w: %s uses %s: stop it, or give another --data", ErrInUse, owner(path), dir)
}

// owner names the process in a lock file, for a message.
func owner(path string) string {
	text, err := os.ReadFile(path)
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || convErr != nil {
		return "another ledgerlake" // it has the lock and is about to write its id
	}
	return "another ledgerlake (pid " + strconv.Itoa(pid) + ")"
}

// awaitPredecessor waits until no engine has the store open. The owner of the lock and
// its engine do not end at the same instant, so after a kill the folder can be free
// while the old engine still holds its own lock, the file store/status.
func awaitPredecessor(ctx context.Context, dir string) error {
	path := filepath.Join(dir, "store", "status")
	if !isFile(path) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	lock := flock.New(path)
	ok, err := lock.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waiting for the previous engine on %s: %w", dir, err)
	}
	if !ok {
		return fmt.Errorf("%w: an engine whose owner is gone still runs on data folder %s (see %s); stop it or use another --data", ErrInUse, dir, path)
	}
	return lock.Unlock()
}
