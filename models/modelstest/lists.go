package modelstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
)

// ListedOnce checks a list in each of its orders and in both directions: read in pages of any size, it has each row once, the
// directions are the reverse of each other, the count is right, a token of another order is refused, and no statement sorts. The
// list must have many rows.
func ListedOnce[T any](t testing.TB, db *models.DB, orders models.Orders[T], list func(after models.Cursor, limit int) (models.Slice[T], error)) {
	t.Helper()
	if db.Engine == models.Postgres { // SQLite has no statistics
		Exec(t, db, "ANALYZE")
	}
	for _, field := range orders.Fields() {
		up := listed(t, orders, models.Sorting{Field: field, Direction: models.Ascending}, list)
		down := listed(t, orders, models.Sorting{Field: field, Direction: models.Descending}, list)
		slices.Reverse(down)
		if !slices.Equal(up, down) {
			t.Errorf("%s: the list is not the reverse of itself in the other direction", field)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(up)))
		if len(distinct) != len(up) || len(up) < 2 {
			t.Errorf("%s: %d rows, of which %d are different", field, len(up), len(distinct))
		}
		for _, d := range []models.Direction{models.Ascending, models.Descending} {
			want := models.Want{Sort: models.Sorting{Field: field, Direction: d}, Total: true}
			page, err := list(models.Cursor{Want: want}, 2)
			if err != nil || page.Count != (models.Count{Known: true, N: len(up)}) {
				t.Errorf("%s %s: count %+v, error %v; want %d", field, d, page.Count, err, len(up))
			}
			next := page.Next
			next.Want = models.Want{Sort: want.Sort}
			for _, s := range Sent(t, db, func() error { _, err := list(next, 5); return err }) {
				// PostgreSQL names the sort key of a merge, too, which sorts nothing.
				if plan := Explain(t, db, s); Sorts(plan) || strings.Contains(strings.ReplaceAll(plan, "Sort Key", ""), "Sort") {
					t.Errorf("%s %s: %s\n%s", field, d, s.SQL, plan)
				}
			}
			next.Want.Sort.Direction = map[models.Direction]models.Direction{models.Ascending: models.Descending, models.Descending: models.Ascending}[d]
			if _, err := list(next, 5); err != models.ErrPageToken { //nolint:errorlint // lists return it unwrapped
				t.Errorf("%s: a token of %s in the other direction: got %v", field, d, err)
			}
		}
	}
	for _, bad := range []models.Sorting{{Field: "nothing"}, {Direction: "up"}} {
		if _, err := list(models.Cursor{Want: models.Want{Sort: bad}}, 5); err == nil || !strings.Contains(err.Error(), "must be ") {
			t.Errorf("%+v: got %v", bad, err)
		}
	}
}

// listed returns the ids of a list in an order, read in pages of random sizes. Each position goes through its token.
func listed[T any](t testing.TB, orders models.Orders[T], by models.Sorting, list func(models.Cursor, int) (models.Slice[T], error)) (ids []string) {
	t.Helper()
	var after models.Cursor
	for range 100_000 {
		after.Want.Sort = by
		page, err := list(after, 1+rand.IntN(models.MaxLimit))
		if err != nil {
			t.Fatalf("%+v: %v", by, err)
		}
		for _, item := range page.Items {
			ids = append(ids, orders.At(item).ID)
		}
		if !page.More() {
			return ids
		}
		if after, err = models.ParseToken(page.Next.Token()); err != nil {
			t.Fatalf("%+v: %v", by, err)
		}
	}
	t.Fatalf("%+v: the list does not end", by)
	return nil
}

// Explain returns the plan of a statement on either engine, as text.
func Explain(t testing.TB, db *models.DB, s Statement) string {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if db.Engine == models.Postgres {
		explain = "EXPLAIN "
	}
	var steps []map[string]any
	if err := db.Read(context.Background()).Raw(explain+s.SQL, s.Vars...).Scan(&steps).Error; err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(steps)
}

// IDs is the SQL of ids of a kind that differ in each copy; see Copies.
func IDs(db *models.DB, kind models.Kind) string {
	if db.Engine == models.Postgres {
		return "'" + string(kind) + "_' || lpad(CAST(i AS text), 22, '0')"
	}
	return "'" + string(kind) + "_' || printf('%022d', i)"
}
