package api

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/middleware"
)

// Describe adds a route outside of /v1 to the OpenAPI document. It does not register a handler.
func (a *API) Describe(o middleware.Operation) {
	for i, method := range o.Methods {
		op := huma.Operation{
			Method: method, Path: template(o.Path), OperationID: o.ID, Tags: []string{o.Tag},
			Summary: o.Summary, Description: o.Description, Responses: map[string]*huma.Response{},
		}
		if i > 0 {
			op.OperationID += "-" + strings.ToLower(method)
		}
		for _, p := range o.Params {
			op.Parameters = append(op.Parameters, param(p))
		}
		for _, r := range o.Responses {
			op.Responses[strconv.Itoa(r.Status)] = a.response(r)
		}
		describeHeaders(op.Responses)
		login := problemsOfLogin
		if o.Public {
			login, op.Security = nil, []map[string][]string{{}}
		}
		a.addProblems(op.Responses, true, problemsOfAll, login, o.Problems)
		a.huma.OpenAPI().AddOperation(&op)
	}
}

// template converts a router path to an OpenAPI path template.
func template(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

func param(p middleware.Param) *huma.Param {
	out := &huma.Param{
		Name: p.Name, In: p.In, Required: p.In == "path", Description: p.Description,
		Schema: &huma.Schema{Type: huma.TypeString},
	}
	if p.Example != "" {
		out.Example = p.Example
	}
	for _, v := range p.Enum {
		out.Schema.Enum = append(out.Schema.Enum, v)
	}
	return out
}

func (a *API) response(r middleware.Response) *huma.Response {
	out := &huma.Response{Description: r.Description, Headers: map[string]*huma.Param{}}
	for name, description := range r.Headers {
		out.Headers[name] = header(description)
	}
	for media, body := range r.Content {
		if out.Content == nil {
			out.Content = map[string]*huma.MediaType{}
		}
		out.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		if body != nil {
			out.Content[media].Schema = a.schema(body)
		}
	}
	return out
}

// schema returns a reference to the schema of a body's type, including the extra members of
// its method Members.
func (a *API) schema(body any) *huma.Schema {
	all := a.huma.OpenAPI().Components.Schemas
	ref := all.Schema(reflect.TypeOf(body), true, "")
	more, ok := body.(interface{ Members() []middleware.Member })
	if !ok {
		return ref
	}
	object := all.SchemaFromRef(ref.Ref)
	for _, m := range more.Members() {
		if object.Properties[m.Name] != nil { // already described
			continue
		}
		member := *all.Schema(reflect.TypeOf(m.Value), true, "")
		member.Description = m.Doc
		object.Properties[m.Name] = &member
		object.Required = append(object.Required, m.Name)
	}
	return ref
}

// Enum sets the values of a member of a registered schema, if they are known only at run time.
func (a *API) Enum(schema, member string, values ...any) {
	a.huma.OpenAPI().Components.Schemas.Map()[schema].Properties[member].Enum = values
}
