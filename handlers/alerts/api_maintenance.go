package alerts

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

func (a API) registerMaintenance(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupMaintenance, middleware.Viewer, "GET", "/v1/maintenance", "list-maintenance", "List maintenance windows", "Oldest first, including ended windows."), "created_at"), a.listMaintenance)
	add := api.Operation(groupMaintenance, middleware.Editor, "POST", "/v1/maintenance", "add-maintenance", "Add a maintenance window",
		"starts_at may be in the past. 409 if there are 200 windows.", models.CodeConflict)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addMaintenance)
	api.Register(r, api.Item(api.Operation(groupMaintenance, middleware.Viewer, "GET", "/v1/maintenance/{id}", "get-maintenance", "Get a maintenance window",
		"May contain ids of deleted targets and status pages.", models.CodeNotFound),
		"id", "name", "targets", "tags", "status_pages", "subjects", "starts_at", "ends_at", "repeat", "time_zone"), a.getMaintenance)
	api.Register(r, api.Operation(groupMaintenance, middleware.Editor, "PATCH", "/v1/maintenance/{id}", "edit-maintenance", "Edit a maintenance window",
		"Omitted members stay as they are.", models.CodeNotFound), a.editMaintenance)
	api.Register(r, api.Operation(groupMaintenance, middleware.Editor, "DELETE", "/v1/maintenance/{id}", "delete-maintenance", "Delete a maintenance window",
		"Alerts are sent again immediately. POST /v1/maintenance/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteMaintenance)
	api.Register(r, api.Operation(groupMaintenance, middleware.Editor, "POST", "/v1/maintenance/{id}/restore", "restore-maintenance", "Restore a deleted maintenance window",
		"404 if it is not deleted or was deleted more than a day ago. 409 if there are already 200.", models.CodeNotFound, models.CodeConflict), a.restoreMaintenance)
}

// MaintenancePath is the path parameter of a maintenance window.
type MaintenancePath struct {
	ID string `path:"id" example:"x_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the maintenance window"`
}

// Maintenance is a maintenance window in the API.
type Maintenance struct {
	ID          string       `json:"id" example:"x_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the maintenance window. Ids sort by creation time"`
	Name        string       `json:"name" example:"Database upgrade" doc:"Name. Default: Maintenance"`
	Targets     []string     `json:"targets" nullable:"false" example:"[\"t_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of targets. Without targets, tags and status_pages it applies to everything"`
	Tags        []string     `json:"tags" nullable:"false" example:"[\"shop\"]" doc:"Tags of links and targets"`
	StatusPages []string     `json:"status_pages" nullable:"false" example:"[\"h_01HZ8QK3V5W7X9YABCDEFG\"]" doc:"Ids of status pages: it applies to their targets"`
	Subjects    []alerts.Ref `json:"subjects" nullable:"false" doc:"Items of all kinds that it applies to"`
	StartsAt    time.Time    `json:"starts_at" example:"2025-03-24T22:00:00Z" doc:"Start of the first occurrence"`
	EndsAt      time.Time    `json:"ends_at" example:"2025-03-24T23:00:00Z" doc:"End of the first occurrence"`
	Repeat      string       `json:"repeat" enum:"none,weekly,monthly" example:"weekly" doc:"Recurrence. monthly: on the same day of each month. Months without that day are skipped"`
	TimeZone    string       `json:"time_zone" example:"Europe/Berlin" doc:"IANA time zone of the recurrence. The window keeps its local time"`
	Active      bool         `json:"active" example:"false" doc:"Whether the window is active now"`
	CreatedAt   time.Time    `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the window was added"`
	UpdatedAt   time.Time    `json:"updated_at" example:"2025-03-24T12:00:00Z" doc:"When the window was last changed"`
}

func (a API) toMaintenance(m alerts.Maintenance) Maintenance {
	_, _, active := m.OccurrenceAt(a.Alerts.Now())
	return Maintenance{
		ID: m.ID, Name: m.Name, Targets: wireList(m.Scope.Targets), Tags: wireList(m.Scope.Tags), StatusPages: wireList(m.Scope.StatusPages), Subjects: wireRefs(m.Scope.Subjects), StartsAt: m.StartsAt.Time,
		EndsAt: m.EndsAt.Time, Repeat: string(m.Repeat), TimeZone: m.TimeZone, Active: active, CreatedAt: m.CreatedAt.Time, UpdatedAt: m.UpdatedAt.Time,
	}
}

func (a API) listMaintenance(ctx context.Context, in *api.SliceParams) (*api.Output[api.Slice[Maintenance]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Alerts.Maintenance(ctx, after, limit)
	return api.AnswerSlice(l, a.toMaintenance, err)
}

// MaintenanceSettings are the optional settings of a maintenance window.
type MaintenanceSettings struct {
	Name api.Member[string] `json:"name,omitempty" example:"Database upgrade" doc:"Name, at most 200 characters. null uses Maintenance"`
	ScopeSettings
	Repeat   api.Member[string] `json:"repeat,omitempty" nullable:"false" enum:"none,weekly,monthly" example:"weekly" doc:"Recurrence. Default of a new window: none. A repeating window starts and ends at whole minutes"`
	TimeZone api.Member[string] `json:"time_zone,omitempty" example:"Europe/Berlin" doc:"IANA time zone of the recurrence. The window keeps its local time. null and default of a new window: UTC"`
}

// check refuses null for members that cannot be null, and blank tags.
func (s MaintenanceSettings) check() error {
	err := s.ScopeSettings.check()
	if s.Repeat.Null {
		return models.Invalids(models.Invalid("repeat", "must be none, weekly or monthly"), err)
	}
	return err
}

// apply sets the members that were sent.
func (s MaintenanceSettings) apply(m *alerts.Maintenance) {
	s.Name.Set(&m.Name)
	s.ScopeSettings.apply(&m.Scope)
	if s.Repeat.Given {
		m.Repeat = alerts.Repeat(s.Repeat.Value)
	}
	s.TimeZone.Set(&m.TimeZone)
}

type addMaintenanceInput struct {
	Body struct {
		StartsAt api.Member[time.Time] `json:"starts_at" nullable:"false" example:"2025-03-24T22:00:00Z" doc:"Start of the first occurrence"`
		EndsAt   api.Member[time.Time] `json:"ends_at" nullable:"false" example:"2025-03-24T23:00:00Z" doc:"End of the first occurrence, at most 366 days after starts_at (weekly: 7, monthly: 28)"`
		MaintenanceSettings
	}
}

type addMaintenanceOutput struct {
	Location string `header:"Location" doc:"Path of the maintenance window in this API"`
	Body     Maintenance
}

func (a API) addMaintenance(ctx context.Context, in *addMaintenanceInput) (*addMaintenanceOutput, error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	m := alerts.Maintenance{StartsAt: models.At(b.StartsAt.Value), EndsAt: models.At(b.EndsAt.Value)}
	b.apply(&m)
	m, err := a.Alerts.AddMaintenance(ctx, m)
	if err != nil {
		return nil, err
	}
	return &addMaintenanceOutput{"/v1/maintenance/" + m.ID, a.toMaintenance(m)}, nil
}

func (a API) getMaintenance(ctx context.Context, in *MaintenancePath) (*api.Output[Maintenance], error) {
	m, err := a.Alerts.MaintenanceByID(ctx, in.ID)
	return api.Answer(a.toMaintenance(m), err)
}

type editMaintenanceInput struct {
	MaintenancePath
	Body struct {
		StartsAt api.Member[time.Time] `json:"starts_at,omitempty" nullable:"false" example:"2025-03-24T22:00:00Z" doc:"Start of the first occurrence"`
		EndsAt   api.Member[time.Time] `json:"ends_at,omitempty" nullable:"false" example:"2025-03-24T23:00:00Z" doc:"End of the first occurrence, at most 366 days after starts_at (weekly: 7, monthly: 28)"`
		MaintenanceSettings
	}
}

func (a API) editMaintenance(ctx context.Context, in *editMaintenanceInput) (*api.Output[Maintenance], error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	m, err := a.Alerts.EditMaintenance(ctx, in.ID, func(m *alerts.Maintenance) {
		if b.StartsAt.Given {
			m.StartsAt = models.At(b.StartsAt.Value)
		}
		if b.EndsAt.Given {
			m.EndsAt = models.At(b.EndsAt.Value)
		}
		b.apply(m)
	})
	return api.Answer(a.toMaintenance(m), err)
}

func (a API) deleteMaintenance(ctx context.Context, in *MaintenancePath) (*struct{}, error) {
	return nil, a.Alerts.DeleteMaintenance(ctx, in.ID)
}

func (a API) restoreMaintenance(ctx context.Context, in *MaintenancePath) (*api.Output[Maintenance], error) {
	m, err := a.Alerts.RestoreMaintenance(ctx, in.ID)
	return api.Answer(a.toMaintenance(m), err)
}
