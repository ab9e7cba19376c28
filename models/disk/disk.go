// Package disk measures the free space of the disks that the program writes to.
package disk

// The uses of a disk.
const (
	Database = "database"
	Backup   = "backup"
)

// Space is the size and free space of a disk in bytes.
type Space struct {
	Of   string // use of the disk: Database or Backup
	Free uint64 // for a user without privileges
	Size uint64
}

// enough is the free space in bytes that is enough for a disk of any size.
const enough = 10 << 30

// Filling reports whether less than a tenth of the disk and less than 10 GiB are free.
func (s Space) Filling() bool { return s.Free < enough && s.Free < s.Size/10 }

// Used returns the used space in percent.
func (s Space) Used() int {
	if s.Size == 0 {
		return 100
	}
	return int(100 * float64(s.Size-min(s.Free, s.Size)) / float64(s.Size))
}

// Look returns the space of each disk that can be read, in a fixed order.
type Look func() []Space

// On returns a Look for the disks of two folders. "" = no folder.
func On(database, backup string) Look {
	return func() (all []Space) {
		for _, on := range []struct{ use, folder string }{{Database, database}, {Backup, backup}} {
			if on.folder == "" {
				continue
			}
			if free, size, err := space(on.folder); err == nil {
				all = append(all, Space{Of: on.use, Free: free, Size: size})
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
