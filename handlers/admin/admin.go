// Package admin contains the pages and API operations for scheduled jobs, cleanup, backups and
// settings.
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

// Deps are the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	Jobs     *schedule.Store
	Cleanup  *cleanup.Store
	Settings []views.Setting // current values; secrets are masked
	Disks    disk.Look
	Backups  *backup.Folder // nil = no scheduled backups
}

// API contains the operations under /v1.
type API struct{ *Deps }

// Pages contains the pages.
type Pages struct{ *Deps }

// OpenAPI tags.
const (
	groupCleanup = "Cleanup"
	groupJobs    = "Jobs"
)

// Groups returns the OpenAPI tags.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupCleanup, Description: "Deletion of expired data."},
		{Name: groupJobs, Description: "Scheduled jobs and their runs."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerCleanup(r)
	a.registerJobs(r)
}

// Alias resolves the second path of the cleanup statistics.
func Alias(path string) (to string, ok bool) {
	if path == "/api/admin/cleanup/stats" {
		return "/v1/admin/cleanup/stats", true
	}
	return path, false
}
