package outbound

// chunks follows a chunked body (RFC 9112, 7.1) while it passes.
type chunks struct {
	in       chunkPlace
	left     uint64 // bytes of data, or the size of the chunk so far
	digits   int    // of the size
	kept     int    // bytes of the extension that have passed
	cr       bool   // the CR of the line has passed
	some     bool   // the line of the trailer is not empty
	repaired bool
}

type chunkPlace int

const (
	chunkSize      chunkPlace = iota
	chunkExtension            // what follows a size
	chunkData
	chunkDataEnd // the line end after the data
	chunkTrailer
	chunkEnd // of the body, or of what can be understood
)

const (
	maxChunkDigits    = 16 // the limit of net/http
	maxChunkExtension = 64 // bytes, far below the limit of net/http; what follows is removed
)

// repair returns the next bytes of the body as net/http reads them: b itself if they are valid. It ends every line with CRLF.
// It removes what follows a size, except a short extension, and the trailer, whose fields are not used. Bytes after a repaired
// body are removed. What it does not understand passes, and net/http refuses it.
func (k *chunks) repair(b []byte) []byte {
	var out []byte
	from := 0 // bytes before are in out
	cut := func(at int, insert string, next int) {
		out = append(append(out, b[from:at]...), insert...)
		from, k.repaired = next, true
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		if _, digit := hexDigit(c); k.in == chunkSize && k.digits > 0 && !digit {
			k.in = chunkExtension
		}
		switch {
		case k.in == chunkEnd:
			if k.repaired {
				return append(out, b[from:i]...)
			}
			i = len(b)
		case k.in == chunkData:
			n := min(k.left, uint64(len(b)-i))
			k.left -= n
			i += int(n) - 1
			if k.left == 0 {
				k.in = chunkDataEnd
			}
		case k.in == chunkTrailer && (k.some || c != '\r' && c != '\n'): // a field
			cut(i, "", i+1)
			k.some = c != '\n'
		case c == '\n':
			if !k.cr {
				cut(i, "\r", i)
			}
			k.cr = false
			k.endLine()
		case c == '\r' && !k.cr:
			k.cr = true
		case c == '\r' || k.in == chunkExtension && !k.keeps(c): // browsers and curl ignore it
			cut(i, "", i+1)
		case k.in == chunkExtension:
			k.kept++
		default:
			k.inLine(c)
		}
	}
	if from == 0 && len(out) == 0 {
		return b
	}
	return append(out, b[from:]...)
}

// endLine handles a line end outside of data and fields.
func (k *chunks) endLine() {
	switch k.in {
	case chunkSize, chunkExtension:
		switch {
		case k.digits == 0:
			k.in = chunkEnd
		case k.left == 0:
			k.in = chunkTrailer
		default:
			k.in = chunkData
		}
		k.digits, k.kept = 0, 0
	case chunkDataEnd:
		k.in = chunkSize
	case chunkTrailer:
		k.in = chunkEnd
	}
}

// keeps reports whether net/http accepts c in a chunk's extension (RFC 9112, 7.1.1).
func (k *chunks) keeps(c byte) bool {
	return !k.cr && k.kept < maxChunkExtension && (k.kept > 0 || c == ';')
}

// inLine handles another byte of a line, neither CR nor LF.
func (k *chunks) inLine(c byte) {
	digit, ok := hexDigit(c)
	if k.in != chunkSize || !ok || k.digits == maxChunkDigits {
		k.in = chunkEnd
		return
	}
	k.left, k.digits = k.left<<4|uint64(digit), k.digits+1
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
