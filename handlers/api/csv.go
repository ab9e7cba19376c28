package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"linkwatch/handlers/middleware"
)

const csvMedia = "text/csv"

// csvFormat writes the items of a list as CSV.
var csvFormat = huma.Format{Marshal: writeCSV, Unmarshal: unmarshal}

// itemsOf returns the type of the items of a list; nil if a type is no list.
func itemsOf(body reflect.Type) reflect.Type {
	if body.Kind() != reflect.Struct {
		return nil
	}
	for _, name := range []string{"Items", "Results"} {
		if f, ok := body.FieldByName(name); ok && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			return f.Type.Elem()
		}
	}
	return nil
}

// isTable reports whether an operation with an output returns a list.
func isTable(op huma.Operation, output reflect.Type) bool {
	body, ok := output.FieldByName("Body")
	return ok && op.Method == http.MethodGet && itemsOf(body.Type) != nil
}

// writeCSV writes the items of a list, under a row with the names of their members.
func writeCSV(to io.Writer, v any) error {
	list := reflect.Indirect(reflect.ValueOf(v))
	item := itemsOf(list.Type())
	if item == nil {
		return jsonFormat.Marshal(to, v)
	}
	items := list.FieldByName("Items")
	if !items.IsValid() {
		items = list.FieldByName("Results")
	}
	columns := columnsOf(item, "", nil)
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = c.name
	}
	w := middleware.NewCSVWriter(to)
	if err := w.Write(row); err != nil {
		return err
	}
	for i := range items.Len() {
		for k, c := range columns {
			var err error
			if row[k], err = cell(items.Index(i), c.path); err != nil {
				return err
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Flush()
}

// column is a member of the items of a list.
type column struct {
	name string
	path []int // of the field
}

// columnsOf returns the columns of a type of items. The members of an object are columns after its name and a dot.
func columnsOf(t reflect.Type, prefix string, path []int) (all []column) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(slices.Clip(path), i)
		switch inner := object(f.Type); {
		case f.Anonymous && name == "" && inner != nil:
			all = append(all, columnsOf(inner, prefix, at)...)
		case !f.IsExported() || name == "-" || name == "":
		case inner != nil:
			all = append(all, columnsOf(inner, prefix+name+".", at)...)
		default:
			all = append(all, column{prefix + name, at})
		}
	}
	return all
}

// object returns the struct of which JSON makes an object with these members; nil for other types.
func object(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, own := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return nil
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// cell returns a member of an item: a text as it is, null as "", everything else as JSON.
func cell(v reflect.Value, path []int) (string, error) {
	for _, i := range path {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return "", nil
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	var b bytes.Buffer
	if err := jsonFormat.Marshal(&b, v.Interface()); err != nil {
		return "", err
	}
	text := strings.TrimSpace(b.String())
	switch {
	case text == "null":
		return "", nil
	case strings.HasPrefix(text, `"`):
		err := json.Unmarshal([]byte(text), &text)
		return text, err
	}
	return text, nil
}

// describeTable adds the headers of a list in CSV: its character set and the next page.
func describeTable(ctx huma.Context, _ string, v any) (any, error) {
	if ctx.Header("Accept") != csvMedia || itemsOf(reflect.Indirect(reflect.ValueOf(v)).Type()) == nil {
		return v, nil
	}
	ctx.SetHeader("Content-Type", middleware.CSVMedia)
	if list, ok := v.(interface{ next() (param, value string) }); ok {
		if param, value := list.next(); value != "" {
			ctx.SetHeader("Link", "<"+nextURL(humagin.Unwrap(ctx).Request, param, value)+`>; rel="next"`)
		}
	}
	return v, nil
}

// nextURL returns the URL of a request with another value of a parameter, relative to the server.
func nextURL(r *http.Request, param, value string) string {
	u, err := url.ParseRequestURI(r.RequestURI) // as the client sent it; the path of r may be rewritten
	if err != nil {
		u = r.URL
	}
	q := u.Query()
	q.Set(param, value)
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: q.Encode()}).String()
}

func (l List[T]) next() (param, value string) {
	if l.Page < l.TotalPages || l.TotalIsLowerBound && len(l.Results) == l.PerPage {
		return "page", strconv.Itoa(l.Page + 1)
	}
	return "", ""
}

func (s Slice[T]) next() (param, value string) { return "page_token", s.NextPageToken }
