package models_test

import (
	"reflect"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// A deep page does not read the rows before it, also if the list has a limit of its own in the same direction: SQLite starts at the
// first of two limits of a column.
func TestPositionIsTheFirstCondition(t *testing.T) {
	type row struct{ ID string }
	at := models.At(time.UnixMicro(7))
	orders := models.Orders[row]{
		Field: "created_at", Time: "created_at", ID: "id", Kind: models.KindLink,
		At: func(r row) models.Cursor { return models.Cursor{CreatedAt: at, ID: r.ID} },
	}
	q := models.ListQuery{Table: "links", Where: "created_at > ?", Args: []any{5}}
	after := models.Cursor{CreatedAt: at, ID: models.NewID(models.KindLink)}
	_, err := orders.List(modelstest.New(t).Read(t.Context()), q, after, 10, func(p models.ListPart) ([]row, error) {
		if want := "(created_at, id) > (?, ?) AND created_at > ?"; p.Where != want {
			t.Errorf("got %s, want %s", p.Where, want)
		}
		if want := []any{at, after.ID, 5}; !reflect.DeepEqual(p.Args, want) {
			t.Errorf("got %v, want %v", p.Args, want)
		}
		return nil, nil
	})
	if err != nil {
		t.Error(err)
	}
}
