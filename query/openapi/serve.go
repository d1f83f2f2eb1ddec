package openapi

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

//go:embed style.css
var style []byte

// pagePolicy lets a page load nothing but its own style sheet, and run nothing.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Mount serves documents: each as /openapi/<name>.yaml and .json and as a page
// /docs/<name>, with lists of them at /openapi and /docs.
func Mount(documents ...Document) (query.Mount, error) {
	m := query.Mount{Prefixes: []string{""}}
	var list []listed
	for _, d := range documents {
		root, err := read(d.YAML)
		if err != nil {
			return m, fmt.Errorf("document %s: %w", d.Name, err)
		}
		text, err := jsonOf(root)
		if err != nil {
			return m, fmt.Errorf("document %s: %w", d.Name, err)
		}
		doc, err := parse(root)
		if err != nil {
			return m, fmt.Errorf("document %s: %w", d.Name, err)
		}
		html, err := renderPage(doc)
		if err != nil {
			return m, fmt.Errorf("rendering document %s: %w", d.Name, err)
		}
		l := listed{d.Name, doc.Info.Title, "/openapi/" + d.Name + ".yaml", "/openapi/" + d.Name + ".json", "/docs/" + d.Name}
		m.Routes = append(m.Routes,
			static(l.YAML, "application/yaml; charset=utf-8", d.YAML),
			static(l.JSON, "application/json; charset=utf-8", text),
			static(l.Page, "text/html; charset=utf-8", html))
		list = append(list, l)
	}
	index, err := renderIndex(list)
	if err != nil {
		return m, fmt.Errorf("rendering the list of documents: %w", err)
	}
	text, err := json.Marshal(map[string][]listed{"documents": list})
	if err != nil {
		return m, fmt.Errorf("writing the list of documents: %w", err)
	}
	m.Routes = append(m.Routes,
		static("/openapi", "application/json; charset=utf-8", text),
		static("/docs", "text/html; charset=utf-8", index),
		static("/docs/style.css", "text/css; charset=utf-8", style))
	return m, nil
}

// listed is a document in the list, with its addresses.
type listed struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	YAML  string `json:"yaml"`
	JSON  string `json:"json"`
	Page  string `json:"page"`
}

// static serves a content that changes only with the program. Its tag is a weak one: the
// same content may go out compressed.
func static(path, contentType string, content []byte) query.Route {
	sum := sha256.Sum256(content)
	tag := fmt.Sprintf(`"%x"`, sum[:16])
	return query.Route{Method: "GET", Path: path, Name: "openapi" + strings.ReplaceAll(path, "/", "."), Handle: func(_ context.Context, r *query.Request) error {
		r.SetHeader("ETag", "W/"+tag)
		r.SetHeader("Cache-Control", "public, no-cache") // to be kept, but asked for again with its tag
		r.SetHeader("X-Content-Type-Options", "nosniff")
		if strings.HasPrefix(contentType, "text/html") {
			r.SetHeader("Content-Security-Policy", pagePolicy)
		}
		if known := r.Header("If-None-Match"); known == "*" || strings.Contains(known, tag) {
			return r.Empty(304)
		}
		return r.Content(contentType, content)
	}}
}
