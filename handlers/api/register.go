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
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json/jsontext"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// huma lets the shape of its errors, and whether {"URL": …} is {"url": …}, be
// changed only for the whole process. This sets it once, before anything can
// ask, and the shape to a pure function.
func init() {
	huma.ValidateStrictCasing = true
	huma.NewErrorWithContext = refusal
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return refusal(nil, status, msg, errs...)
	}
}

// JSONMedia is the media type of bodies and answers.
const JSONMedia = "application/json"

// formats are the media types: JSON alone. "json" is what huma calls the +json
// of application/problem+json.
var formats = map[string]huma.Format{JSONMedia: jsonFormat, "json": jsonFormat}

var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}

// unmarshal reads JSON with errors that may be shown: those of encoding/json
// quote the input and name Go types. A member that stands twice and text that is
// not UTF-8 are mistakes, which encoding/json would pass over in silence.
func unmarshal(data []byte, v any) error {
	strict := jsontext.NewDecoder(bytes.NewReader(data))
	_, err := strict.ReadValue()
	if err == nil {
		if _, err = strict.ReadToken(); err == nil {
			return fmt.Errorf("is not valid JSON: something follows at byte %d", strict.InputOffset())
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch syntax, _ := errors.AsType[*jsontext.SyntacticError](err); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("has a member twice")
	case syntax != nil:
		return fmt.Errorf("is not valid JSON: the mistake is at byte %d", syntax.ByteOffset+1)
	case err != nil:
		return errors.New("is not valid JSON: it ends too early")
	}
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("does not have the form that this call needs")
	}
	return nil
}

// Operation describes one operation of a group (tag), which callers with a role
// may use. problems are the codes of the errors that it can answer, besides
// those that every operation can.
func Operation(tag string, needs middleware.Role, method, path, id, summary, description string, problems ...models.Code) huma.Operation {
	return huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, Description: description,
		Tags: []string{tag}, Metadata: map[string]any{needsKey: needs, problemsKey: problems},
	}
}

// Limited is an operation that each client may use only as often as l lets it.
func Limited(op huma.Operation, l *middleware.Limiter) huma.Operation {
	op.Metadata[limitKey] = l
	return op
}

// Own is an operation that changes how the caller itself signs in (middleware.Route.Own).
func Own(op huma.Operation) huma.Operation {
	op.Metadata[ownKey] = true
	return op
}

// Register adds one operation. Its errors go through the one place that maps
// them, and huma keeps its hands off the read deadline: the body was read
// before (middleware.Errors.Body), and a deadline that passes while the handler
// works would be taken for a client that is gone.
func Register[I, O any](a *API, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	op.BodyReadTimeout = -1
	op.MaxBodyBytes = middleware.MaxBody + 1 // huma refuses at the limit, we above it
	op.Metadata[membersKey] = members(reflect.TypeFor[I]())
	needs, _ := op.Metadata[needsKey].(middleware.Role)
	limit, _ := op.Metadata[limitKey].(*middleware.Limiter)
	own, _ := op.Metadata[ownKey].(bool)
	a.routes = append(a.routes, middleware.Route{Method: op.Method, Path: routePath(op.Path), Needs: needs, System: a.system, Own: own, Limit: limit})
	a.describeProblems(&op, reflect.TypeFor[I]())
	defer describeHeaders(op.Responses) // once huma has added the others
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.errs.Problem(ctx, err)
		}
		return out, nil
	})
}

// routePath is a path of OpenAPI as the router writes it: "/v1/links/{id}" is "/v1/links/:id".
func routePath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// Content describes an answer that huma does not see in the operation's types.
func Content(mediaType, schema string) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}}
}

// Creates describes an operation that answers 201 with a new resource, and 200
// with one that existed before.
func Creates(op huma.Operation, schema string) huma.Operation {
	op.DefaultStatus = http.StatusCreated
	location := map[string]*huma.Param{"Location": header("Path of the existing resource in this API")}
	op.Responses = map[string]*huma.Response{
		"200": {Description: "It existed before", Headers: location, Content: Content(JSONMedia, schema)},
	}
	return op
}

