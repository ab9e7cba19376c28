package archive

import (
	"github.com/klauspost/compress/zstd"

	"linkwatch/models/crawl"
)

// Limits of a pack. A larger body is stored alone in a pack.
const (
	MaxPack   = 4 << 20 // bytes
	maxBodies = 4096    // when bodies are moved
)

// maxIdleBuffer is the maximum buffer in bytes that an empty pack keeps.
const maxIdleBuffer = 1 << 20

var (
	// An empty body has a frame too, so no part of a pack is empty.
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxBody), zstd.WithDecoderConcurrency(0))
)

// Pack collects bodies for one object. The zero Pack is empty. A Pack is not safe for concurrent use.
type Pack struct {
	packed []byte // concatenated frames
	bodies []crawl.PackedBody
}

// Add compresses a body into the pack. The error is ErrTooLarge.
func (p *Pack) Add(h crawl.BodyHash, body []byte) error {
	if len(body) > MaxBody {
		return newError(opPut, ErrTooLarge)
	}
	start := len(p.packed)
	packed := packer.EncodeAll(body, p.packed)
	if len(packed)-start > MaxBody {
		return newError(opPut, ErrTooLarge)
	}
	p.packed = packed
	p.note(h, start)
	return nil
}

// Fits reports whether there is room for a body from another pack.
func (p *Pack) Fits(b crawl.PackedBody) bool {
	return len(p.bodies) == 0 || int64(len(p.packed))+b.Length <= MaxPack && len(p.bodies) < maxBodies
}

// CopyFrom copies a compressed body from another pack. The error is ErrDamaged.
func (p *Pack) CopyFrom(from *OpenedPack, b crawl.PackedBody) error {
	if b.Start < 0 || b.Length <= 0 || b.Start > int64(len(from.packed)) || b.Length > int64(len(from.packed))-b.Start {
		return newError(opMove, ErrDamaged)
	}
	frame := from.packed[b.Start : b.Start+b.Length]
	if _, err := unpack(opMove, frame, b.Hash); err != nil {
		return err
	}
	start := len(p.packed)
	p.packed = append(p.packed, frame...)
	p.note(b.Hash, start)
	return nil
}

func (p *Pack) note(h crawl.BodyHash, start int) {
	p.bodies = append(p.bodies, crawl.PackedBody{Hash: h, Start: int64(start), Length: int64(len(p.packed) - start)})
}

// Len returns the size of the pack in bytes.
func (p *Pack) Len() int { return len(p.packed) }

// Bodies returns the bodies in the pack. The result is valid until Reset.
func (p *Pack) Bodies() []crawl.PackedBody { return p.bodies }

// Reset empties the pack. It keeps a small buffer for reuse.
func (p *Pack) Reset() {
	p.packed, p.bodies = p.packed[:0], p.bodies[:0]
	if cap(p.packed) > maxIdleBuffer {
		*p = Pack{}
	}
}

// OpenedPack is a pack that was read from the archive.
type OpenedPack struct{ packed []byte }

func unpack(op string, frame []byte, h crawl.BodyHash) ([]byte, error) {
	body, err := unpacker.DecodeAll(frame, nil)
	if err != nil || HashOf(body) != h {
		return nil, newError(op, ErrDamaged)
	}
	return body, nil
}
