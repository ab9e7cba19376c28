package api

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// Problems that operations share: all routes, routes that need a login, all operations of /v1,
// and operations with a body.
var (
	problemsOfAll    = []models.Code{models.CodeForbidden, middleware.CodeInternal}
	problemsOfLogin  = []models.Code{middleware.CodeUnauthorized, middleware.CodeRateLimited}
	problemsOfV1     = []models.Code{models.CodeInvalid, models.CodeUnavailable}
	problemsOfBodies = []models.Code{middleware.CodeRequestTimeout, middleware.CodeTooLarge, middleware.CodeUnsupportedMedia}
)

const (
	problemMedia = "application/problem+json"
	htmlMedia    = "text/html"
)

// describeProblems adds the problem responses of an operation of /v1.
func (a *API) describeProblems(op *huma.Operation, input reflect.Type) {
	codes, _ := op.Metadata[problemsKey].([]models.Code)
	if _, ok := input.FieldByName("Body"); ok {
		codes = append(codes, problemsOfBodies...)
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	a.addProblems(op.Responses, false, problemsOfAll, problemsOfLogin, problemsOfV1, codes)
}

// addProblems adds a reference to a shared response for each status of the codes. If pages is
// true, browsers get a page instead of the problem.
func (a *API) addProblems(responses map[string]*huma.Response, pages bool, codes ...[]models.Code) {
	byStatus := map[int][]middleware.ProblemType{}
	for _, some := range codes {
		for _, code := range some {
			t, ok := middleware.ProblemTypeOf(string(code))
			if !ok {
				panic("no such problem: " + string(code))
			}
			if !slices.Contains(byStatus[t.Status], t) {
				byStatus[t.Status] = append(byStatus[t.Status], t)
			}
		}
	}
	for status, types := range byStatus {
		responses[strconv.Itoa(status)] = a.problemResponse(types, pages)
	}
}

// problemResponse returns a reference to the shared response with these problem types.
func (a *API) problemResponse(types []middleware.ProblemType, pages bool) *huma.Response {
	var names, meanings []string
	var slugs []any
	for _, t := range types {
		names = append(names, camelCase(t.Slug))
		slugs = append(slugs, a.path+t.Type())
		meanings = append(meanings, t.Title+". "+t.Meaning)
	}
	name := strings.Join(names, "Or")
	if pages {
		name += "Page"
	}
	all := a.huma.OpenAPI().Components.Responses
	if all[name] == nil {
		object := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
			"type": {Type: huma.TypeString, Enum: slugs, Description: "Type of the problem"},
		}}
		all[name] = &huma.Response{
			Description: strings.Join(meanings, " Or: "), Headers: map[string]*huma.Param{},
			Content: map[string]*huma.MediaType{
				problemMedia: {Schema: &huma.Schema{AllOf: []*huma.Schema{{Ref: "#/components/schemas/Problem"}, object}}},
			},
		}
		if pages {
			all[name].Content[htmlMedia] = Text("Page for browsers")
		}
		for _, h := range problemHeaders[types[0].Status] {
			all[name].Headers[h] = headerRef(h)
		}
		describeHeaders(map[string]*huma.Response{"": all[name]})
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

// camelCase converts a slug: "not-found" to "NotFound".
func camelCase(slug string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(slug, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

const (
	etagHeader = "ETag"
	requestID  = "X-Request-Id"
	retryAfter = "Retry-After"
	wwwAuth    = "WWW-Authenticate"
)

// problemHeaders are the headers of problems by status, in addition to X-Request-Id.
var problemHeaders = map[int][]string{
	http.StatusUnauthorized:        {wwwAuth},
	http.StatusConflict:            {retryAfter},
	http.StatusPreconditionFailed:  {etagHeader},
	http.StatusUnprocessableEntity: {retryAfter},
	http.StatusTooManyRequests:     {retryAfter},
	http.StatusServiceUnavailable:  {retryAfter},
}

// headers returns the shared header components.
func headers() map[string]*huma.Param {
	id := header("ID of the request, as in the server log")
	id.Required = true
	wait := header("Seconds to wait before a retry, if known")
	wait.Schema = &huma.Schema{Type: huma.TypeInteger}
	return map[string]*huma.Param{
		requestID: id, retryAfter: wait, etagHeader: header("Version of the item, for If-Match. It changes when a user changes the item"), wwwAuth: header("Supported authentication schemes: HTTP Basic or a bearer token"),
	}
}

func header(description string) *huma.Param {
	return &huma.Param{Description: description, Schema: &huma.Schema{Type: huma.TypeString}}
}

func headerRef(name string) *huma.Param { return &huma.Param{Ref: "#/components/headers/" + name} }

// describeHeaders adds the headers of every response, and descriptions to the headers that
// huma added.
func describeHeaders(responses map[string]*huma.Response) {
	for _, r := range responses {
		if r.Ref != "" {
			continue
		}
		if r.Headers == nil {
			r.Headers = map[string]*huma.Param{}
		}
		delete(r.Headers, "Content-Type") // OpenAPI does not describe it as a header
		for _, h := range r.Headers {
			if h.Description == "" && h.Schema != nil {
				h.Description = h.Schema.Description
			}
		}
		r.Headers[requestID] = headerRef(requestID)
	}
}

// Text describes a text body.
func Text(description string) *huma.MediaType {
	return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: description}}
}
