package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json/jsontext"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// huma has only global settings for the format of errors and for case-sensitive member names,
// so they are set once, before any request.
func init() {
	huma.ValidateStrictCasing = true
	huma.NewErrorWithContext = refusal
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return refusal(nil, status, msg, errs...)
	}
}

// JSONMedia is the media type of request and response bodies.
const JSONMedia = "application/json"

// formats are the supported media types. huma uses "json" for application/problem+json.
var formats = map[string]huma.Format{JSONMedia: jsonFormat, "json": jsonFormat, csvMedia: csvFormat}

var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}

// unmarshal reads JSON. Its errors can be shown to the client, while those of encoding/json
// quote the input and name Go types. It rejects duplicate members and invalid UTF-8, which
// encoding/json accepts.
func unmarshal(data []byte, v any) error {
	strict := jsontext.NewDecoder(bytes.NewReader(data))
	_, err := strict.ReadValue()
	if err == nil {
		if _, err = strict.ReadToken(); err == nil {
			return fmt.Errorf("is not valid JSON: unexpected data after the value at byte %d", strict.InputOffset())
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch syntax, _ := errors.AsType[*jsontext.SyntacticError](err); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("has a duplicate member")
	case syntax != nil:
		return fmt.Errorf("is not valid JSON: syntax error at byte %d", syntax.ByteOffset+1)
	case err != nil:
		return errors.New("is not valid JSON: unexpected end")
	}
	if _, toValidate := v.(*any); toValidate {
		data = jsonTime.ReplaceAllFunc(data, bytes.ToUpper)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("does not match the schema of this operation")
	}
	return nil
}

// Operation returns an operation in a group (tag) for callers with a role. problems are the
// codes of its errors, in addition to those of every operation.
func Operation(tag string, needs middleware.Role, method, path, id, summary, description string, problems ...models.Code) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, Description: description,
		Tags: []string{tag}, Metadata: map[string]any{needsKey: needs, problemsKey: problems},
	}
}

// Limited returns op with a rate limit per client.
func Limited(op huma.Operation, l *middleware.Limiter) huma.Operation {
	op.Metadata[limitKey] = l
	return op
}

// Own marks an operation that changes the caller's own credentials (middleware.Route.OwnCredentials).
func Own(op huma.Operation) huma.Operation {
	op.Metadata[ownKey] = true
	return op
}

// Register adds an operation. Errors of do are mapped by middleware.Errors. huma must not set
// a read deadline: middleware.Errors.Body has already read the body, and a deadline that
// expires while the handler works looks like a client that closed the connection.
func Register[I, O any](a *API, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	// Code in this function is compiled for each operation, so it calls others.
	in, out := reflect.TypeFor[I](), reflect.TypeFor[O]()
	a.begin(&op, in, out)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.errs.Problem(ctx, err)
		}
		return out, nil
	})
	a.end(op, in, out, func(ctx context.Context, in any) (any, error) { return do(ctx, in.(*I)) })
}

// begin prepares an operation and adds its route.
func (a *API) begin(op *huma.Operation, in, out reflect.Type) {
	op.BodyReadTimeout = -1
	op.MaxBodyBytes = middleware.MaxBody + 1 // huma rejects a body of exactly this size
	op.Metadata[membersKey] = members(in)
	op.Metadata[tableKey] = isTable(*op, out)
	if body, ok := out.FieldByName("Body"); ok {
		op.Metadata[outputKey] = body.Type
	}
	needs, _ := op.Metadata[needsKey].(middleware.Role)
	limit, _ := op.Metadata[limitKey].(*middleware.Limiter)
	own, _ := op.Metadata[ownKey].(bool)
	a.routes = append(a.routes, middleware.Route{
		Method: op.Method, Path: routePath(op.Path), Needs: needs, System: a.system, OwnCredentials: own, Limit: limit,
	})
	a.describeProblems(op, in)
}

// end completes an operation after huma has added its own responses and headers.
func (a *API) end(op huma.Operation, in, out reflect.Type, do call) {
	a.describeList(op)
	a.addItem(op, in, out, do)
	describeHeaders(op.Responses)
}

// call calls an operation with a pointer to its input. It returns a pointer to its output.
type call func(ctx context.Context, in any) (out any, err error)

// routePath converts an OpenAPI path to a router path: "/v1/links/{id}" to "/v1/links/:id".
func routePath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// Content describes a response body that is not in the types of the operation.
func Content(mediaType, schema string) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}}
}

// Creates describes an operation that answers 201 with a new resource, or 200 with an existing one.
func Creates(op huma.Operation, schema string) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	location := map[string]*huma.Param{"Location": header("Path of the existing resource in this API")}
	op.Responses = map[string]*huma.Response{
		"200": {Description: "Already exists", Headers: location, Content: Content(JSONMedia, schema)},
	}
	return op
}

