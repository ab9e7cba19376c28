package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Code is the kind of an error. Its text is the slug of the problem type in API responses.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid-request"
	CodeTooManyTags  Code = "too-many-tags"
	CodeNotFound     Code = "not-found"
	CodeConflict     Code = "conflict"
	CodePrecondition Code = "precondition-failed" // the item has changed since the client read it
	CodeGone         Code = "gone"
	CodeUnresolvable Code = "link-unresolvable"
	CodeBlocked      Code = "blocked-address"
	CodeUndelivered  Code = "delivery-failed"
	CodeForbidden    Code = "forbidden"
	CodeUnavailable  Code = "unavailable"
)

// Error is an error for the user or program that made the request. Detail may be shown to anyone, so it never
// contains SQL, a path or a submitted value. All other errors are internal and reported without details.
type Error struct {
	Code       Code
	Detail     string        // a full sentence: what is wrong and what to do
	Fields     []FieldError  // for invalid input: each field and what is wrong with it
	RetryAfter time.Duration // when to try again; 0 = unknown
	Err        error         // the cause, for the log only
}

// FieldError is one invalid field of the input.
type FieldError struct {
	Location string // "url", "tags[2]", "query.q"
	Message  string
}

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Detail
	for _, f := range e.Fields {
		s += "; " + f.Location + ": " + f.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Invalid returns the error of one invalid field.
func Invalid(location, format string, args ...any) *Error {
	msg := fmt.Sprintf(format, args...)
	return &Error{
		Code:   CodeInvalid,
		Detail: location + ": " + msg,
		Fields: []FieldError{{location, msg}},
	}
}

// TooLong returns the error of a field with more than most characters, bytes or items.
func TooLong(location string, most int, units string) *Error {
	return Invalid(location, "must have at most %s %s", humanize.Comma(int64(most)), units)
}

// OutOfRange returns the error of a number outside least to most. units is a word such as "seconds"; "" = none.
func OutOfRange(location, units string, least, most int64) *Error {
	what := "number"
	if units != "" {
		what = "number of " + units
	}
	return Invalid(location, "must be a whole %s from %d to %s", what, least, humanize.Comma(most))
}

// Invalids joins the errors of several fields into one, with the first message of each field. It returns nil if
// all errs are nil. If one is not CodeInvalid, the first such error is returned unchanged.
func Invalids(errs ...error) error {
	all := &Error{Code: CodeInvalid}
	var details []string
	for _, err := range errs {
		if err == nil {
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != CodeInvalid {
			return err
		}
		for _, f := range e.Fields {
			if !slices.ContainsFunc(all.Fields, func(known FieldError) bool { return known.Location == f.Location }) {
				all.Fields, details = append(all.Fields, f), append(details, f.Location+": "+f.Message)
			}
		}
	}
	if len(all.Fields) == 0 {
		return nil
	}
	all.Detail = strings.Join(details, "; ")
	return all
}

// NotFound returns the error of an unknown id. what is a noun: "link".
func NotFound(what string) *Error {
	return &Error{Code: CodeNotFound, Detail: strings.ToUpper(what[:1]) + what[1:] + " not found."}
}

// Conflict returns the error of a request that the current state does not allow.
func Conflict(detail string) *Error { return &Error{Code: CodeConflict, Detail: detail} }

// CodeOf returns the code of err, or "" if err is internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
