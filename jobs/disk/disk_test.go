package disk_test

import (
	"strings"
	"testing"

	diskjobs "linkwatch/jobs/disk"
	"linkwatch/models/disk"
)

func TestJobFailsWhileADiskIsFilling(t *testing.T) {
	spaces := []disk.Space{{Of: disk.Database, Size: 100 << 30, Free: 50 << 30}, {Of: disk.Backup, Size: 100 << 30, Free: 50 << 30}}
	job := diskjobs.Disk(func() []disk.Space { return spaces })
	if _, err := job.Run(t.Context(), t.Context()); err != nil {
		t.Error(err)
	}
	spaces[1].Free = 1 << 30
	if _, err := job.Run(t.Context(), t.Context()); err == nil || !strings.Contains(err.Error(), "99% full (1.1 GB left)") || strings.Contains(err.Error(), "the database") {
		t.Errorf("%v", err)
	}
}
