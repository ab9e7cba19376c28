package models

import (
	"context"
	"errors"
)

type againKey struct{}

// errAgain is the error of writes for a form that is shown again.
var errAgain = &Error{Code: CodeInvalid, Detail: "Not saved yet. Check the form, then save it."}

// ShowAgain returns the context of a request that shows a submitted form again. Its transactions fail with the error of
// Again before they begin, so that nothing is stored.
func ShowAgain(ctx context.Context) context.Context { return context.WithValue(ctx, againKey{}, true) }

// Again returns the error of a request that shows a form again; nil for all others. Code that sends requests before it
// stores anything checks it first.
func Again(ctx context.Context) error {
	if again, _ := ctx.Value(againKey{}).(bool); again {
		return errAgain
	}
	return nil
}

// IsAgain reports whether an error is that of Again.
func IsAgain(err error) bool { return errors.Is(err, errAgain) }
