package targets

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/targets"
)

func (a API) registerStatusPages(r *api.API) {
	api.Register(r, api.Operation(groupStatusPages, middleware.Viewer, "GET", "/v1/status-pages", "list-status-pages", "List status pages", "Sorted by title, without pagination."), a.listStatusPages)
	add := api.Operation(groupStatusPages, middleware.Editor, "POST", "/v1/status-pages", "add-status-page", "Create a status page",
		"The page is public at /status/{slug}. 409 if another page has the slug.", models.CodeConflict)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addStatusPage)
	api.Register(r, api.Item(api.Operation(groupStatusPages, middleware.Viewer, "GET", "/v1/status-pages/{id}", "get-status-page", "Get a status page", "Includes the ids of its targets.", models.CodeNotFound),
		"id", "slug", "title", "description", "targets"), a.getStatusPage)
	api.Register(r, api.Operation(groupStatusPages, middleware.Editor, "PUT", "/v1/status-pages/{id}", "replace-status-page", "Replace a status page",
		"Omitted members become empty. 409 if another page has the slug.", models.CodeNotFound, models.CodeConflict), a.replaceStatusPage)
	api.Register(r, api.Operation(groupStatusPages, middleware.Editor, "DELETE", "/v1/status-pages/{id}", "delete-status-page", "Delete a status page", "Its targets are not deleted.", models.CodeNotFound), a.deleteStatusPage)
}

// StatusPagePath is the path parameter of a status page.
type StatusPagePath struct {
	ID string `path:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the status page"`
}

// StatusPageSummary is a status page in a list.
type StatusPageSummary struct {
	ID          string    `json:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the status page"`
	Slug        string    `json:"slug" example:"shop" doc:"Last part of its path, /status/{slug}"`
	Title       string    `json:"title" example:"Shop" doc:"Title"`
	Description string    `json:"description" example:"Status of our shop" doc:"Text below the title. Empty if there is none"`
	TargetCount int       `json:"target_count" example:"3" doc:"Number of targets"`
	CreatedAt   time.Time `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the page was created"`
	UpdatedAt   time.Time `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When the page was last changed"`
}

// StatusPage is the public page of a group of targets.
type StatusPage struct {
	StatusPageSummary
	Targets []string `json:"targets" nullable:"false" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of its targets, in display order"`
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
		Targets:           api.All(p.Targets, func(t targets.Target) string { return t.ID }),
	}
}

func (a API) listStatusPages(ctx context.Context, in *api.TotalParams) (*api.Output[api.Slice[StatusPageSummary]], error) {
	pages, err := a.Targets.Pages(ctx)
	return api.AnswerAll(*in, pages, toStatusPageSummary, err)
}

// StatusPageSettings is the settings of a status page.
type StatusPageSettings struct {
	Slug        string   `json:"slug" example:"shop" doc:"Last part of its path, at most 64 lower-case letters, digits and hyphens. It must be unique"`
	Title       string   `json:"title" example:"Shop" doc:"Title, at most 200 characters"`
	Description string   `json:"description,omitempty" example:"Status of our shop" doc:"Text below the title, at most 2000 characters"`
	Targets     []string `json:"targets,omitempty" nullable:"false" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of its targets, at most 100, in display order"`
}

func (s StatusPageSettings) edit() targets.PageSettings {
	return targets.PageSettings{Slug: s.Slug, Title: s.Title, Description: s.Description, TargetIDs: s.Targets}
}

type addStatusPageInput struct{ Body StatusPageSettings }

type addStatusPageOutput struct {
	Location string `header:"Location" doc:"Path of the status page in this API"`
	Body     StatusPage
}

func (a API) addStatusPage(ctx context.Context, in *addStatusPageInput) (*addStatusPageOutput, error) {
	p, err := a.Targets.AddPage(ctx, in.Body.edit())
	if err != nil {
		return nil, err
	}
	return &addStatusPageOutput{Location: "/v1/status-pages/" + p.ID, Body: toStatusPage(p)}, nil
}

func (a API) getStatusPage(ctx context.Context, in *StatusPagePath) (*api.Output[StatusPage], error) {
	p, err := a.Targets.Page(ctx, in.ID)
	return api.Answer(toStatusPage(p), err)
}

type replaceStatusPageInput struct {
	StatusPagePath
	Body StatusPageSettings
}

func (a API) replaceStatusPage(ctx context.Context, in *replaceStatusPageInput) (*api.Output[StatusPage], error) {
	p, err := a.Targets.EditPage(ctx, in.ID, in.Body.edit())
	return api.Answer(toStatusPage(p), err)
}

func (a API) deleteStatusPage(ctx context.Context, in *StatusPagePath) (*struct{}, error) {
	return nil, a.Targets.DeletePage(ctx, in.ID)
}
