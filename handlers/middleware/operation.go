package middleware

import "linkwatch/models"

// Operation describes a route outside of /v1 in the OpenAPI document.
type Operation struct {
	Methods     []string // ID belongs to the first; the others get the suffix -method
	Path        string   // of the router: "/s/:key"
	ID          string
	Tag         string
	Summary     string
	Description string
	Public      bool // no login is needed
	Params      []Param
	Responses   []Response
	Problems    []models.Code // in addition to those of every route
}

// Param describes a path or query parameter of an Operation.
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

// Member is a member of a body that is not a field of its type. The type has a method Members.
// Value has the type of the member.
type Member struct {
	Name, Doc string
	Value     any
}
