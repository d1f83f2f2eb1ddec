package ledger

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/query"
)

// answers keeps the answers of lists that never change. They are kept compressed: a list is
// a megabyte or two of which a tenth is left, and to unpack it takes a few milliseconds.
type answers struct {
	cache  *query.AnswerCache
	packer *zstd.Encoder
	opener *zstd.Decoder
}

func newAnswers(most int64) (*answers, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("making the compression of kept answers: %w", err)
	}
	opener, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("making the decompression of kept answers: %w", err)
	}
	return &answers{query.NewAnswerCache(most), packer, opener}, nil
}

// get returns the answer that was kept under a key.
func (a *answers) get(key string) (text []byte, ok bool, err error) {
	packed, ok := a.cache.Get(key)
	if !ok {
		return nil, false, nil
	}
	if text, err = a.opener.DecodeAll(packed, nil); err != nil {
		return nil, false, fmt.Errorf("unpacking a kept answer: %w", err)
	}
	return text, true, nil
}

// put keeps an answer, of which it makes a copy.
func (a *answers) put(key string, text []byte) { a.cache.Put(key, a.packer.EncodeAll(text, nil)) }
