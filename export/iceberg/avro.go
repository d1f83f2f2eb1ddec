package iceberg

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// header is a pair of the header of an Avro file.
type header struct{ key, value string }

// encodeAvro returns an Avro file of some rows. Equal rows give equal bytes.
func encodeAvro[T any](layout *avro.Schema, pairs []header, rows []T) ([]byte, error) {
	// The marker that stands between blocks is usually random. One that follows from what is
	// in the header tells files apart as well.
	hash := sha256.New()
	options := make([]ocf.WriterOpt, 0, len(pairs)+1)
	for _, p := range pairs {
		fmt.Fprintf(hash, "%s=%s\n", p.key, p.value)
		// One option per pair keeps their order.
		options = append(options, ocf.WithMetadata(map[string][]byte{p.key: []byte(p.value)}))
	}
	options = append(options, ocf.WithSyncMarker([16]byte(hash.Sum(nil))))
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, layout, options...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if err := w.Encode(&rows[i]); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// decodeAvro reads what encodeAvro has written: the rows, and the header by keys.
func decodeAvro[T any](data []byte) (rows []T, meta map[string][]byte, err error) {
	r, err := ocf.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		var row T
		err := r.Decode(&row)
		if errors.Is(err, io.EOF) {
			return rows, r.Metadata(), nil
		}
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, row)
	}
}
