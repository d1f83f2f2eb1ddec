package openapi

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/ledgerlake/ledgerlake/query"
)

//go:embed style.css
var style []byte

// pagePolicy lets a page load nothing but its own style sheet, and run nothing.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Mount serves documents: each as /openapi/<name>.yaml and .json and as a page
// /docs/<name>, with lists of them at /openapi and /docs. What is not written as it is
// served is made when it is first asked for, so that a server starts at once.
func Mount(documents ...Document) query.Mount {
	list := sync.OnceValues(func() ([]listed, error) { return listOf(documents) })
	routes := []query.Route{
		static("/docs/style.css", "text/css; charset=utf-8", func() ([]byte, error) { return style, nil }),
		static("/docs", "text/html; charset=utf-8", func() ([]byte, error) { return with(list, renderIndex) }),
		static("/openapi", "application/json; charset=utf-8", func() ([]byte, error) {
			return with(list, func(list []listed) ([]byte, error) { return json.Marshal(map[string][]listed{"documents": list}) })
		}),
	}
	for _, d := range documents {
		routes = append(routes,
			static("/openapi/"+d.Name+".yaml", "application/yaml; charset=utf-8", func() ([]byte, error) { return d.YAML, nil }),
			static("/openapi/"+d.Name+".json", "application/json; charset=utf-8", func() ([]byte, error) { return JSON(d.YAML) }),
			static("/docs/"+d.Name, "text/html; charset=utf-8", func() ([]byte, error) {
				return with(func() (*document, error) { return parse(d.YAML) }, renderPage)
			}))
	}
	return query.Mount{Prefixes: []string{""}, Routes: routes}
}

// with makes something of what get gives.
func with[T any](get func() (T, error), make func(T) ([]byte, error)) ([]byte, error) {
	v, err := get()
	if err != nil {
		return nil, err
	}
	return make(v)
}

func listOf(documents []Document) ([]listed, error) {
	var list []listed
	for _, d := range documents {
		doc, err := parse(d.YAML)
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", d.Name, err)
		}
		list = append(list, listed{d.Name, doc.Info.Title, "/openapi/" + d.Name + ".yaml", "/openapi/" + d.Name + ".json", "/docs/" + d.Name})
	}
	return list, nil
}

// listed is a document in the list, with its addresses.
type listed struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	YAML  string `json:"yaml"`
	JSON  string `json:"json"`
	Page  string `json:"page"`
}

// TextRoute serves a document as text, as nodes do.
func TextRoute(path string, yaml []byte) query.Route {
	return static(path, "text/plain; charset=utf-8", func() ([]byte, error) { return yaml, nil })
}

// static serves a content that changes only with the program; get is called once. Its tag
// is a weak one: the same content may go out compressed.
func static(path, contentType string, get func() ([]byte, error)) query.Route {
	made := sync.OnceValues(get)
	name := "openapi" + strings.ReplaceAll(path, "/", ".")
	return query.Route{Method: "GET", Path: path, Name: name, Handle: func(_ context.Context, r *query.Request) error {
		content, err := made()
		if err != nil {
			return fmt.Errorf("making %s: %w", path, err)
		}
		tag := tagOf(content)
		r.SetHeader("ETag", "W/"+tag)
		r.SetHeader("Cache-Control", "public, no-cache") // to be kept, but asked for again with its tag
		r.SetHeader("X-Content-Type-Options", "nosniff")
		if strings.HasPrefix(contentType, "text/html") {
			r.SetHeader("Content-Security-Policy", pagePolicy)
		}
		if r.Matches(tag) {
			return r.Empty(304)
		}
		return r.Content(contentType, content)
	}}
}

func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf(`"%x"`, sum[:16])
}
