package outbound

// chunks follows a chunked body (RFC 9112, 7.1) while it passes.
type chunks struct {
	in       chunkPlace
	left     uint64 // bytes of data, or the size of the chunk so far
	digits   int    // of the size
	cr       bool   // the last byte was CR
	some     bool   // the line of the trailer is not empty
	repaired bool
}

type chunkPlace int

const (
	chunkSize chunkPlace = iota
	chunkExtension
	chunkData
	chunkDataEnd // the line end after the data
	chunkTrailer
	chunkEnd // of the body, or of what can be understood
)

// maxChunkDigits is the limit of net/http.
const maxChunkDigits = 16

// repair returns the next bytes of the body as net/http reads them: b itself if they are valid. It ends every line with CRLF,
// makes what follows a size an extension, and removes the trailer, whose fields are not used. Bytes after a repaired body are
// removed. What it does not understand passes, and net/http refuses it.
func (k *chunks) repair(b []byte) []byte {
	var out []byte
	from := 0 // bytes before are in out
	cut := func(at int, insert string, next int) {
		out = append(append(out, b[from:at]...), insert...)
		from, k.repaired = next, true
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
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
			continue
		case k.in == chunkTrailer && (k.some || c != '\r' && c != '\n'): // a field
			cut(i, "", i+1)
			k.some = c != '\n'
		case k.in == chunkSize && k.digits > 0 && !isSizeByte(c): // like curl, ignore what follows the size
			cut(i, ";", i)
			k.in = chunkExtension
		case c == '\n':
			if !k.cr {
				cut(i, "\r", i)
			}
			k.endLine()
		default:
			k.inLine(c)
		}
		k.cr = c == '\r'
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
		k.digits = 0
	case chunkDataEnd:
		k.in = chunkSize
	case chunkTrailer:
		k.in = chunkEnd
	}
}

// inLine handles another byte of a line.
func (k *chunks) inLine(c byte) {
	switch k.in {
	case chunkSize:
		digit, ok := hexDigit(c)
		switch {
		case ok && k.digits < maxChunkDigits:
			k.left, k.digits = k.left<<4|uint64(digit), k.digits+1
		case ok || k.digits == 0:
			k.in = chunkEnd
		default:
			k.in = chunkExtension
		}
	case chunkDataEnd:
		if c != '\r' || k.cr {
			k.in = chunkEnd
		}
	}
}

// isSizeByte reports whether a byte may follow the first digit of a size: another digit, or the end of the size.
func isSizeByte(c byte) bool {
	_, digit := hexDigit(c)
	return digit || c == ';' || c == '\r' || c == '\n'
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