// Keys of an operation's metadata.
const (
	membersKey  = "members"
	problemsKey = "problems"
	needsKey    = "needs"
	limitKey    = "limit"
	ownKey      = "own"
)

// members are the JSON members that an operation's body may have, under "",
// and those of its members that have some of their own, under their names.
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

func addMembers(known map[string]string, of string, object reflect.Type) {
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
	known[of] = strings.Join(names, ", ")
}

// checkQuery refuses a query string that does not parse: net/url would pass
// over its broken parts in silence.
func (a *API) checkQuery(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		p := middleware.NewProblem(models.CodeInvalid, "The query string cannot be read.",
			middleware.FieldError{Location: "query", Message: "is not properly percent-encoded"})
		// An error in writing is the client's absence.
		_ = huma.WriteErr(a.huma, ctx, p.Status, p.Detail, p)
		return
	}
	next(ctx)
}

// checkMedia refuses a body that is not JSON, and one that does not say what it is.
// Operations without a body ignore what is sent.
func (a *API) checkMedia(ctx huma.Context, next func(huma.Context)) {
	r := humagin.Unwrap(ctx).Request
	if r.ContentLength != 0 && ctx.Operation().RequestBody != nil {
		media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || media != JSONMedia || r.Header.Get("Content-Encoding") != "" {
			p := middleware.NewProblem(middleware.CodeUnsupportedMedia, "Send the body as application/json, not compressed.")
			// An error in writing is the client's absence.
			_ = huma.WriteErr(a.huma, ctx, p.Status, p.Detail, p)
			return
		}
		r.Header.Set("Content-Type", JSONMedia) // huma compares letter by letter
	}
	next(ctx)
}

// maxFieldErrors keeps a small body of many mistakes from a large answer.
const maxFieldErrors = 20

// refusal is the problem for what huma itself finds wrong with a request.
func refusal(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
	for _, err := range errs {
		if p, ok := errors.AsType[*middleware.Problem](err); ok {
			return p
		}
	}
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		p := middleware.NewProblem(models.CodeInvalid, "The request has invalid fields.")
		if len(errs) == 0 { // the only such case: there is no body
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
		return middleware.NewProblem(middleware.CodeTooLarge, "The body is larger than 1 MiB.")
	case http.StatusUnsupportedMediaType:
		return middleware.NewProblem(middleware.CodeUnsupportedMedia, "Send the body as application/json.")
	}
	if ctx == nil { // huma asks for an example, to describe it
		return middleware.NewProblem(middleware.CodeInternal, msg)
	}
	return middleware.Internal(ctx.Context())
}

// fieldError drops the value that huma would echo and the names of members that
// the client made up, and names places as models does: "url", "query.page".
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
			return middleware.FieldError{Location: "body", Message: "has an unknown member; known are: " + known[""]}
		}
		return middleware.FieldError{Location: object, Message: "has an unknown member; known are: " + known[object]}
	}
	if strings.HasPrefix(d.Message, "invalid date/time") { // what follows is for Go
		return middleware.FieldError{Location: location, Message: "must be a time such as 2025-03-24T12:00:00Z"}
	}
	var most float64
	if n, _ := fmt.Sscanf(d.Message, validation.MsgExpectedMaximumNumber, &most); n == 1 { // in digits, not as 2.592e+06
		return middleware.FieldError{Location: location, Message: "expected number <= " + strconv.FormatFloat(most, 'f', -1, 64)}
	}
	var member string
	if n, _ := fmt.Sscanf(d.Message, validation.MsgExpectedRequiredProperty, &member); n == 1 {
		return middleware.FieldError{Location: strings.TrimPrefix(location+"."+member, "body."), Message: "is missing"}
	}
	return middleware.FieldError{Location: location, Message: d.Message}
}
