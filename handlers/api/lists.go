package api

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/models"
)

// Sorts lists the fields by which a list can be sorted, the default first.
func Sorts(op huma.Operation, fields ...string) huma.Operation {
	op.Metadata[sortsKey] = fields
	return op
}

// SortsOnly is Sorts for a list that has only one order.
func SortsOnly(op huma.Operation, field string, d models.Direction) huma.Operation {
	op.Metadata[orderKey] = string(d)
	return Sorts(op, field)
}

// describeList adds to the document what lists have in common: the fields to sort by, and CSV.
func (a *API) describeList(op huma.Operation) {
	fields, _ := op.Metadata[sortsKey].([]string)
	for _, p := range a.registered(op).Parameters {
		if only, ok := op.Metadata[orderKey].(string); ok && p.Name == "order" && p.In == "query" {
			p.Schema.Enum = []any{only}
			p.Schema.PrecomputeMessages()
		}
		if p.Name != "sort" || p.In != "query" || len(p.Schema.Enum) > 0 {
			continue
		}
		if len(fields) == 0 {
			panic("operation " + op.OperationID + " has the parameter sort without api.Sorts")
		}
		for _, f := range fields {
			p.Schema.Enum = append(p.Schema.Enum, f)
		}
		p.Schema.PrecomputeMessages()
	}
	if table, _ := op.Metadata[tableKey].(bool); table {
		ok := op.Responses["200"]
		ok.Content[csvMedia] = Text("The items of this page. The first row has the names of their members")
		if ok.Headers == nil {
			ok.Headers = map[string]*huma.Param{}
		}
		ok.Headers["Link"] = header(`URL of the next page as CSV, with rel="next". Not sent with JSON and on the last page`)
	}
}

// registered returns an operation as huma has registered it, with its parameters.
func (a *API) registered(op huma.Operation) *huma.Operation {
	item := a.huma.OpenAPI().Paths[op.Path]
	all := []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete}
	return all[slices.IndexFunc(all, func(o *huma.Operation) bool { return o != nil && o.OperationID == op.OperationID })]
}
