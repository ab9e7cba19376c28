package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// Edited is implemented by bodies whose users change more than whole members, or values that are no members.
type Edited interface{ Edited() []any }

// item is what a GET operation of one item returns.
type item struct {
	body reflect.Type
	// current returns the item of a request to this path, or to one below it.
	current func(ctx context.Context, request huma.Context) (any, error)
}

// Item marks the operation that gets one item. Its response, and every other response with this type of body, has the
// header ETag. It is a hash of the type and of these members of the body: those that users can change, and the id. A
// body can add values with Edited. Requests that change the item, at its path or below it, may have the header If-Match.
func Item(op huma.Operation, members ...string) huma.Operation {
	op.Metadata[itemKey] = members
	return op
}

// addItem registers the operation of Item.
func (a *API) addItem(op huma.Operation, in, out reflect.Type, do call) {
	names, ok := op.Metadata[itemKey].([]string)
	if !ok {
		return
	}
	output, _ := out.FieldByName("Body")
	a.editable[output.Type] = fieldsOf(output.Type, names)
	a.items[op.Path] = item{output.Type, func(ctx context.Context, request huma.Context) (any, error) {
		input := reflect.New(in)
		setPath(input.Elem(), request.Param)
		if r, ok := input.Interface().(huma.Resolver); ok {
			r.Resolve(headContext{request})
		}
		out, err := do(ctx, input.Interface())
		if err != nil {
			return nil, err
		}
		return reflect.ValueOf(out).Elem().FieldByIndex(output.Index).Interface(), nil
	}}
}

// headContext is the context of a request that reads an item without further effects.
type headContext struct{ humaContext }

// Method implements huma.Context.
func (headContext) Method() string { return http.MethodHead }

// Unwrap is for humagin.Unwrap.
func (c headContext) Unwrap() huma.Context { return c.humaContext }

// fieldsOf returns the fields of a body with these names. It panics if there is no such field.
func fieldsOf(body reflect.Type, names []string) [][]int {
	var all [][]int
	for _, f := range reflect.VisibleFields(body) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && slices.Contains(names, name) {
			all = append(all, f.Index)
		}
	}
	if len(all) != len(names) {
		panic("an item has no members " + strings.Join(names, ", "))
	}
	return all
}

// setPath sets the path parameters of an input.
func setPath(in reflect.Value, param func(name string) string) {
	for i := range in.NumField() {
		f := in.Type().Field(i)
		switch name := f.Tag.Get("path"); {
		case name != "":
			in.Field(i).SetString(param(name))
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			setPath(in.Field(i), param)
		}
	}
}

// itemOf returns the item that a request to a path changes.
func (a *API) itemOf(op *huma.Operation) (item, bool) {
	if op.Method == http.MethodGet || op.Method == http.MethodHead {
		return item{}, false
	}
	for at := op.Path; at != "/" && at != "."; at = path.Dir(at) {
		if it, ok := a.items[at]; ok {
			return it, true
		}
	}
	return item{}, false
}

// etag returns the ETag of a body; "" if it is not an item.
func (a *API) etag(body any) string {
	v := reflect.Indirect(reflect.ValueOf(body))
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return ""
	}
	fields, ok := a.editable[v.Type()]
	if !ok {
		if v.NumField() > 0 && v.Type().Field(0).Anonymous { // an item with more members
			return a.etag(v.Field(0).Interface())
		}
		return ""
	}
	values := append([]any{v.Type().Name()}, valuesOf(v, fields)...)
	if e, ok := v.Interface().(Edited); ok {
		values = append(values, e.Edited()...)
	}
	hash := sha256.New()
	to := json.NewEncoder(hash)
	for _, value := range values {
		if err := to.Encode(value); err != nil { // cannot happen: the response has the same values
			return ""
		}
	}
	return `"` + base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:15]) + `"`
}

func valuesOf(v reflect.Value, fields [][]int) []any {
	all := make([]any, len(fields))
	for i, index := range fields {
		all[i] = v.FieldByIndex(index).Interface()
	}
	return all
}

// addETag adds the header ETag to responses with an item, and to those of requests that change one.
func (a *API) addETag(ctx huma.Context, _ string, v any) (any, error) {
	tag := a.etag(v)
	if it, ok := a.itemOf(ctx.Operation()); ok && tag == "" {
		if p, failed := v.(*middleware.Problem); failed {
			v = p
			tag = a.etag(p.Current)
		} else if current, err := it.current(ctx.Context(), ctx); err == nil {
			tag = a.etag(current)
		}
	}
	if tag != "" {
		ctx.SetHeader("ETag", tag)
	}
	return v, nil
}

