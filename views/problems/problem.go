// Package problems holds the pages that say what went wrong: the error page of the
// program, and the public explanation of each type of problem.
package problems

// ProblemType explains one type of problem, for clients that follow the "type" of a
// problem document.
type ProblemType struct {
	Slug    string // last part of the type, such as "not-found"
	Status  int    // HTTP status
	Title   string
	Meaning string // what happened
	Action  string // what to do about it
}
