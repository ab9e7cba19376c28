package alerts_test

import (
	"testing"

	"linkwatch/models"
)

// A user who sees only part of the settings can list and count all maintenance windows, which are shared.
func TestCountOfMaintenance(t *testing.T) {
	each(t, func(w *world) {
		ctx := models.WithActor(t.Context(), models.Actor{Name: "alice", Via: "session"})
		list, err := w.Maintenance(ctx, models.Cursor{Want: models.Want{Total: true, Sort: models.Sorting{Direction: models.Descending}}}, 5)
		if err != nil || list.Count != (models.Count{Known: true, N: len(list.Items)}) {
			t.Errorf("%+v, %v", list.Count, err)
		}
	})
}