// checkMatch checks the header If-Match of a request that changes an item (RFC 9110, section 13.1.1): before the
// operation, and again in its transaction. An item that does not exist is left to the operation.
func (a *API) checkMatch(ctx huma.Context, next func(huma.Context)) {
	given := ifMatch(ctx)
	it, ok := a.itemOf(ctx.Operation())
	if given == "" || !ok {
		next(ctx)
		return
	}
	tags, ok := parseTags(given)
	if !ok {
		a.fail(ctx, models.Invalid("header.If-Match", "must be * or a list of entity tags such as \"abc\""))
		return
	}
	check := func(inside context.Context) error {
		current, err := it.current(inside, ctx)
		if err != nil {
			return err
		}
		if tags != nil && !slices.Contains(tags, a.etag(current)) {
			p := middleware.NewProblem(models.CodePrecondition, "The item has changed since you read it. Compare it with current, then try again.")
			p.Current = current
			return p
		}
		return nil
	}
	switch err := check(ctx.Context()); {
	case models.CodeOf(err) == models.CodeNotFound:
		next(ctx)
	case err != nil:
		a.fail(ctx, err)
	default:
		next(huma.WithContext(ctx, models.Expect(ctx.Context(), check)))
	}
}

// ifMatch returns the values of the header If-Match, as one list.
func ifMatch(ctx huma.Context) string {
	var all []string
	ctx.EachHeader(func(name, value string) {
		if strings.EqualFold(name, "If-Match") {
			all = append(all, value)
		}
	})
	return strings.Join(all, ",")
}

// parseTags parses the header If-Match. The tags are nil for *, which every item matches. Weak tags never match.
func parseTags(header string) (tags []string, ok bool) {
	header = strings.TrimSpace(header)
	if header == "*" {
		return nil, true
	}
	tags = []string{}
	for header != "" {
		weak := strings.HasPrefix(header, "W/")
		rest, ok := strings.CutPrefix(strings.TrimPrefix(header, "W/"), `"`)
		end := strings.IndexByte(rest, '"')
		if !ok || end < 0 {
			return nil, false
		}
		if !weak {
			tags = append(tags, `"`+rest[:end]+`"`)
		}
		header = strings.TrimLeft(rest[end+1:], " \t")
		if header != "" && header[0] != ',' {
			return nil, false
		}
		header = strings.TrimLeft(header, ", \t")
	}
	return tags, true
}

// fail answers with an error.
func (a *API) fail(ctx huma.Context, err error) {
	p := a.errs.Problem(ctx.Context(), err)
	_ = huma.WriteErr(a.huma, ctx, p.Status, p.Detail, p) // fails only if the client is gone
}

// DescribeItems adds the headers ETag and If-Match to the document. It is called after all operations are registered.
func (a *API) DescribeItems() {
	for _, one := range a.huma.OpenAPI().Paths {
		for _, op := range []*huma.Operation{one.Get, one.Post, one.Put, one.Patch, one.Delete} {
			if op == nil {
				continue
			}
			_, changes := a.itemOf(op)
			if changes {
				op.Parameters = append(op.Parameters, &huma.Param{
					Name: "If-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString}, Example: `"9tGhQ0yTqk3vXwJcTz1n"`,
					Description: "ETag of the item as the client read it, a list of ETags, or *. 412 if the item has changed meanwhile. Without it, the request overwrites other changes",
				})
				a.addProblems(op.Responses, false, []models.Code{models.CodePrecondition})
			}
			if output, _ := op.Metadata[outputKey].(reflect.Type); changes || a.isItem(output) {
				describeETag(op.Responses)
			}
		}
	}
}

// isItem reports whether the bodies of a type are items, also with more members.
func (a *API) isItem(body reflect.Type) bool {
	for body != nil && body.Kind() == reflect.Struct && a.editable[body] == nil && body.NumField() > 0 && body.Field(0).Anonymous {
		body = body.Field(0).Type
	}
	return a.editable[body] != nil
}

// describeETag adds the header ETag to the responses with a body that are no problems.
func describeETag(responses map[string]*huma.Response) {
	for status, r := range responses {
		if r.Ref == "" && strings.HasPrefix(status, "2") && len(r.Content) > 0 {
			r.Headers[etagHeader] = headerRef(etagHeader)
		}
	}
}
