package page

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

//go:embed assets
var files embed.FS

// asset is a file that pages load.
type asset struct {
	address string // with the digest of its content
	kind    string
	content []byte
}

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// assets are all, by name.
var assets = func() map[string]asset {
	all := map[string]asset{}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		panic(err) // they are in the binary
	}
	for _, e := range entries {
		name := e.Name()
		kind, ok := kinds[path.Ext(name)]
		if !ok {
			continue // licences
		}
		content, err := files.ReadFile("assets/" + name)
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		all[name] = asset{address: "/assets/" + hex.EncodeToString(sum[:6]) + "/" + name, kind: kind, content: content}
	}
	return all
}()

// Asset is the address of a file of the folder assets. It changes with the content, so that browsers may
// keep the file for good.
func Asset(name string) string {
	a, ok := assets[name]
	if !ok {
		panic(fmt.Sprintf("page: there is no asset %q", name))
	}
	return a.address
}

// Assets are the routes of all files.
func Assets() []query.Route {
	var routes []query.Route
	for name, a := range assets {
		routes = append(routes, query.Route{Method: "GET", Path: a.address, Name: "console.assets." + strings.ReplaceAll(name, ".", "_"), Handle: func(_ context.Context, r *query.Request) error {
			r.SetHeader("Cache-Control", "public, max-age=31536000, immutable")
			r.SetHeader("X-Content-Type-Options", "nosniff")
			return r.Content(a.kind, a.content)
		}})
	}
	return routes
}
