package schemas

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// proofVersion names the construction.
const proofVersion = "ledgerlake-proof-v1"

// proofJSON is a SegmentProof as it is handed on. Lists of hashes are base64 over their
// bytes, which keeps a proof of a row among millions below 2 KiB.
type proofJSON struct {
	Version  string       `json:"version"`
	Segment  SegmentRef   `json:"segment"`
	Table    ParquetTable `json:"table"`
	ID       string       `json:"update_id"`
	Row      string       `json:"row_sha256"`
	Index    uint64       `json:"index"`
	Rows     uint64       `json:"rows"`
	Siblings string       `json:"path"`
	Tables   string       `json:"tables"`
	Root     string       `json:"root"`
	Previous string       `json:"previous_link,omitempty"`
	Link     string       `json:"link,omitempty"`
}

// MarshalJSON writes the proof as docs/formats/proofs.md describes it.
func (p SegmentProof) MarshalJSON() ([]byte, error) {
	j := proofJSON{
		Version: proofVersion, Segment: p.Segment, Table: p.Table, ID: p.ID, Row: hex.EncodeToString(p.Row[:]),
		Index: p.Index, Rows: p.Rows, Siblings: hashList(p.Siblings), Tables: hashList(p.Tables), Root: hex.EncodeToString(p.Root[:]),
	}
	if p.Chained {
		j.Previous, j.Link = hex.EncodeToString(p.Previous[:]), hex.EncodeToString(p.Link[:])
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes; it does not check the proof.
func (p *SegmentProof) UnmarshalJSON(data []byte) (err error) {
	var j proofJSON
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields() // what is not understood must not seem to be proven
	if err := strict.Decode(&j); err != nil {
		return err
	}
	if j.Version != proofVersion {
		return fmt.Errorf("a proof of version %q, not %q", j.Version, proofVersion)
	}
	*p = SegmentProof{Segment: j.Segment, Table: j.Table, ID: j.ID, Index: j.Index, Rows: j.Rows, Chained: j.Link != ""}
	if p.Siblings, err = parseHashList(j.Siblings); err != nil {
		return fmt.Errorf("the path of a proof: %w", err)
	}
	if p.Tables, err = parseHashList(j.Tables); err != nil {
		return fmt.Errorf("the tables of a proof: %w", err)
	}
	if p.Row, err = ParseHash(j.Row); err != nil {
		return err
	}
	if p.Root, err = ParseHash(j.Root); err != nil {
		return err
	}
	if !p.Chained && j.Previous == "" {
		return nil
	}
	if p.Previous, err = ParseHash(j.Previous); err != nil {
		return err
	}
	p.Link, err = ParseHash(j.Link)
	return err
}

// ParseHash reads 64 hex digits.
func ParseHash(text string) (Hash, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(Hash{}) {
		return Hash{}, fmt.Errorf("%q is not a SHA-256 in hex", text)
	}
	return Hash(raw), nil
}

func hashList(hashes []Hash) string {
	var b []byte
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	return base64.StdEncoding.EncodeToString(b)
}

func parseHashList(text string) ([]Hash, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%len(Hash{}) != 0 {
		return nil, fmt.Errorf("%q is not a list of SHA-256 in base64", text)
	}
	var hashes []Hash
	for ; len(raw) > 0; raw = raw[len(Hash{}):] {
		hashes = append(hashes, Hash(raw[:len(Hash{})]))
	}
	return hashes, nil
}
