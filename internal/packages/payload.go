package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Numbers of the fields of messages, as far as they are read.
const (
	payloadLF1, payloadMinor, payloadLF2 = 2, 3, 4

	packageModules, packageStrings, packageNames = 1, 2, 3
	packageMetadata, packageTypes                = 4, 5
	packageImports, importsIDs                   = 9, 1
	metadataName, metadataVersion                = 1, 2
	metadataUpgraded, upgradedID                 = 3, 1
	nameSegments                                 = 1
)

// ReadPayload reads a package as a node serves it. If id is not empty it must be that of the bytes,
// which the package keeps.
func ReadPayload(payload []byte, id string) (*Package, error) {
	if len(payload) > MaxFile {
		return nil, fmt.Errorf("a package of %d bytes: at most %d are read", len(payload), MaxFile)
	}
	sum := sha256.Sum256(payload)
	p := &Package{ID: hex.EncodeToString(sum[:]), Payload: payload}
	if id != "" && id != p.ID {
		return nil, fmt.Errorf("package %.64q: its bytes have the hash %s: they were changed on their way", id, p.ID)
	}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("package %s: %w", p.ID, err)
	}
	return p, nil
}

func (p *Package) read() error {
	var minor string
	var content []byte
	old := false
	err := walk(p.Payload, func(f part) error {
		switch f.num {
		case payloadMinor:
			minor = string(f.b)
		case payloadLF2:
			content, old = f.b, false
		case payloadLF1:
			content, old = nil, true
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case old:
		return errors.New("it is of version 1.x of the language, of which only 2.x is read")
	case content == nil:
		return errors.New("it is no compiled package: it has no content of version 2.x of the language")
	case len(minor) > 20 || strings.ContainsFunc(minor, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("its version of the language is %.20q", minor)
	}
	p.LF = "2." + minor
	d := decoder{id: p.ID, left: maxParts}
	return d.read(p, content)
}

// decoder reads the content of one package.
type decoder struct {
	id      string
	strings []string
	names   []string // dotted
	imports []string // ids
	types   []*Type
	left    int // parts that it may still have
	found   int // templates and interfaces
}

// tables are the messages of a package whose order in it is not that in which they are needed.
type tables struct{ modules, names, types, imports [][]byte }

func (d *decoder) read(p *Package, content []byte) error {
	var t tables
	var metadata []byte
	err := walk(content, func(f part) error {
		if err := d.count(1); err != nil {
			return err
		}
		switch f.num {
		case packageModules:
			t.modules = append(t.modules, f.b)
		case packageStrings:
			if !utf8.Valid(f.b) {
				return fmt.Errorf("string %d is not UTF-8", len(d.strings))
			}
			d.strings = append(d.strings, string(f.b))
		case packageNames:
			t.names = append(t.names, f.b)
		case packageTypes:
			t.types = append(t.types, f.b)
		case packageImports:
			t.imports = append(t.imports, f.b)
		case packageMetadata:
			metadata = f.b
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.readTables(&t); err != nil {
		return err
	}
	if metadata != nil { // which all have that compilers of 2.x write
		if err := d.metadata(p, metadata); err != nil {
			return within(err, "metadata")
		}
	}
	for _, m := range t.modules {
		if err := d.module(p, m); err != nil {
			return err
		}
	}
	return p.check()
}

func (d *decoder) readTables(t *tables) error {
	for _, message := range t.imports {
		err := walk(message, func(f part) error {
			if f.num == importsIDs {
				d.imports = append(d.imports, string(f.b))
				return d.count(1)
			}
			return nil
		})
		if err != nil {
			return within(err, "imports")
		}
	}
	for i, message := range t.names {
		name, err := d.dotted(message)
		if err != nil {
			return within(err, "dotted name %d", i)
		}
		d.names = append(d.names, name)
	}
	for i, message := range t.types {
		typ, err := d.typ(message, 0)
		if err != nil {
			return within(err, "type %d", i)
		}
		d.types = append(d.types, typ)
	}
	return nil
}

// dotted joins the segments of a name.
func (d *decoder) dotted(message []byte) (string, error) {
	var segments []uint64
	err := walk(message, func(f part) (err error) {
		if f.num == nameSegments {
			segments, err = f.numbers(segments)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	var name strings.Builder
	for i, s := range segments {
		text, err := d.text(s)
		if err != nil {
			return "", err
		}
		if name.Len()+len(text) >= maxName {
			return "", fmt.Errorf("a name longer than %d bytes", maxName)
		}
		if i > 0 {
			name.WriteByte('.')
		}
		name.WriteString(text)
	}
	return name.String(), nil
}

func (d *decoder) metadata(p *Package, message []byte) error {
	var name, version, upgraded uint64
	isUpgrade := false
	err := walk(message, func(f part) error {
		switch f.num {
		case metadataName:
			name = f.n
		case metadataVersion:
			version = f.n
		case metadataUpgraded:
			isUpgrade = true
			return walk(f.b, func(f part) error {
				if f.num == upgradedID {
					upgraded = f.n
				}
				return nil
			})
		}
		return nil
	})
	if err == nil {
		p.Name, err = d.name(name)
	}
	if err == nil {
		p.Version, err = d.name(version)
	}
	if err == nil && isUpgrade {
		p.Upgrades, err = d.name(upgraded)
	}
	return err
}

// count takes n off the parts that the package may have.
func (d *decoder) count(n int) error {
	if d.left -= n; d.left < 0 {
		return fmt.Errorf("it has more than %d parts: no package is that large", maxParts)
	}
	return nil
}

// text returns a string of the table.
func (d *decoder) text(i uint64) (string, error) {
	if i >= uint64(len(d.strings)) {
		return "", fmt.Errorf("it refers to string %d, and there are %d", i, len(d.strings))
	}
	return d.strings[i], nil
}

// name returns a string of the table that is a name: not empty, and not too long.
func (d *decoder) name(i uint64) (string, error) {
	text, err := d.text(i)
	if err != nil {
		return "", err
	}
	return text, checkName(text)
}

// dottedName returns a dotted name of the table.
func (d *decoder) dottedName(i uint64) (string, error) {
	if i >= uint64(len(d.names)) {
		return "", fmt.Errorf("it refers to dotted name %d, and there are %d", i, len(d.names))
	}
	return d.names[i], checkName(d.names[i])
}

func checkName(text string) error {
	if text == "" {
		return errors.New("an empty name")
	}
	if len(text) > maxName {
		return fmt.Errorf("a name longer than %d bytes", maxName)
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] == 0x7f || text[i] == ':' {
			return fmt.Errorf("the name %.60q, which has a character that no name has", text)
		}
	}
	return nil
}
