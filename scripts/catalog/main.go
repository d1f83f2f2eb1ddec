// Catalog writes files of the template catalogue from compiled packages:
//
//	go run ./scripts/catalog [-out schemas/values/catalog] [-package NAME]... FILE.dar...
//
// It writes one file for each package that has templates or interfaces, and for each that has types of
// theirs, or only those that are named. Of several versions of a package the newest counts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var names []string
	flags := flag.NewFlagSet("catalog", flag.ContinueOnError)
	out := flags.String("out", "schemas/values/catalog", "folder to write to")
	flags.Func("package", "name of a package to write; may be repeated; default all", func(name string) error {
		names = append(names, name)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name the .dar files to read")
	}
	var list []*packages.Package
	for _, path := range flags.Args() {
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read, err := packages.Read(file)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, read...)
	}
	files := generate(list)
	for _, name := range names {
		if files[name] == "" {
			return fmt.Errorf("none of the files has a package %s with templates, interfaces or types of theirs", name)
		}
	}
	for name, text := range files {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			return fmt.Errorf("package %q: no file can have that name", name)
		}
		if err := os.WriteFile(filepath.Join(*out, name+".yaml"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