// Keys of the metadata of an operation.
const (
	membersKey  = "members"
	problemsKey = "problems"
	needsKey    = "needs"
	limitKey    = "limit"
	orderKey    = "order"
	sortsKey    = "sorts"
	tableKey    = "table"
	ownKey      = "own"
	itemKey     = "item"
	outputKey   = "output"
)

// members returns the names of the JSON members of an operation's body under "", and those of
// nested objects under the name of the object.
func members(input reflect.Type) map[string]string {
	known := map[string]string{}
	if body, ok := input.FieldByName("Body"); ok {
		object := body.Type
		if object.Kind() == reflect.Pointer { // the body may be left out
			object = object.Elem()
		}
		addMembers(known, "", object)
	}
	return known
}

func addMembers(known map[string]string, owner string, object reflect.Type) {
	var names []string
	for _, f := range reflect.VisibleFields(object) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		if m, ok := reflect.Zero(f.Type).Interface().(interface{ of() reflect.Type }); ok && m.of().Kind() == reflect.Struct {
			addMembers(known, name, m.of())
		}
	}
	known[owner] = strings.Join(names, ", ")
}

// checkMedia rejects a body without the content type JSON. Operations without a body ignore it.
func (a *API) checkMedia(ctx huma.Context, next func(huma.Context)) {
	r := humagin.Unwrap(ctx).Request
	if r.ContentLength != 0 && ctx.Operation().RequestBody != nil {
		media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || media != JSONMedia || r.Header.Get("Content-Encoding") != "" {
			p := middleware.NewProblem(middleware.CodeUnsupportedMedia, "Send the body as application/json, without compression.")
			_ = huma.WriteErr(a.huma, ctx, p.Status, p.Detail, p) // fails only if the client is gone
			return
		}
		r.Header.Set("Content-Type", JSONMedia) // huma compares the exact string
	}
	next(ctx)
}

// maxFieldErrors limits the size of the response to a body with many errors.
const maxFieldErrors = 20

// refusal converts huma's own validation errors to a problem.
func refusal(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
	for _, err := range errs {
		if p, ok := errors.AsType[*middleware.Problem](err); ok {
			return p
		}
	}
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		p := middleware.NewProblem(models.CodeInvalid, "The request has invalid fields.")
		if len(errs) == 0 { // huma's error for a missing body
			p.Errors = []middleware.FieldError{{Location: "body", Message: "is missing"}}
		}
		for _, err := range errs {
			if f := fieldError(ctx, err); len(p.Errors) < maxFieldErrors && !slices.Contains(p.Errors, f) {
				p.Errors = append(p.Errors, f)
			}
		}
		if len(p.Errors) == 1 {
			p.Detail = p.Errors[0].Location + ": " + p.Errors[0].Message
		}
		return p
	case http.StatusRequestEntityTooLarge:
		return middleware.NewProblem(middleware.CodeTooLarge, "The request body is larger than 1 MiB. Send less data at once.")
	case http.StatusUnsupportedMediaType:
		return middleware.NewProblem(middleware.CodeUnsupportedMedia, "Send the body as application/json.")
	}
	if ctx == nil { // huma creates an example for the document
		return middleware.NewProblem(middleware.CodeInternal, msg)
	}
	return middleware.Internal(ctx.Context())
}

// fieldError converts an error of huma. It drops values and unknown member names that the
// client sent, and uses the same locations as package models: "url", "query.page".
func fieldError(ctx huma.Context, err error) middleware.FieldError {
	detailer, ok := err.(huma.ErrorDetailer)
	if !ok {
		return middleware.FieldError{Location: "body", Message: "is not valid"}
	}
	d := detailer.ErrorDetail()
	location := strings.TrimPrefix(d.Location, "body.")
	if d.Message == validation.MsgUnexpectedProperty && ctx != nil {
		known, _ := ctx.Operation().Metadata[membersKey].(map[string]string)
		object, _, _ := strings.Cut(location, ".")
		if known[object] == "" || object == location {
			return middleware.FieldError{Location: "body", Message: "has an unknown member; allowed: " + known[""]}
		}
		return middleware.FieldError{Location: object, Message: "has an unknown member; allowed: " + known[object]}
	}
	if strings.HasPrefix(d.Message, "invalid date/time") { // the rest is a Go time layout
		return middleware.FieldError{Location: location, Message: "must be a time such as 2025-03-24T12:00:00Z"}
	}
	var member string
	if n, _ := fmt.Sscanf(d.Message, validation.MsgExpectedRequiredProperty, &member); n == 1 {
		return middleware.FieldError{Location: strings.TrimPrefix(location+"."+member, "body."), Message: "is missing"}
	}
	if m := paramMessages[d.Message]; m != "" {
		return middleware.FieldError{Location: location, Message: m}
	}
	return middleware.FieldError{Location: location, Message: d.Message}
}
