package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"regexp"
	"syscall"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
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

// isNoBucket reports whether the bucket, and not an object, is missing.
func isNoBucket(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == "NoSuchBucket"
}

// isInvalidRange reports whether the object ends before the requested range.
func isInvalidRange(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == "InvalidRange"
}

func reasonOf(err error) string {
	for _, own := range []error{ErrMissing, ErrDamaged, ErrTooLarge, errNoArchive} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	code := ""
	if api, ok := errors.AsType[smithy.APIError](err); ok && apiCode.MatchString(api.ErrorCode()) {
		code = api.ErrorCode()
	}
	if res, ok := errors.AsType[*awshttp.ResponseError](err); ok && res.HTTPStatusCode() >= 300 {
		if code != "" {
			code = " " + code
		}
		return fmt.Sprintf("status %d%s", res.HTTPStatusCode(), code)
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
	case code != "":
		return code
	}
	return "request failed"
}
