package kept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

// Node is the part of a node's client that adding its packages needs.
type Node interface {
	// Packages returns the ids of all packages, in no order.
	Packages(ctx context.Context) ([]string, error)
	// Package returns the bytes of a package.
	Package(ctx context.Context, id string) ([]byte, error)
}

// Added says what an addition has done.
type Added struct {
	Added []Summary `json:"added"`
	// Known counts those that the store has already.
	Known int `json:"known"`
	// Failed are those that the node did not serve, or that cannot be read.
	Failed []Failure `json:"failed,omitempty"`
}

// Failure is a package that cannot be kept.
type Failure struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// adding keeps packages that are not there yet.
type adding struct {
	to     *Packages
	known  map[string]bool
	report *Added
}

func (s *Packages) adding(ctx context.Context) (*adding, error) {
	list, err := s.List(ctx)
	a := &adding{to: s, known: map[string]bool{}, report: &Added{Added: []Summary{}}}
	for _, p := range list {
		a.known[p.ID] = true
	}
	return a, err
}

func (a *adding) add(ctx context.Context, p *packages.Package, source string) error {
	if a.known[p.ID] {
		a.report.Known++
		return nil
	}
	kept := Package{p, source, now()}
	if err := a.to.keep(ctx, kept); err != nil {
		return err
	}
	a.known[p.ID] = true
	a.report.Added = append(a.report.Added, kept.Summary())
	return nil
}

// File is a file with packages.
type File struct {
	Path     string
	Packages []*packages.Package
}

// ReadFiles reads .dar files, or packages alone.
func ReadFiles(paths []string) (files []File, err error) {
	for _, path := range paths {
		list, err := readFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, File{path, list})
	}
	return files, nil
}

func readFile(path string) ([]*packages.Package, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > packages.MaxFile) {
		return nil, fmt.Errorf("it is no file of at most %d bytes", packages.MaxFile)
	}
	var file []byte
	if err == nil {
		file, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, errors.Unwrap(err) // which does not repeat the path
	}
	return packages.Read(file)
}

// AddFiles keeps the packages of files, with all that they depend on.
func (s *Packages) AddFiles(ctx context.Context, files []File) (*Added, error) {
	a, err := s.adding(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, p := range f.Packages {
			if err := a.add(ctx, p, filepath.Base(f.Path)); err != nil {
				return nil, err
			}
		}
	}
	return a.report, nil
}

// AddFromNode keeps the packages of a node, which is asked for one after the other. One that it does
// not serve, or that cannot be read, is reported and holds up no other. name is that of the node.
func (s *Packages) AddFromNode(ctx context.Context, node Node, name string) (*Added, error) {
	ids, err := node.Packages(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.adding(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if a.known[id] {
			a.report.Known++
			continue
		}
		payload, err := node.Package(ctx, id)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var p *packages.Package
		if err == nil {
			p, err = packages.ReadPayload(payload, id)
		}
		if err != nil {
			a.report.Failed = append(a.report.Failed, Failure{id, err.Error()})
			continue
		}
		if err := a.add(ctx, p, name); err != nil {
			return nil, err
		}
	}
	return a.report, nil
}
