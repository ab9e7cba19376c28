package middleware

import "linkwatch/models"

// Operation describes a route outside of /v1 in the OpenAPI document. It stands
// beside the route's handler.
type Operation struct {
	Methods     []string // the first is the one that names the operation
	Path        string   // as the router has it: "/s/:key"
	ID          string
	Tag         string
	Summary     string
	Description string
	Public      bool // no login is needed
	Params      []Param
	Responses   []Response
	Problems    []models.Code // problems that the route can answer, besides those of every route
}

// Param describes a parameter in the path or the query of an Operation.
type Param struct {
	Name, In, Description string
	Example               string
	Enum                  []string // nil = any text
}

// Response describes a response of an Operation that is not a problem.
type Response struct {
	Status      int
	Description string
	Headers     map[string]string // descriptions by name
	Content     map[string]any    // a value of the body's type by media type; nil = text
}

// Member is a member of a body beside the fields of its type, which has a method
// Members. Value is of the member's type.
type Member struct {
	Name, Doc string
	Value     any
}
