package alerts

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/alerts"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

// MaintenancePage lists the maintenance windows.
func (p Pages) MaintenancePage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.Windows
	var all models.Slice[alerts.Maintenance]
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) {
			all, err = p.Alerts.Maintenance(ctx, models.Cursor{}, alerts.MaxWindows)
			return err
		},
		func() (err error) {
			var scopes []alerts.Scope
			for _, m := range all.Items {
				scopes = append(scopes, m.Scope)
			}
			v.Names, _, err = p.names(ctx, scopes)
			return err
		},
		func() (err error) { flash, err = p.Flash(c, views.MaintenancePath); return },
	) {
		return
	}
	v.Windows = all.Items
	v.Page = p.Page("Maintenance", section, flash)
	p.Show(c, http.StatusOK, views.WindowsPage(v))
}

// NewMaintenance shows the form of a new maintenance window.
func (p Pages) NewMaintenance(c *gin.Context) {
	p.showWindowForm(c, http.StatusOK, alerts.Scope{}, views.WindowForm{Repeat: alerts.RepeatNone})
}

// WindowPage shows the form of a stored maintenance window.
func (p Pages) WindowPage(c *gin.Context) {
	m, err := p.Alerts.MaintenanceByID(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	z, err := time.LoadLocation(m.TimeZone)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.showWindowForm(c, http.StatusOK, m.Scope, views.WindowForm{
		Saved: m, Name: m.Name, Starts: m.StartsAt.In(z).Format(views.LocalTime), Ends: m.EndsAt.In(z).Format(views.LocalTime), Repeat: m.Repeat, TimeZone: m.TimeZone,
	})
}

// AddMaintenance adds the window in the form, or searches for targets.
func (p Pages) AddMaintenance(c *gin.Context) {
	p.saveWindow(c, alerts.Maintenance{}, "maintenance_added", func(ctx context.Context, m alerts.Maintenance) (alerts.Maintenance, error) {
		return p.Alerts.AddMaintenance(ctx, m)
	})
}

// EditMaintenance saves the form of a window, or searches for targets.
func (p Pages) EditMaintenance(c *gin.Context) {
	saved, err := p.Alerts.MaintenanceByID(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	ctx := p.Edited(c, views.WindowPath(saved.ID), func(ctx context.Context) (ui.Edited, error) {
		stored, err := p.Alerts.MaintenanceByID(ctx, saved.ID)
		return views.EditedWindow(stored), err
	})
	p.saveWindow(c, saved, "edited", func(_ context.Context, m alerts.Maintenance) (alerts.Maintenance, error) {
		return p.Alerts.EditMaintenance(ctx, saved.ID, func(stored *alerts.Maintenance) {
			stored.Name, stored.Scope, stored.StartsAt, stored.EndsAt, stored.Repeat, stored.TimeZone = m.Name, m.Scope, m.StartsAt, m.EndsAt, m.Repeat, m.TimeZone
		})
	})
}

func (p Pages) saveWindow(c *gin.Context, saved alerts.Maintenance, notice string, save func(context.Context, alerts.Maintenance) (alerts.Maintenance, error)) {
	v := views.WindowForm{
		Saved: saved, Name: c.PostForm("name"), Starts: c.PostForm("starts_at"), Ends: c.PostForm("ends_at"), Repeat: alerts.Repeat(c.PostForm("repeat")),
		TimeZone: strings.TrimSpace(c.PostForm("time_zone")),
	}
	scope := postedScope(c)
	if asksAgain(c) {
		p.showWindowForm(c, http.StatusOK, scope, v)
		return
	}
	m := windowOf(v)
	m.Scope = scope
	_, err := save(c.Request.Context(), m)
	if v.Errors = fieldErrors(err, "name", views.WindowLabels); v.Errors != nil {
		p.showWindowForm(c, p.FormStatus(c, err), scope, v)
		return
	}
	p.Done(c, err, views.MaintenancePath, notice)
}

// windowOf returns the window in a form. An invalid time becomes zero and an unknown time zone is read as UTC. The store refuses both.
func windowOf(v views.WindowForm) alerts.Maintenance {
	z, err := time.LoadLocation(v.TimeZone)
	if err != nil {
		z = time.UTC
	}
	at := func(typed string) models.Time {
		t, err := time.ParseInLocation(views.LocalTime, typed, z)
		if err != nil {
			return models.Time{}
		}
		return models.At(t)
	}
	return alerts.Maintenance{Name: v.Name, Repeat: v.Repeat, TimeZone: v.TimeZone, StartsAt: at(v.Starts), EndsAt: at(v.Ends)}
}

// showWindowForm shows the form of a window. For htmx it returns the targets to choose from.
func (p Pages) showWindowForm(c *gin.Context, status int, scope alerts.Scope, v views.WindowForm) {
	v.Scope = views.Scope{Find: strings.TrimSpace(c.PostForm("find")), Errors: v.Errors, Action: views.MaintenancePath, Of: "The window"}
	title := "Add maintenance window"
	if v.Saved.ID != "" {
		title, v.Scope.Action = "Edit "+v.Saved.Name, views.WindowPath(v.Saved.ID)
	}
	status, err := p.fillScope(c.Request.Context(), scope, &v.Scope, status)
	if err != nil {
		p.Fail(c, err)
		return
	}
	v.Page = p.Page(title, section, ui.Flash{})
	p.ShowPart(c, status, views.WindowFormPage(v), views.ScopeChoices(v.Scope))
}

// DeleteMaintenance deletes a window. The list then offers to undo it.
func (p Pages) DeleteMaintenance(c *gin.Context) {
	p.doneWithUndo(c, p.Alerts.DeleteMaintenance(c.Request.Context(), c.Param("id")), views.MaintenancePath, "maintenance_deleted")
}

// RestoreMaintenance restores a deleted window.
func (p Pages) RestoreMaintenance(c *gin.Context) {
	_, err := p.Alerts.RestoreMaintenance(c.Request.Context(), c.Param("id"))
	p.Done(c, err, views.MaintenancePath, "maintenance_restored")
}
