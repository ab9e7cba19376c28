// Package backup implements the scheduled job that backs up an SQLite database.
package backup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/backup"
)

// Backup returns the job that adds a backup to a folder and then deletes the oldest ones. If adding fails, nothing
// is deleted. A backup interrupted by a stop of the program is discarded: the next run makes another one. The job
// runs when the program starts if the last interval has no backup, so that a wrong folder is noticed at once.
// Files with a name in the future are logged as a warning.
//
// It returns an error if reg has metrics of these names.
func Backup(folder backup.Folder, db *models.DB, clock models.Clock, log *slog.Logger) jobs.Job {
	run := func(taking, _ context.Context) (summary string, err error) {
		start, now := time.Now(), clock.Now().Time
		if future, err := folder.Future(now); err == nil && len(future) > 0 {
			log.Warn("files in BACKUP_DIR dated in the future are ignored", "files", len(future), "latest", future[0].Name)
		}
		made, err := folder.Add(taking, db, now)
		if err != nil {
			return "", err
		}
		summary = fmt.Sprintf("%s backed up in %s", humanize.Bytes(uint64(made.Size)), time.Since(start).Round(time.Millisecond))
		deleted, err := folder.Rotate(made, now)
		if deleted > 0 {
			summary += fmt.Sprintf(", %s deleted", english.Plural(deleted, "old backup", ""))
		}
		return summary, err
	}
	return jobs.Job{
		ID: backup.Job, Schedule: "@every " + folder.Interval.String(), Run: run,
		Overdue: func() bool { return folder.Overdue(clock.Now().Time) },
	}
}

// Register registers the metrics of backups. They are read from the folder, so that they are right after a restart.
// Both are 0 while there is no backup, also if the folder is missing or not set.
func Register(folder backup.Folder, clock models.Clock, reg prometheus.Registerer) error {
	newest := func(value func(backup.File) float64) func() float64 {
		return func() float64 {
			if file, ok, err := folder.Newest(clock.Now().Time); ok && err == nil {
				return value(file)
			}
			return 0
		}
	}
	for _, c := range []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "linkwatch_backup_last_success_timestamp_seconds",
			Help: "Unix time of the newest backup in BACKUP_DIR, or 0 if there is none or no folder. Only with SQLite.",
		}, newest(func(f backup.File) float64 { return float64(f.At.Unix()) })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "linkwatch_backup_size_bytes",
			Help: "Size of the newest backup in BACKUP_DIR in bytes, or 0 if there is none. Only with SQLite.",
		}, newest(func(f backup.File) float64 { return float64(f.Size) })),
	} {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("register backup metrics: %w", err)
		}
	}
	return nil
}
