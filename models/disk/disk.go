// Package disk tells how much space the disks have that the program writes to.
package disk

import (
	"github.com/shirou/gopsutil/v4/disk"
)

// What is on a disk.
const (
	Database = "database"
	Backup   = "backup"
)

// Space is the room on a disk at one moment, in bytes.
type Space struct {
	Of   string // what the program has on it: Database or Backup
	Free uint64 // for a user without privileges
	Size uint64
}

// enough is the free space with which no disk is filling, however large it is.
const enough = 10 << 30

// Filling says whether less than a tenth of the disk is free, and less than 10 GiB.
func (s Space) Filling() bool { return s.Free < enough && s.Free < s.Size/10 }

// Used is how full the disk is, in percent.
func (s Space) Used() int {
	if s.Size == 0 {
		return 100
	}
	return int(100 * float64(s.Size-min(s.Free, s.Size)) / float64(s.Size))
}

// Look returns the space of each disk that can be read, in a fixed order.
type Look func() []Space

// On looks at the disks of folders, by what the program has in them. A folder of ""
// is left out.
func On(database, backup string) Look {
	return func() (all []Space) {
		for _, on := range []struct{ of, folder string }{{Database, database}, {Backup, backup}} {
			if on.folder == "" {
				continue
			}
			if u, err := disk.Usage(on.folder); err == nil {
				all = append(all, Space{Of: on.of, Free: u.Free, Size: u.Total})
			}
		}
		return all
	}
}

// Filling returns the disks that are filling.
func (look Look) Filling() (all []Space) {
	for _, s := range look() {
		if s.Filling() {
			all = append(all, s)
		}
	}
	return all
}
