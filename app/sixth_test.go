package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"linkwatch/config"
	"linkwatch/demo"
	"linkwatch/handlers"
	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/jobs"
	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
	"linkwatch/views/ui"
)

// notes is a minimal system: one table, page, operation and job. It is registered only by its struct.
func notes(c *core) System {
	count := func(ctx context.Context) (n int, err error) {
		err = c.DB.Read(ctx).Raw("SELECT count(*) FROM notes").Scan(&n).Error
		return n, err
	}
	page := func(gin *gin.Context) {
		n, err := count(gin.Request.Context())
		if err != nil {
			c.frame.Fail(gin, err)
			return
		}
		body := templ.Raw("<p id=\"notes\">" + ui.Plural(n, "note") + "</p>")
		show := templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
			return ui.Layout(c.frame.Page("Notes", "notes", ui.Flash{})).Render(templ.WithChildren(ctx, body), w)
		})
		c.frame.Show(gin, http.StatusOK, show)
	}
	type noteCount struct {
		Body struct {
			Notes int `json:"notes" doc:"Number of notes"`
		}
	}
	operation := func(ctx context.Context, _ *struct{}) (*noteCount, error) {
		n, err := count(ctx)
		out := &noteCount{}
		out.Body.Notes = n
		return out, err
	}
	remove := func(tx *gorm.DB, limit int) (int64, error) {
		res := tx.Exec("DELETE FROM notes WHERE text IN (SELECT text FROM notes WHERE text LIKE 'old%' LIMIT ?)", limit)
		return res.RowsAffected, res.Error
	}
	add := func(ctx context.Context, text string) error {
		return c.DB.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("INSERT INTO notes (text) VALUES (?)", text).Error })
	}
	return System{
		System: handlers.System{
			Nav: ui.Nav{Sections: []ui.Section{{ID: "notes", Label: "Notes", Path: "/notes", Key: "z"}}},
			Overview: func(ctx context.Context, _ string) (ui.OverviewPart, error) {
				n, err := count(ctx)
				return ui.OverviewPart{
					Used: n > 0, Tiles: []ui.Tile{{Path: "/notes", Count: n, Word: "notes"}},
					Attention: []ui.Attention{{Severity: ui.Warning, Count: n, Noun: "unread note", Path: "/notes"}},
				}, err
			},
			Finders: []pages.Finder{{Kind: "Notes", Find: func(ctx context.Context, text string, _ int) ([]ui.Hit, error) {
				n, err := count(ctx)
				return []ui.Hit{{Title: text + " among " + ui.Plural(n, "note"), Path: "/notes"}}, err
			}}},
			Flash:  pages.Flash{Notices: map[string]ui.Flash{"noted": {Text: "Noted."}}},
			Routes: []middleware.Route{{Method: "GET", Path: "/notes", Needs: middleware.Viewer, Handler: page}},
			Groups: []*huma.Tag{{Name: "Notes", Description: "Notes."}},
			Operations: func(a *api.API) {
				api.Register(a, api.Operation("Notes", middleware.Editor, "GET", "/v1/notes", "count-notes", "Count notes", "All of them."), operation)
			},
			Health: []middleware.HealthCheck{{Name: "notes", Doc: "Health of notes", State: func() (any, bool) { return struct{}{}, true }}},
		},
		Jobs: []jobs.Job{{ID: "notes", Schedule: "@every 1h", Run: func(_, working context.Context) (string, error) {
			return "wrote a note", add(working, "by the job")
		}}},
		Deletes: []cleanup.Kind{{Kind: "old_notes", Label: "Old notes", Description: "that are not read", Remove: remove}},
		Demo:    func(ctx context.Context, _ *demo.Run) (string, error) { return "1 note", add(ctx, "of the demo") },
	}
}

// TestSixthSystem checks that a system is complete with its struct alone.
func TestSixthSystem(t *testing.T) {
	db := modelstest.New(t)
	modelstest.Exec(t, db, "CREATE TABLE notes (text TEXT PRIMARY KEY)")
	modelstest.Exec(t, db, "INSERT INTO notes (text) VALUES ('new'), ('old 1'), ('old 2')")
	cfg, err := config.Load(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(Options{Config: cfg, DB: db, Log: slog.New(slog.DiscardHandler)}, notes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if err := a.runner.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	running := jobs.Services{a.heartbeat, a.runner}
	running.Start()
	t.Cleanup(func() { running.Stop(context.Background()) })

	request := func(method, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		a.Router.ServeHTTP(w, r)
		return w
	}
	wantParts := func(path string, parts ...string) {
		t.Helper()
		w := request("GET", path)
		for _, part := range parts {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: status %d, want 200 with %q: %s", path, w.Code, part, w.Body)
			}
		}
	}
	wantParts("/notes", `id="notes">3 notes<`, `aria-current="page"`)
	wantParts("/links?done=noted", "Noted.")
	wantParts("/", `<a href="/notes"`, "3 unread notes")
	wantParts("/search?q=milk", "milk among 3 notes", "Go to Notes")
	wantParts("/v1/notes", `{"notes":3}`)
	if !a.Systems.ShortLinks.Store.Reserved("Notes") {
		t.Error("the key notes is not reserved")
	}
	wantParts("/openapi.json", `"/v1/notes"`, `"name": "Notes"`, "Health of notes")
	wantParts("/health", `"notes":{}`)
	wantParts("/admin/cleanup", "Old notes", "that are not read")
	wantParts("/v1/admin/cleanup/stats", `"kind":"old_notes"`)
	wantParts("/v1/admin/jobs", `"id":"notes"`)
	for _, r := range a.Router.Routes() {
		if r.Path == "/v1/notes" && r.Needs != middleware.Editor {
			t.Errorf("%s needs role %s", r.Path, r.Needs)
		}
	}

	for _, job := range []string{"notes", "reaper"} {
		if w := request("POST", "/v1/admin/jobs/"+job+"/run"); w.Code != http.StatusAccepted {
			t.Errorf("run %s: %d %s", job, w.Code, w.Body)
		}
		waitForRun(t, a, job)
	}
	wantParts("/v1/notes", `{"notes":2}`) // the job added one, the reaper deleted two
	for _, s := range a.Systems.All() {
		if len(s.Nav.Sections) == 0 || s.Nav.Sections[0].ID != "notes" {
			continue
		}
		if added, err := s.Demo(t.Context(), &demo.Run{DB: db, Now: time.Now()}); err != nil || added != "1 note" {
			t.Errorf("demo added %q, %v", added, err)
		}
	}
	wantParts("/v1/notes", `{"notes":3}`)
}

// waitForRun waits until a job has finished a run.
func waitForRun(t *testing.T, a *App, id string) {
	t.Helper()
	modelstest.Eventually(t, "job "+id+" has run", func() bool {
		job, err := a.Systems.Admin.Jobs.Job(t.Context(), id)
		if err != nil || job.LastError != "" {
			t.Fatal(job.LastError, err)
		}
		return job.Runs > 0 && !job.Running()
	})
}
