package alerts_test

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// Find matches the subject and the detail of alerts and returns open ones first. FindSettings matches names.
func TestFind(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("Ops")
		w.rule(c, func(r *alerts.Rule) { r.Name = "Shop, day and night" })
		_, err := w.AddMaintenance(w.Context(), alerts.Maintenance{Name: "Shop upgrade", StartsAt: w.Now(), EndsAt: w.Now().Add(time.Hour)})
		w.ok(err)
		w.clock.Advance(2 * time.Hour)
		w.happen(w.down("Shop@a.test", 1))
		w.clock.Advance(time.Minute)
		w.happen(w.down("Blog@b.test", 1))
		w.clock.Advance(time.Minute)
		w.happen(w.up("Blog@b.test"))
		w.happen(w.down("❤\ufe0f Café مَدرسة@c.test", 1))
		for text, want := range map[string]string{"SHOP": "Shop", "status 500": "❤\ufe0f Café مَدرسة, Shop, Blog, Blog", "b.test/": "Blog, Blog", "%": "", "none": "",
			"❤ cafe": "❤\ufe0f Café مَدرسة", "مدرسة": "❤\ufe0f Café مَدرسة"} {
			found, err := w.Find(w.Context(), text, 5)
			w.ok(err)
			names := []string{}
			for _, a := range found {
				names = append(names, a.SubjectName)
			}
			if got := strings.Join(names, ", "); got != want {
				w.Errorf("%q finds %s, want %s", text, got, want)
			}
		}
		for text, want := range map[string][3]int{"shop": {0, 1, 1}, "OPS": {1, 0, 0}, "none": {}} {
			s, err := w.FindSettings(w.Context(), text)
			w.ok(err)
			if got := [3]int{len(s.Channels), len(s.Rules), len(s.Windows)}; got != want {
				w.Errorf("%q finds %v, want %v", text, got, want)
			}
		}
		long := strings.Repeat("x", models.MaxFilter+1)
		_, err = w.Find(w.Context(), long, 5)
		w.code(err, models.CodeInvalid)
		_, err = w.FindSettings(w.Context(), long)
		w.code(err, models.CodeInvalid)
	})
}
