package google

import (
	"bytes"
	"encoding/json"
)

// apiError is the body of an error response. It is empty if the body does not have the format of Google's APIs.
type apiError struct {
	Message string `json:"message"`
	Errors  []struct {
		Reason string `json:"reason"`
	} `json:"errors"`
	Details []any `json:"details"`
}

// newAPIError parses the body of an error response: an object with an error, or a list whose first item is one.
func newAPIError(body []byte) *apiError {
	type reply struct {
		Error apiError `json:"error"`
	}
	if bytes.HasPrefix(body, []byte("[")) {
		var list []reply
		if err := json.Unmarshal(body, &list); err != nil || len(list) == 0 {
			return &apiError{}
		}
		return &list[0].Error
	}
	var one reply
	if err := json.Unmarshal(body, &one); err != nil {
		return &apiError{}
	}
	return &one.Error
}

// Error implements error.
func (e *apiError) Error() string { return "google: " + e.Message }
