// Command screenshots takes the pictures of the console that the documentation shows, from a product
// that runs:
//
//	go run ./scripts/screenshots --url http://127.0.0.1:8080 --out docs/pictures
//
// Further arguments are paths of pages to take instead of the usual ones, for those who want to see what
// they have made: --width and --dark say how.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/browser"
)

// maxBytes is how large a picture may be: readers of the repository load all of them.
const maxBytes = 150_000

// picture is one that the documentation shows.
type picture struct {
	name, path string
	// link is the first link whose page is meant, by its start, "" for the page of path.
	link string
	dark bool
}

// pictures are the usual ones.
var pictures = []picture{
	{name: "overview", path: "/"},
	{name: "overview-dark", path: "/", dark: true},
	{name: "update", path: "/updates", link: "/update/"},
	{name: "party", path: "/validators", link: "/party/"},
	{name: "template", path: "/templates", link: "/template/"},
	{name: "rounds", path: "/rounds"},
	{name: "analytics", path: "/analytics/boards/supply-and-burn"},
	{name: "files", path: "/bulk"},
	{name: "operations", path: "/operations"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := pflag.NewFlagSet("screenshots", pflag.ContinueOnError)
	url := flags.String("url", "http://127.0.0.1:8080", "address of the console")
	out := flags.String("out", filepath.Join("docs", "pictures"), "folder for the pictures")
	width := flags.Int64("width", 1280, "width of the window")
	height := flags.Int64("height", 800, "height of the window")
	dark := flags.Bool("dark", false, "take pages in the dark theme")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	tab, err := b.Open()
	if err != nil {
		return err
	}
	wanted := pictures
	if flags.NArg() > 0 {
		wanted = nil
		for _, path := range flags.Args() {
			wanted = append(wanted, picture{name: strings.Trim(strings.NewReplacer("/", "-", "?", "-", "%", "", ":", "").Replace(path), "-"), path: path, dark: *dark})
		}
	}
	for _, p := range wanted {
		if err := tab.Look(browser.Look{Width: *width, Height: *height, Dark: p.dark}); err != nil {
			return err
		}
		if err := take(tab, strings.TrimSuffix(*url, "/"), p, *out); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// take opens a page and writes its picture.
func take(tab *browser.Tab, url string, p picture, folder string) error {
	visit, err := tab.Visit(url + p.path)
	if err == nil && p.link != "" {
		var next string
		next, err = browser.Evaluate[string](tab, fmt.Sprintf("(document.querySelector('main a[href^=%q]') ?? {}).href ?? ''", p.link))
		if err == nil && next == "" {
			err = fmt.Errorf("%s links to no page below %s", p.path, p.link)
		}
		if err == nil {
			visit, err = tab.Visit(next)
		}
	}
	if err != nil {
		return err
	}
	if visit.Status != 200 || len(visit.Problems) > 0 {
		return fmt.Errorf("%s has status %d and problems %q", visit.URL, visit.Status, visit.Problems)
	}
	full, err := tab.Picture()
	if err != nil {
		return err
	}
	small, err := compact(full)
	if err != nil {
		return err
	}
	if len(small) > maxBytes {
		return fmt.Errorf("the picture has %d bytes, which is more than %d", len(small), maxBytes)
	}
	file := filepath.Join(folder, "console-"+p.name+".png")
	fmt.Printf("%s  %d bytes\n", file, len(small))
	return os.WriteFile(file, small, 0o644)
}
