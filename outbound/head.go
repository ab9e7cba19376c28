package outbound

import (
	"bytes"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// headScan finds the end of a response head that arrives in parts. Its work is linear in the size of the head.
type headScan struct {
	at   int  // after the empty line; valid once find returned true
	line int  // start of the current line
	seen int  // bytes that were searched for the end of the line
	open bool // the status line was found: empty lines before it do not end the head
}

// find searches b, which starts with the bytes of earlier calls. It reports whether the head is complete.
func (s *headScan) find(b []byte) bool {
	for {
		n := bytes.IndexByte(b[s.seen:], '\n')
		if n < 0 {
			s.seen = len(b)
			return false
		}
		line := b[s.line : s.seen+n]
		s.seen += n + 1
		s.line = s.seen
		empty := len(bytes.TrimRight(line, "\r")) == 0
		if empty && s.open {
			s.at = s.seen
			return true
		}
		s.open = s.open || !empty
	}
}

// startsHead reports whether b may start with a status line.
func startsHead(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) >= 4 && (strings.EqualFold(string(b[:4]), "HTTP") || strings.EqualFold(string(b[:4]), "ICY "))
}

// headKind is what the head of a response says about what follows.
type headKind struct {
	informational bool // another head (status 1xx)
	chunked       bool // a chunked body, unless the status or the method excludes one
}

// checkHead reports whether a head is valid and unambiguous. kind is only set then.
func checkHead(head []byte) (kind headKind, valid bool) {
	line, rest := firstLine(head)
	// "HTTP/1.1 200 OK", with or without a reason
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[7] != '0' && line[7] != '1' || line[8] != ' ' ||
		!isNumber(line[9:12]) || len(line) > 12 && line[12] != ' ' {
		return kind, false
	}
	lengths, codings := 0, 0
	for {
		if line, rest = firstLine(rest); len(line) == 0 {
			break
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !isFieldName(line[:colon]) || slices.ContainsFunc(line[colon:], isControl) {
			return kind, false
		}
		name, value := line[:colon], textproto.TrimBytes(line[colon+1:])
		switch {
		case colon == len("Trailer") && strings.EqualFold(string(name), "Trailer"): // net/http refuses some
			return kind, false
		case colon == len("Content-Length") && strings.EqualFold(string(name), "Content-Length"):
			if lengths++; !isLength(value) {
				return kind, false
			}
		case colon == len("Transfer-Encoding") && strings.EqualFold(string(name), "Transfer-Encoding"):
			if codings++; !strings.EqualFold(string(value), "chunked") {
				return kind, false
			}
		}
	}
	kind = headKind{informational: isInformational(head[9:12]), chunked: codings > 0 && head[7] == '1'}
	return kind, lengths+codings <= 1
}

// firstLine splits off the first line, which ends with LF or CRLF.
func firstLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

func isNumber(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// isLength reports whether b is a length of a body. As in browsers, one that does not fit into an int64 is none.
func isLength(b []byte) bool {
	_, err := strconv.ParseUint(string(b), 10, 63)
	return err == nil
}

func isFieldName(b []byte) bool {
	for _, c := range b {
		if !httpguts.IsTokenRune(rune(c)) {
			return false
		}
	}
	return true
}

func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// isInformational reports whether another head follows that with this status. After 101 there is none.
func isInformational(status []byte) bool { return status[0] == '1' && string(status) != "101" }

// statusLine matches the first line of a head. Like browsers, it ignores case, and accepts any version and the ICY of
// Shoutcast servers.
var statusLine = regexp.MustCompile(`(?is)^[ \t]*(?:HTTP(?:/([0-9.]*))?|ICY)[ \t]+([1-9][0-9]{2})([^0-9].*)?$`)

// repairHead returns a head that is not valid as net/http accepts it. As in Chromium, fields without a valid name are
// removed. Control characters become spaces (RFC 9110, 5.5). Unknown transfer codings count as identity, and a
// Content-Length that is no length is removed. The repaired head has "Connection: close".
//
// net/http still refuses a head with different lengths, with a compression as transfer coding, or without a status.
func repairHead(head []byte) ([]byte, headKind) {
	lines := headLines(head)
	status := statusLine.FindStringSubmatch(lines[0])
	if status == nil {
		return head, headKind{}
	}
	version := "HTTP/1.0"
	if status[1] >= "1.1" {
		version = "HTTP/1.1"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\r\n", version, status[2], strings.TrimSpace(status[3]))
	var lengths, codings []string
	for _, line := range lines[1:] {
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimRight(name, " \t"), strings.TrimSpace(value)
		if !found || !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		switch strings.ToLower(name) {
		case "content-length":
			lengths = append(lengths, strings.Split(value, ",")...)
		case "transfer-encoding":
			codings = append(codings, strings.Split(value, ",")...)
		case "connection", "keep-alive", "trailer":
		default:
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	framing, chunked := frame(lengths, codings)
	b.WriteString(framing + "Connection: close\r\n\r\n")
	return b.Bytes(), headKind{
		informational: isInformational([]byte(status[2])), chunked: chunked && version == "HTTP/1.1",
	}
}

// headLines returns the lines of a head without their ends. Folded lines are joined, and control characters are spaces.
func headLines(head []byte) (lines []string) {
	for line := range bytes.Lines(bytes.TrimLeft(head, "\r\n")) {
		text := bytes.Clone(bytes.TrimRight(line, "\r\n"))
		for i, c := range text {
			if isControl(c) {
				text[i] = ' '
			}
		}
		switch folded := line[0] == ' ' || line[0] == '\t'; {
		case !folded || len(lines) == 0:
			lines = append(lines, string(text))
		case len(lines) > 1: // the status line does not continue
			lines[len(lines)-1] += " " + strings.TrimSpace(string(text))
		}
	}
	return lines
}

// frame returns the fields for the length of a body, and whether it is chunked.
func frame(lengths, codings []string) (fields string, chunked bool) {
	for _, c := range codings {
		switch c = strings.ToLower(strings.TrimSpace(c)); c {
		case "chunked":
			chunked = true
		case "gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd":
			return "Transfer-Encoding: " + c + "\r\n", false
		}
	}
	var all []string // distinct lengths
	numbers := false
	for _, l := range lengths {
		l = strings.TrimSpace(l)
		if isNumber([]byte(l)) {
			numbers = true
			l = strings.TrimLeft(l[:len(l)-1], "0") + l[len(l)-1:]
		}
		if l != "" && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	switch {
	case numbers && len(all) > 1:
		return "Content-Length: " + all[0] + "\r\nContent-Length: " + all[1] + "\r\n", false
	case chunked:
		return "Transfer-Encoding: chunked\r\n", true
	case numbers && isLength([]byte(all[0])):
		return "Content-Length: " + all[0] + "\r\n", false
	}
	return "", false
}
