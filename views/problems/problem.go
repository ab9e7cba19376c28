// Package problems contains the error page and the public pages that explain problem types.
package problems

// ProblemType is the explanation of a problem type.
type ProblemType struct {
	Slug    string // last part of the type, such as "not-found"
	Status  int    // HTTP status
	Title   string
	Meaning string // what happened
	Action  string // what to do about it
}
