package targets_test

import (
	"testing"
	"time"

	"linkwatch/models/targets"
)

func TestCertificatesAndProbes(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		for i, claimed := range f.claim() {
			r := up(i)
			r.CheckedAt = f.Now()
			f.must(f.Record(f.Context(), targets.Checked{Target: claimed, Result: r, TLSExpiresAt: f.Now().Add(time.Duration(20-10*i) * day)}))
		}
		for which, want := range map[targets.Certificate]int{targets.CertificateExpired: 1, targets.CertificateExpiring: 1} {
			n, first, err := f.Certificates(f.Context(), which, 10)
			f.must(err)
			if listed := f.pages(targets.Filter{Certificate: which}, 10, func() {}); n != want || len(first) != want || len(listed) != want || listed[0] != first[0].ID {
				t.Errorf("%s: %d, %v, %v", which, n, first, listed)
			}
		}
		f.add("https://never.test")
		probed, err := f.Probes(f.Context(), 2)
		f.must(err)
		if len(probed) != 2 || probed[0].State != targets.Up || probed[0].LastStatusCode != 200 || probed[0].ID == "" {
			t.Errorf("%+v", probed)
		}
	})
}
