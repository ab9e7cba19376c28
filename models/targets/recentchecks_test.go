package targets

import (
	"testing"
	"time"

	"linkwatch/models"
)

func FuzzRecentChecks(f *testing.F) {
	v, err := RecentChecks{{models.At(time.Unix(1e9, 0)), DownOutcome, 250}, {models.At(time.Unix(1e9+60, 0)), UpOutcome, 3}}.Value()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(v.([]byte))
	f.Fuzz(func(t *testing.T, packed []byte) {
		var b, again RecentChecks
		if b.Scan(packed) != nil {
			return
		}
		v, err := b.Value()
		if err != nil || again.Scan(v) != nil || len(again) != len(b) {
			t.Errorf("%v became %v, %v", b, again, err)
		}
	})
}
