package api

import (
	"time"

	"linkwatch/models"
)

// List is one page of a list of the links family.
type List[T any] struct {
	Page              int  `json:"page" example:"1" doc:"Number of this page, from 1"`
	PerPage           int  `json:"per_page" example:"30" doc:"Maximum number of results on a page"`
	TotalResults      int  `json:"total_results" example:"92" doc:"Number of results on all pages. A search counts up to 10,000"`
	TotalIsLowerBound bool `json:"total_is_lower_bound" example:"false" doc:"Whether there are more results than total_results. Pages after total_pages have results then"`
	TotalPages        int  `json:"total_pages" example:"4" doc:"Number of pages that total_results take"`
	Results           []T  `json:"results" nullable:"false" doc:"Results on this page"`
}

// Slice is one page of a list that is read by token.
type Slice[T any] struct {
	Items         []T    `json:"items" nullable:"false" doc:"Items on this page"`
	NextPageToken string `json:"next_page_token" doc:"page_token of the next page. Empty on the last page"`
}

// Output is an answer that is only a body.
type Output[T any] struct{ Body T }

// Answer is the answer of an operation whose body is v, or its error.
func Answer[T any](v T, err error) (*Output[T], error) {
	if err != nil {
		return nil, err
	}
	return &Output[T]{v}, nil
}

// AnswerList is answer for a page of a list. (Without a page there is nothing
// to count, so an error is looked at first.)
func AnswerList[M, T any](l models.List[M], wire func(M) T, err error) (*Output[List[T]], error) {
	if err != nil {
		return nil, err
	}
	return &Output[List[T]]{ToList(l, wire)}, nil
}

// AnswerSlice is answer for a page of a list that is read by token.
func AnswerSlice[M, T any](l models.Slice[M], wire func(M) T, err error) (*Output[Slice[T]], error) {
	return Answer(Slice[T]{All(l.Items, wire), l.Next.Token()}, err)
}

// ToList turns a page of the store into one of the wire.
func ToList[M, T any](l models.List[M], wire func(M) T) List[T] {
	return List[T]{
		Page: l.Number, PerPage: l.Size,
		TotalResults: l.Total, TotalIsLowerBound: l.TotalIsLowerBound, TotalPages: l.Pages(),
		Results: All(l.Items, wire),
	}
}

// All never gives null for an empty list.
func All[M, T any](items []M, wire func(M) T) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		out = append(out, wire(item))
	}
	return out
}

// Time is null for "never".
func Time(t models.Time) *time.Time { return OrNull(t.Time) }

// OrNull is null for what was never set.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
