package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"
)

// ErrAbsent says that no Chromium is installed.
var ErrAbsent = errors.New("there is no Chromium: run scripts/setup.sh browser")

// programs are the names under which a Chromium may be installed.
var programs = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}

// Find returns the Chromium that is on PATH, or ErrAbsent.
func Find() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrAbsent
}

// Browser is a running Chromium without windows. It is safe for concurrent use.
type Browser struct {
	ctx    context.Context
	cancel []context.CancelFunc
	folder string
}

// Start starts a Chromium, which ends with ctx or by Close.
func Start(ctx context.Context) (*Browser, error) {
	program, err := Find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "ledgerlake-browser-")
	if err != nil {
		return nil, fmt.Errorf("making the profile of a browser: %w", err)
	}
	b := &Browser{folder: folder}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(folder), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run for root otherwise
	}
	var cancel context.CancelFunc
	b.ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	b.cancel = append(b.cancel, cancel)
	b.ctx, cancel = chromedp.NewContext(b.ctx)
	b.cancel = append(b.cancel, cancel)
	if err := chromedp.Do(b.ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", program, err), b.Close())
	}
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	for i := len(b.cancel) - 1; i >= 0; i-- {
		b.cancel[i]()
	}
	err := os.RemoveAll(b.folder)
	// Its children may still write there for a moment.
	for tries := 0; err != nil && tries < 50; tries++ {
		time.Sleep(100 * time.Millisecond)
		err = os.RemoveAll(b.folder)
	}
	return err
}
