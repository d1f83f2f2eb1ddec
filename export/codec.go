package export

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// codec compresses the pages of columns with zstd. It is safe for concurrent use.
type codec struct {
	parquetzstd.Codec // for reading, and for the names of it all
	level             zstd.EncoderLevel
	// encoders are those at rest, nil for those that were not needed yet. They take up to
	// 20 MB each, so there are only so many, and they serve one writer after the other.
	encoders chan *zstd.Encoder
}

// newCodec returns a codec that compresses at most so many pages at once.
func newCodec(level zstd.EncoderLevel, atOnce int) *codec {
	c := &codec{level: level, encoders: make(chan *zstd.Encoder, atOnce)}
	for range atOnce {
		c.encoders <- nil
	}
	return c
}

// Encode implements compress.Codec.
func (c *codec) Encode(dst, src []byte) (_ []byte, err error) {
	e := <-c.encoders
	defer func() { c.encoders <- e }()
	if e == nil {
		e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(c.level), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false),
			zstd.WithLowerEncoderMem(true),
			// One goroutine: with several, zstd cuts its input by their number.
			zstd.WithEncoderConcurrency(1))
		if err != nil {
			return dst, fmt.Errorf("making a zstd encoder: %w", err)
		}
	}
	return e.EncodeAll(src, dst[:0]), nil
}

// codecs are those of columns of ids and of all others.
type codecs struct {
	values *codec
	ids    idCodec
}

func newCodecs(atOnce int) *codecs {
	values := newCodec(compressionLevel, atOnce)
	return &codecs{values: values, ids: idCodec{newCodec(idLevel, atOnce), values}}
}

// idCodec compresses pages of ids, with small for small pages.
type idCodec struct {
	*codec
	small *codec
}

// Encode implements compress.Codec.
func (c idCodec) Encode(dst, src []byte) ([]byte, error) {
	if len(src) < smallIDPage {
		return c.small.Encode(dst, src)
	}
	return c.codec.Encode(dst, src)
}
