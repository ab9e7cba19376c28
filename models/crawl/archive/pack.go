package archive

import (
	"github.com/klauspost/compress/zstd"

	"linkwatch/models/crawl"
)

// Limits of a pack. One larger body may be alone in a pack.
const (
	MaxPack   = 4 << 20 // bytes
	maxBodies = 4096    // that are moved
)

// keptMemory is how many bytes of memory an empty pack keeps.
const keptMemory = 1 << 20

var (
	// An empty body has a frame too, so no part of a pack is empty.
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxBody), zstd.WithDecoderConcurrency(0))
)

// Pack gathers bodies for one object. The zero Pack is empty. A Pack is not safe for
// concurrent use.
type Pack struct {
	packed []byte // frames, one after the other
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

// Fits says whether there is room for a body that is moved.
func (p *Pack) Fits(b crawl.PackedBody) bool {
	return len(p.bodies) == 0 || int64(len(p.packed))+b.Length <= MaxPack && len(p.bodies) < maxBodies
}

// Move adds a body of another pack, as it is compressed there. The error is ErrDamaged.
func (p *Pack) Move(from *Opened, b crawl.PackedBody) error {
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

// Len is how many bytes the pack has.
func (p *Pack) Len() int { return len(p.packed) }

// Bodies are what is in the pack, until Reset.
func (p *Pack) Bodies() []crawl.PackedBody { return p.bodies }

// Reset empties the pack. Its memory is used again, unless it is much.
func (p *Pack) Reset() {
	p.packed, p.bodies = p.packed[:0], p.bodies[:0]
	if cap(p.packed) > keptMemory {
		*p = Pack{}
	}
}

// Opened is a pack that was read.
type Opened struct{ packed []byte }

// unpack returns the body of a hash from its frame.
func unpack(op string, frame []byte, h crawl.BodyHash) ([]byte, error) {
	body, err := unpacker.DecodeAll(frame, nil)
	if err != nil || HashOf(body) != h {
		return nil, newError(op, ErrDamaged)
	}
	return body, nil
}
