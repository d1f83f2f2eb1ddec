package copies

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Packer makes the bodies of lookup_rows. It is for one user at a time.
type Packer struct{ encoder *zstd.Encoder }

// NewPacker returns a packer whose bodies refer to a dictionary; to none if its ID is 0.
func NewPacker(d store.LookupDictionary) (*Packer, error) {
	opts := []zstd.EOption{
		// The higher levels save two percent and take twice the time.
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithSingleSegment(true),
	}
	if d.ID != 0 {
		opts = append(opts, zstd.WithEncoderDictRaw(d.ID, d.Content))
	}
	encoder, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("packing items with dictionary %d: %w", d.ID, err)
	}
	return &Packer{encoder}, nil
}

// Pack appends the body that has a piece in it to dst.
func (p *Packer) Pack(dst, piece []byte) []byte { return p.encoder.EncodeAll(piece, dst) }

// ErrNoDictionary says that a body refers to a dictionary that is not known.
var ErrNoDictionary = errors.New("unknown dictionary")

// maxPieceBytes bounds what a body may unpack to: no update is larger.
const maxPieceBytes = 1 << 30

// Unpacker reads the bodies of lookup_rows. It is safe for concurrent use.
type Unpacker struct{ decoder *zstd.Decoder }

// NewUnpacker returns an unpacker that knows some dictionaries.
func NewUnpacker(dictionaries []store.LookupDictionary) (*Unpacker, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPieceBytes)}
	for _, d := range dictionaries {
		opts = append(opts, zstd.WithDecoderDictRaw(d.ID, d.Content))
	}
	decoder, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("unpacking items with %d dictionaries: %w", len(dictionaries), err)
	}
	return &Unpacker{decoder}, nil
}

// Piece appends what is in a body to dst. Its error is ErrNoDictionary if other dictionaries
// are needed.
func (u *Unpacker) Piece(dst, body []byte) ([]byte, error) {
	piece, err := u.decoder.DecodeAll(body, dst)
	if errors.Is(err, zstd.ErrUnknownDictionary) {
		return nil, ErrNoDictionary
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking an item of %d bytes: %w", len(body), err)
	}
	return piece, nil
}
