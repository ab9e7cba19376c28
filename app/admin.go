package app

import (
	"fmt"

	"linkwatch/config"
	"linkwatch/handlers"
	adminhandlers "linkwatch/handlers/admin"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	backupjobs "linkwatch/jobs/backup"
	diskjobs "linkwatch/jobs/disk"
	"linkwatch/models"
	"linkwatch/models/backup"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
	adminviews "linkwatch/views/admin"
)

// Admin is the system of scheduled jobs, cleanup, backups, disks and settings.
type Admin struct {
	System
	Jobs    *schedule.Store
	Cleanup *cleanup.Store
}

// newAdmin wires the system. kinds are the data that the reaper deletes for other systems.
func newAdmin(c *core, kinds ...cleanup.Kind) (*Admin, error) {
	kinds = append(kinds, cleanup.Kind{
		Kind: "idempotency_keys", Label: "Idempotency keys", Remove: c.DB.ReapKeys(c.Clock),
		Description: fmt.Sprintf("older than %.0f hours", models.KeyRetention.Hours()),
	})
	a := &Admin{Jobs: schedule.NewStore(c.DB, c.Clock), Cleanup: cleanup.NewStore(c.DB, c.Clock, kinds...)}
	deps := &adminhandlers.Deps{Frame: c.frame, Jobs: a.Jobs, Cleanup: a.Cleanup, Disks: c.Disks}
	for _, s := range config.Describe(c.Config) {
		deps.Settings = append(deps.Settings, adminviews.Setting{Name: s.Name, Value: s.Value, Default: s.Default, Meaning: s.Meaning})
	}
	pages := adminhandlers.Pages{Deps: deps}
	a.System = System{System: handlers.System{
		Nav: adminhandlers.Nav(), Overview: pages.Overview, Flash: pages.Flashes(), Routes: pages.Routes(),
		Groups: adminhandlers.Groups(), Operations: adminhandlers.API{Deps: deps}.Register, Alias: adminhandlers.Alias,
		Health: []middleware.HealthCheck{adminhandlers.DiskCheck(c.Disks)},
	}, Jobs: []jobs.Job{diskjobs.Disk(c.Disks)}}
	if err := c.registry.Register(diskMetrics{c.Disks}); err != nil {
		return nil, fmt.Errorf("register disk metrics: %w", err)
	}
	folder := backupFolder(c.Config)
	if c.Config.DatabaseDriver == config.SQLite { // without BACKUP_DIR too, so that Prometheus can alert on it
		if err := backupjobs.Register(folder, c.Clock, c.registry); err != nil {
			return nil, err
		}
	}
	if folder.Dir != "" {
		deps.Backups = &folder
		a.System.Jobs = append(a.System.Jobs, backupjobs.Backup(folder, c.DB, c.Clock, c.Log))
	}
	return a, nil
}

// backupFolder returns the folder of scheduled backups. Its Dir is "" if they are disabled.
func backupFolder(cfg config.Config) backup.Folder {
	return backup.Folder{
		Dir: cfg.BackupDir, Database: models.SQLiteFile(string(cfg.DatabaseURL)), Interval: cfg.BackupInterval, Keep: cfg.BackupKeep,
	}
}
