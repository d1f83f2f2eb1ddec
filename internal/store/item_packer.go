package store

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// ItemPacker makes the bodies of lookup_rows. It is for one user at a time.
type ItemPacker struct {
	encoder *zstd.Encoder
	piece   []byte
}

// NewItemPacker returns a packer whose bodies refer to a dictionary; to none if its ID is 0.
func NewItemPacker(d LookupDictionary) (*ItemPacker, error) {
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
	return &ItemPacker{encoder: encoder}, nil
}

// Pack returns the body of an item, appended to dst, and the piece that is in it, until
// the next call.
func (p *ItemPacker) Pack(dst []byte, it *schemas.Item) (body, piece []byte) {
	p.piece = AppendItem(p.piece[:0], it)
	return p.encoder.EncodeAll(p.piece, dst), p.piece
}

// ErrNoDictionary says that a body refers to a dictionary that is not known.
var ErrNoDictionary = errors.New("unknown dictionary")

// maxItemBytes bounds what a body may unpack to: no update is larger.
const maxItemBytes = 1 << 30

// ItemUnpacker reads the bodies of lookup_rows. It is safe for concurrent use.
type ItemUnpacker struct{ decoder *zstd.Decoder }

// NewItemUnpacker returns an unpacker that knows some dictionaries.
func NewItemUnpacker(dictionaries []LookupDictionary) (*ItemUnpacker, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxItemBytes)}
	for _, d := range dictionaries {
		opts = append(opts, zstd.WithDecoderDictRaw(d.ID, d.Content))
	}
	decoder, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("unpacking items with %d dictionaries: %w", len(dictionaries), err)
	}
	return &ItemUnpacker{decoder}, nil
}

// Piece returns the item in one piece that is in a body. Its error is ErrNoDictionary if
// other dictionaries are needed.
func (u *ItemUnpacker) Piece(body []byte) ([]byte, error) {
	piece, err := u.decoder.DecodeAll(body, nil)
	if errors.Is(err, zstd.ErrUnknownDictionary) {
		return nil, ErrNoDictionary
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking an item of %d bytes: %w", len(body), err)
	}
	return piece, nil
}
