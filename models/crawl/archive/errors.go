package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"regexp"
	"syscall"
)

// Errors of a store that a retry may fix.
var (
	errNoArchive     = errors.New("bucket or folder not found")
	errNoCredentials = errors.New("no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
)

// apiCode matches an error code of S3, such as SlowDown. Other text from a server is not shown.
var apiCode = regexp.MustCompile(`^[A-Za-z]{1,60}$`)

// newError returns the error of an operation in a form that may be shown and logged. Errors of the libraries contain URLs,
// keys and text from the server.
func newError(op string, err error) *Error {
	e := &Error{Op: op, Reason: reasonOf(err)}
	for _, known := range []error{ErrMissing, ErrDamaged, ErrTooLarge, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			e.cause = known
			break
		}
	}
	return e
}

func reasonOf(err error) string {
	for _, own := range []error{ErrMissing, ErrDamaged, ErrTooLarge, errNoArchive, errNoCredentials} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	if response, ok := errors.AsType[*responseError](err); ok {
		return response.Error()
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error() // such as "no space left on device" or "connection refused"
	}
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		return "timed out"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "folder is not accessible"
	}
	return "request failed"
}
