package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code says what sort of error happened. Its text is the slug of the problem
// type that clients see.
type Code string

// The codes.
const (
	CodeInvalid      Code = "invalid-request"
	CodeTooManyTags  Code = "too-many-tags"
	CodeNotFound     Code = "not-found"
	CodeConflict     Code = "conflict"
	CodeGone         Code = "gone"
	CodeUnresolvable Code = "link-unresolvable"
	CodeBlocked      Code = "blocked-address"
	CodeUndelivered  Code = "delivery-failed"
	CodeForbidden    Code = "forbidden"
	CodeUnavailable  Code = "unavailable"
)

// Error is an error made for the person or program that asked: its Detail may
// be shown to anybody, so it never holds SQL, a path, or a value the caller
// sent. Every other error is internal and is shown as such.
type Error struct {
	Code       Code
	Detail     string        // a whole sentence: what happened and what to do
	Fields     []FieldError  // for invalid input: which members, and why
	RetryAfter time.Duration // when it may work; 0 = unknown
	Err        error         // the cause, for the log only
}

// FieldError is one invalid member of the input.
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

// Invalid is the error of one member that is not as it must be.
func Invalid(location, format string, args ...any) *Error {
	msg := fmt.Sprintf(format, args...)
	return &Error{
		Code:   CodeInvalid,
		Detail: location + ": " + msg,
		Fields: []FieldError{{location, msg}},
	}
}

// Invalids joins what is wrong with several members into one error, with the first message of each member. It is nil if all
// errs are. An error that is not CodeInvalid cannot be joined: the first one is returned as it is.
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

// NotFound is the error of an id that names nothing. what is a noun: "link".
func NotFound(what string) *Error {
	return &Error{Code: CodeNotFound, Detail: "There is no such " + what + "."}
}

// Conflict is the error of a state that forbids what was asked.
func Conflict(detail string) *Error { return &Error{Code: CodeConflict, Detail: detail} }

// CodeOf is the code of err, or "" if err was not made for the caller.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
