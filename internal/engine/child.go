package engine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ChildCommand is the hidden first argument by which our binary knows that it is to be
// the engine: ledgerlake internal-engine LIBRARY ARGUMENT...
const ChildCommand = "internal-engine"

// noAsyncPreemption has to be in the child's GODEBUG. The Go runtime preempts with
// signals, which interrupt the engine's system calls and land on threads and stacks
// that Go knows nothing of.
const noAsyncPreemption = "asyncpreemptoff=1"

// ChildMain is main of the child process: it loads the library args[0] and runs the
// engine with the remaining arguments until stdin ends. It returns the exit code, and
// tells on stderr what went wrong. Start runs it; nothing else has to.
func ChildMain(args []string) int {
	if err := runChild(args); err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		return 1
	}
	return 0
}

func runChild(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s is started by ledgerlake itself and needs a library", ChildCommand)
	}
	if !strings.Contains(os.Getenv("GODEBUG"), noAsyncPreemption) {
		return fmt.Errorf("%s needs GODEBUG=%s", ChildCommand, noAsyncPreemption)
	}
	runtime.LockOSThread() // the library keeps state per thread
	run, err := loadLibrary(args[0])
	if err != nil {
		return err
	}
	return run(append([]string{binaryName}, args[1:]...))
}

// loadLibrary returns the library's command line entry point as a Go function.
func loadLibrary(path string) (func(argv []string) error, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("loading library %s: %w", path, err)
	}
	var (
		query       func(argc int32, argv unsafe.Pointer) uintptr
		resultError func(result uintptr) string
	)
	for _, symbol := range []struct {
		name string
		fn   any
	}{{"chdb_query_cmdline", &query}, {"chdb_result_error", &resultError}} {
		sym, err := purego.Dlsym(lib, symbol.name)
		if err != nil {
			return nil, fmt.Errorf("library %s has no %s: %w", path, symbol.name, err)
		}
		purego.RegisterFunc(symbol.fn, sym)
	}
	return func(argv []string) error {
		ptrs, keep := cStrings(argv)
		result := query(int32(len(argv)), unsafe.Pointer(&ptrs[0]))
		runtime.KeepAlive(ptrs)
		runtime.KeepAlive(keep)
		if result == 0 {
			return fmt.Errorf("the engine in %s returned no result", path)
		}
		if msg := resultError(result); msg != "" {
			return fmt.Errorf("the engine ended with: %s", msg)
		}
		return nil
	}, nil
}

// cStrings lays out argv as C wants it: NUL-terminated strings and a final null. The
// second value is the storage, which has to stay reachable during the call.
func cStrings(argv []string) (ptrs []*byte, storage [][]byte) {
	for _, a := range argv {
		s := append([]byte(a), 0)
		storage = append(storage, s)
		ptrs = append(ptrs, &s[0])
	}
	return append(ptrs, nil), storage
}
