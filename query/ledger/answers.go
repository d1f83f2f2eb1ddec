package ledger

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/query"
)

// answers caches the answers of lists that never change, compressed: a list of a megabyte or two
// takes a tenth of that, and a few milliseconds to decompress.
type answers struct {
	cache  *query.AnswerCache
	packer *zstd.Encoder
	opener *zstd.Decoder
}

func newAnswers(most int64) (*answers, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("making the compressor of cached answers: %w", err)
	}
	opener, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("making the decompressor of cached answers: %w", err)
	}
	return &answers{query.NewAnswerCache(most), packer, opener}, nil
}

// get returns the answer that was cached under a key.
func (a *answers) get(key string) (text []byte, ok bool, err error) {
	packed, ok := a.cache.Get(key)
	if !ok {
		return nil, false, nil
	}
	if text, err = a.opener.DecodeAll(packed, nil); err != nil {
		return nil, false, fmt.Errorf("decompressing a cached answer: %w", err)
	}
	return text, true, nil
}

// put caches an answer, which it copies.
func (a *answers) put(key string, text []byte) { a.cache.Put(key, a.packer.EncodeAll(text, nil)) }
