package api

import (
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/dustin/go-humanize"
)

// The messages of huma's own validation read like those of package models: they follow the name of a field.
func init() {
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedArray = "must be an array"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedRFC3339DateTime = "must be a time such as 2025-03-24T12:00:00Z"
	validation.MsgExpectedRFC3339Date = "must be a day such as 2025-03-24"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedBePattern = "must be %s"
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedMinLength = "must have at least %v characters"
	validation.MsgExpectedMaxLength = "must have at most %v characters"
	validation.MsgExpectedMinItems = "must have at least %v items"
	validation.MsgExpectedMaxItems = "must have at most %v items"
	validation.MsgExpectedMaxProperties = "must have at most %v members"
	huma.ErrorFormatter = formatMessage //nolint:reassign // a setting of huma, not an error value
}

// paramMessages replaces messages of huma that are not variables.
var paramMessages = map[string]string{
	"invalid integer": "must be a whole number",
	"invalid float":   "must be a number",
	"invalid boolean": "must be true or false",
}

// formatMessage is fmt.Sprintf with numbers such as 2,592,000.
func formatMessage(format string, args ...any) string {
	args = slices.Clone(args)
	for i, arg := range args {
		switch n := arg.(type) {
		case int:
			args[i] = humanize.Comma(int64(n))
		case float64:
			args[i] = humanize.Commaf(n)
		}
	}
	return fmt.Sprintf(format, args...)
}
