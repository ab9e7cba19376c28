package api

import (
	"context"
	"net/http"
	"time"

	"github.com/linkwatch/linkwatch/models/targets"
)

func (a *API) registerStatusPages() {
	register(a, operation(tagStatusPages, "GET", "/v1/status-pages", "list-status-pages", "List the status pages", "All of them, by title."), a.listStatusPages)
	add := operation(tagStatusPages, "POST", "/v1/status-pages", "add-status-page", "Make a status page",
		"Everybody can read it at /status/{slug}. 409 if another page has the slug.")
	add.DefaultStatus = http.StatusCreated
	register(a, add, a.addStatusPage)
	register(a, operation(tagStatusPages, "GET", "/v1/status-pages/{id}", "get-status-page", "A status page", ""), a.getStatusPage)
	register(a, operation(tagStatusPages, "PUT", "/v1/status-pages/{id}", "replace-status-page", "Replace what a status page shows",
		"What is left out becomes empty. 409 if another page has the slug."), a.replaceStatusPage)
	register(a, operation(tagStatusPages, "DELETE", "/v1/status-pages/{id}", "delete-status-page", "Delete a status page", "Its targets stay."), a.deleteStatusPage)
}

// StatusPagePath names a status page.
type StatusPagePath struct {
	ID string `path:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"The status page's id"`
}

// StatusPageSummary is a status page in a list.
type StatusPageSummary struct {
	ID          string    `json:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG"`
	Slug        string    `json:"slug" example:"shop" doc:"It is at /status/{slug}"`
	Title       string    `json:"title" example:"The shop"`
	Description string    `json:"description" example:"All that customers see"`
	TargetCount int       `json:"target_count" example:"3"`
	CreatedAt   time.Time `json:"created_at" example:"2025-03-24T12:00:00Z"`
	UpdatedAt   time.Time `json:"updated_at" example:"2025-03-24T14:02:00Z"`
}

// StatusPage is the public page of a group of targets.
type StatusPage struct {
	StatusPageSummary
	Targets []string `json:"targets" nullable:"false" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Their ids, in the page's order"`
}

func toStatusPageSummary(p targets.StatusPage) StatusPageSummary {
	return StatusPageSummary{
		ID: p.ID, Slug: p.Slug, Title: p.Title, Description: p.Description, TargetCount: p.Size,
		CreatedAt: p.CreatedAt.Time, UpdatedAt: p.UpdatedAt.Time,
	}
}

func toStatusPage(p targets.StatusPage) StatusPage {
	return StatusPage{
		StatusPageSummary: toStatusPageSummary(p),
		Targets:           toAll(p.Targets, func(t targets.Target) string { return t.ID }),
	}
}

func (a *API) listStatusPages(ctx context.Context, _ *struct{}) (*output[Slice[StatusPageSummary]], error) {
	pages, err := a.Targets.Pages(ctx)
	return answer(Slice[StatusPageSummary]{Items: toAll(pages, toStatusPageSummary)}, err)
}

// StatusPageSettings are what the owner of a status page sets.
type StatusPageSettings struct {
	Slug        string   `json:"slug" example:"shop" doc:"At most 64 lower-case letters, digits and -; no other page may have it"`
	Title       string   `json:"title" example:"The shop" doc:"At most 200 characters"`
	Description string   `json:"description,omitempty" example:"All that customers see" doc:"At most 2000 characters"`
	Targets     []string `json:"targets,omitempty" nullable:"false" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of at most 100 targets, in the page's order"`
}

func (s StatusPageSettings) edit() targets.PageEdit {
	return targets.PageEdit{Slug: s.Slug, Title: s.Title, Description: s.Description, TargetIDs: s.Targets}
}

type addStatusPageInput struct{ Body StatusPageSettings }

type addStatusPageOutput struct {
	Location string `header:"Location" doc:"The page's address in this API"`
	Body     StatusPage
}

func (a *API) addStatusPage(ctx context.Context, in *addStatusPageInput) (*addStatusPageOutput, error) {
	p, err := a.Targets.AddPage(ctx, in.Body.edit())
	if err != nil {
		return nil, err
	}
	return &addStatusPageOutput{Location: "/v1/status-pages/" + p.ID, Body: toStatusPage(p)}, nil
}

func (a *API) getStatusPage(ctx context.Context, in *StatusPagePath) (*output[StatusPage], error) {
	p, err := a.Targets.Page(ctx, in.ID)
	return answer(toStatusPage(p), err)
}

type replaceStatusPageInput struct {
	StatusPagePath
	Body StatusPageSettings
}

func (a *API) replaceStatusPage(ctx context.Context, in *replaceStatusPageInput) (*output[StatusPage], error) {
	p, err := a.Targets.EditPage(ctx, in.ID, in.Body.edit())
	return answer(toStatusPage(p), err)
}

func (a *API) deleteStatusPage(ctx context.Context, in *StatusPagePath) (*struct{}, error) {
	return nil, a.Targets.DeletePage(ctx, in.ID)
}
