// Package openapi compares the program with its OpenAPI document: the exchanges that the tests of the program recorded,
// and a client that is generated from the document.
package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	faults "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/helpers"
)

// Exchange is a request with its response, as package linkwatch/handlers/api/apitest records them.
type Exchange struct {
	Test           string
	Method, URL    string
	RequestHeader  http.Header
	RequestBody    []byte
	Status         int
	ResponseHeader http.Header
	ResponseBody   []byte
}

// newValidator returns an error unless the document is valid.
func newValidator(document []byte) (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(document)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		return nil, fmt.Errorf("read the document: %w", errors.Join(errs...))
	}
	if ok, found := v.ValidateDocument(); !ok {
		return nil, errors.New("the document is not valid" + text(found))
	}
	return v, nil
}

// text lists faults, one a line.
func text(found []*faults.ValidationError) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n%s: %s", f.Message, f.Reason)
		for _, s := range f.SchemaValidationErrors {
			fmt.Fprintf(&b, "\n\t%s: %s", s.FieldPath, s.Reason)
		}
	}
	return b.String()
}

const clientGone = 499 // the client closed the connection before the response

// check says why an exchange is not as the document says, or "". The document must list the status, the headers and the
// body of the response. The request is checked too if it succeeded. A path of the API that is not in the document must
// not succeed.
func check(v validator.Validator, e Exchange) string {
	if e.Status == clientGone {
		return ""
	}
	r := httptest.NewRequest(e.Method, e.URL, bytes.NewReader(e.RequestBody))
	r.Header = e.RequestHeader
	u := *r.URL
	u.Path, u.RawPath = alias(u.Path), ""
	q := u.Query()
	maps.DeleteFunc(q, func(_ string, values []string) bool { return values[0] == "" }) // as if it were left out
	u.RawQuery = q.Encode()
	r.URL = &u
	body := e.ResponseBody
	if e.Method == http.MethodHead { // net/http leaves it out
		body = nil
	}
	res := &http.Response{StatusCode: e.Status, Header: e.ResponseHeader, Request: r, Body: io.NopCloser(bytes.NewReader(body))}
	var found []*faults.ValidationError
	if e.Status < http.StatusBadRequest {
		_, found = v.ValidateHttpRequestResponse(r, res)
	} else {
		_, found = v.ValidateHttpResponse(r, res)
	}
	// The validator knows no slash at the end.
	if len(found) > 0 && (found[0].ValidationType == helpers.PathValidation || strings.HasSuffix(u.Path, "/")) {
		if strings.HasPrefix(u.Path, "/v1/") && e.Status < http.StatusBadRequest && e.Method != http.MethodHead {
			return "the operation is not in the document"
		}
		return ""
	}
	if len(found) > 0 {
		return text(found) + "\n" + string(body)
	}
	return ""
}

// alias is the path of an operation in the document.
func alias(path string) string {
	if strings.HasPrefix(path, "/api/v1/") {
		return strings.TrimPrefix(path, "/api")
	}
	return path
}
