package api

import (
	"time"

	"linkwatch/models"
)

// List is one page of a list with page numbers.
type List[T any] struct {
	Page              int  `json:"page" example:"1" doc:"Page number, from 1"`
	PerPage           int  `json:"per_page" example:"30" doc:"Maximum number of results per page"`
	TotalResults      int  `json:"total_results" example:"92" doc:"Number of results on all pages. A search counts up to 10,000"`
	TotalIsLowerBound bool `json:"total_is_lower_bound" example:"false" doc:"Whether there are more than total_results. If true, pages after total_pages also have results"`
	TotalPages        int  `json:"total_pages" example:"4" doc:"Number of pages for total_results"`
	Results           []T  `json:"results" nullable:"false" doc:"Results on this page"`
}

// Slice is a page of a list with page tokens.
type Slice[T any] struct {
	Items             []T    `json:"items" nullable:"false" doc:"Items on this page"`
	NextPageToken     string `json:"next_page_token" doc:"page_token of the next page. Empty on the last page. A page of a search can have few or no items and still have a next page"`
	TotalResults      *int   `json:"total_results" example:"92" doc:"Number of items on all pages, counted up to 10,000. null unless the request has total=true"`
	TotalIsLowerBound *bool  `json:"total_is_lower_bound" example:"false" doc:"Whether there are, or may be, more than total_results. null unless the request has total=true"`
}

// Output is a response with a body and no headers.
type Output[T any] struct{ Body T }

// Answer returns a response with the body v, or err.
func Answer[T any](v T, err error) (*Output[T], error) {
	if err != nil {
		return nil, err
	}
	return &Output[T]{v}, nil
}

// AnswerList is Answer for a page of a list with page numbers. l is not used if err is set.
func AnswerList[M, T any](l models.List[M], wire func(M) T, err error) (*Output[List[T]], error) {
	if err != nil {
		return nil, err
	}
	return &Output[List[T]]{ToList(l, wire)}, nil
}

// AnswerSlice is Answer for a page of a list with page tokens.
func AnswerSlice[M, T any](l models.Slice[M], wire func(M) T, err error) (*Output[Slice[T]], error) {
	return AnswerItems(l, All(l.Items, wire), err)
}

// AnswerItems is AnswerSlice for items that are converted together.
func AnswerItems[M, T any](l models.Slice[M], items []T, err error) (*Output[Slice[T]], error) {
	out := Slice[T]{Items: items, NextPageToken: l.Next.Token()}
	if l.Count.Known {
		out.TotalResults, out.TotalIsLowerBound = &l.Count.N, &l.Count.LowerBound
	}
	return Answer(out, err)
}

// AnswerAll is AnswerSlice for a list that has all its items on one page.
func AnswerAll[M, T any](p TotalParams, all []M, wire func(M) T, err error) (*Output[Slice[T]], error) {
	l := models.Slice[M]{Items: all}
	if p.Total {
		l.Count = models.CountAll(all)
	}
	return AnswerSlice(l, wire, err)
}

// ToList converts a page of models to a page of the API.
func ToList[M, T any](l models.List[M], wire func(M) T) List[T] {
	return List[T]{
		Page: l.Number, PerPage: l.Size,
		TotalResults: l.Total, TotalIsLowerBound: l.TotalIsLowerBound, TotalPages: l.Pages(),
		Results: All(l.Items, wire),
	}
}

// All converts items. The result is never nil, so that an empty list is [] in JSON.
func All[M, T any](items []M, wire func(M) T) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		out = append(out, wire(item))
	}
	return out
}

// Time returns nil for the zero time.
func Time(t models.Time) *time.Time { return OrNull(t.Time) }

// OrNull returns nil for the zero value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
