package crawl

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// CompressedText is a text compressed with zstd. nil is "".
type CompressedText []byte

// maxPacked is the maximum length in bytes of an unpacked text.
const maxPacked = 2 << 20

var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10), zstd.WithEncoderCRC(false))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxPacked), zstd.WithDecoderConcurrency(0))
)

// CompressText compresses a text.
func CompressText(s string) CompressedText {
	if s == "" {
		return nil
	}
	return packer.EncodeAll([]byte(s), nil)
}

// Decompress returns the text. An error means that the stored data is damaged.
func (p CompressedText) Decompress() (string, error) {
	if len(p) == 0 {
		return "", nil
	}
	b, err := unpacker.DecodeAll(p, nil)
	if err != nil {
		return "", fmt.Errorf("unpack stored text: %w", err)
	}
	return string(b), nil
}
