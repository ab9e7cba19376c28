package disk_test

import (
	"path/filepath"
	"testing"

	"linkwatch/models/disk"
)

func TestFilling(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		free, size uint64
		filling    bool
		used       int
	}{
		{1 * gib, 5 * gib, false, 80},
		{gib / 2, 5 * gib, false, 90},
		{gib/2 - 1, 5 * gib, true, 90},
		{9 * gib, 100 * gib, true, 91},
		{10 * gib, 4000 * gib, false, 99},
		{10*gib - 1, 4000 * gib, true, 99},
		{0, 16 << 20, true, 100},
		{0, 0, false, 100},
	} {
		s := disk.Space{Free: c.free, Size: c.size}
		if s.Filling() != c.filling || s.Used() != c.used {
			t.Errorf("%d of %d: filling %v, %d%% used", c.free, c.size, s.Filling(), s.Used())
		}
	}
}

// Folders that cannot be read or are not set are left out.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		database, backup string
		want             int
	}{
		{dir, dir, 2}, {dir, "", 1}, {"", dir, 1}, {"", "", 0}, {dir, filepath.Join(dir, "none"), 1},
	} {
		all := disk.On(c.database, c.backup)()
		if len(all) != c.want {
			t.Errorf("%q %q: %+v", c.database, c.backup, all)
		}
		for _, s := range all {
			if s.Size == 0 || s.Free > s.Size || s.Of == "" {
				t.Errorf("%+v", s)
			}
		}
	}
}

func TestLookFilling(t *testing.T) {
	look := disk.Look(func() []disk.Space {
		return []disk.Space{{Of: disk.Database, Free: 50, Size: 100}, {Of: disk.Backup, Free: 5, Size: 100}}
	})
	if got := look.Filling(); len(got) != 1 || got[0].Of != disk.Backup {
		t.Errorf("%+v", got)
	}
}
