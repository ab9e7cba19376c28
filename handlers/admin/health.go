package admin

import (
	"linkwatch/handlers/middleware"
	"linkwatch/models/disk"
)

// DiskHealth is the state of the disks of the database and the backups.
type DiskHealth struct {
	Status string      `json:"status" enum:"ok,filling" doc:"filling if a disk is almost full"`
	Disks  []DiskSpace `json:"disks" doc:"Disks of the SQLite database and of BACKUP_DIR"`
}

// DiskSpace is the free space of a disk.
type DiskSpace struct {
	Of        string `json:"of" enum:"database,backup" doc:"What is on the disk"`
	FreeBytes uint64 `json:"free_bytes" doc:"Free space in bytes"`
	SizeBytes uint64 `json:"size_bytes" doc:"Size of the disk in bytes"`
	Filling   bool   `json:"filling" doc:"Whether less than 10 % of the disk and less than 10 GiB are free"`
}

// DiskCheck reports disks that are almost full.
func DiskCheck(look disk.Look) middleware.HealthCheck {
	return middleware.HealthCheck{Name: "disk", Doc: "Free disk space", State: func() (any, bool) {
		state := DiskHealth{Status: "ok", Disks: []DiskSpace{}}
		for _, s := range look() {
			state.Disks = append(state.Disks, DiskSpace{s.Of, s.Free, s.Size, s.Filling()})
			if s.Filling() {
				state.Status = "filling"
			}
		}
		return state, state.Status == "ok"
	}}
}
