// Package admin is the HTTP face of the program's machinery: scheduled jobs, the
// reaper's statistics and the settings in force.
package admin

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/pages"
	"linkwatch/models/backup"
	"linkwatch/models/cleanup"
	"linkwatch/models/disk"
	"linkwatch/models/schedule"
	views "linkwatch/views/admin"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Jobs     *schedule.Store
	Cleanup  *cleanup.Store
	Settings []views.Setting // in force, secrets masked
	Disks    disk.Look
	Backups  *backup.Folder // nil: no backups are scheduled
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages.
type Pages struct{ *Deps }

// The groups of operations in the OpenAPI document.
const (
	groupCleanup = "Cleanup"
	groupJobs    = "Jobs"
)

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupCleanup, Description: "Delete expired data."},
		{Name: groupJobs, Description: "Jobs that run on a schedule."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerCleanup(r)
	a.registerJobs(r)
}

// Alias is the second path of the cleanup statistics.
func Alias(path string) (to string, ok bool) {
	if path == "/api/admin/cleanup/stats" {
		return "/v1/admin/cleanup/stats", true
	}
	return path, false
}
