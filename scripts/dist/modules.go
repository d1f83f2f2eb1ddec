package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// bill is a software bill of materials in the form of CycloneDX 1.5, the members that are used here.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Serial      string      `json:"serialNumber"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // hexadecimal
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// modules lists the modules that a binary was linked from, as it says itself, and the standard
// library. The engine is in no archive and so in no list.
func (r release) modules(p platform, binary []byte) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("reading the modules of the binary: %w", err)
	}
	sum := sha256.Sum256(binary)
	b := bill{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		// A UUID of version 8, which leaves its content to us: the same binary has the same.
		Serial: fmt.Sprintf("urn:uuid:%x-%x-8%s-8%s-%x", sum[:4], sum[4:6], hex.EncodeToString(sum[6:8])[1:], hex.EncodeToString(sum[8:10])[1:], sum[10:16]),
		Metadata: metadata{Timestamp: r.time.Format(time.RFC3339), Component: golang("application", info.Main.Path, r.version, []property{
			{"commit", r.commit}, {"platform", p.String()}, {"go", info.GoVersion}})},
	}
	b.Metadata.Component.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	b.Components = append(b.Components, golang("library", "std", strings.TrimPrefix(info.GoVersion, "go"), nil))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, golang("library", m.Path, m.Version, []property{{"go.sum", m.Sum}}))
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

// golang is a Go module.
func golang(kind, path, version string, properties []property) component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Ref: url, Name: path, Version: version, PURL: url, Properties: properties}
}
