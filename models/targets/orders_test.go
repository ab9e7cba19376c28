package targets_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

const listedRows = 2000

// Lists have each row once in each order, with ties in all columns that are not unique, and no statement sorts.
func TestListsInEachOrder(t *testing.T) {
	each(t, func(f fixture) {
		one := f.add("https://a.test")
		modelstest.Copies(f, f.db, "targets", listedRows, map[string]string{
			"id": modelstest.IDs(f.db, models.KindTarget), "canonical_url": "'https://h' || (i % 7) || '.test/' || i", "host": "'h' || (i % 7) || '.test'", "created_at": "created_at + i / 9",
		})
		modelstest.ListedOnce(f, f.db, targets.ListOrders, func(after models.Cursor, limit int) (models.Slice[targets.Target], error) {
			return f.List(f.Context(), targets.Filter{}, after, limit)
		})
		f.check(up(1))
		modelstest.Exec(f, f.db, `INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
			SELECT s.seq, r.checked_at + 1 + s.seq % 11, r.outcome, r.status_code, r.latency_ms, r.attempts, r.error, r.interval_ms
			FROM targets AS s CROSS JOIN (SELECT * FROM check_results LIMIT 1) AS r`)
		modelstest.ListedOnce(f, f.db, targets.ResultOrders, func(after models.Cursor, limit int) (models.Slice[targets.Result], error) {
			return f.Results(f.Context(), targets.ResultFilter{}, after, limit)
		})
		modelstest.Exec(f, f.db, `INSERT INTO outages (id, target_seq, started_at, ended_at, cause)
			SELECT replace(id, 't_', 'o_'), seq, created_at + seq / 5, created_at + seq, '' FROM targets WHERE id <> ?`, one.ID)
		modelstest.ListedOnce(f, f.db, targets.OutageOrders, func(after models.Cursor, limit int) (models.Slice[targets.Outage], error) {
			return f.Outages(f.Context(), "", after, limit)
		})
	})
}

// Counts are exact up to models.MaxCounted, and then a lower bound. They have the filters and only visible rows.
func TestCountOfTargets(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		count := func(filter targets.Filter) models.Count {
			f.Helper()
			page, err := f.List(f.as("bob"), filter, models.Cursor{Want: models.Want{Total: true}}, 1)
			f.must(err)
			return page.Count
		}
		modelstest.Copies(f, f.db, "targets", 3, map[string]string{
			"id": "'t_111111111111111111111' || i", "canonical_url": "'https://p.test/' || i", "host": "'p.test'", "private_to": "'alice'",
		})
		if got := count(targets.Filter{}); got != (models.Count{Known: true, N: 1}) {
			f.Errorf("the targets that bob sees: %+v", got)
		}
		modelstest.Exec(f, f.db, "UPDATE targets SET private_to = ''")
		if got := count(targets.Filter{Host: "p.test"}); got != (models.Count{Known: true, N: 3}) {
			f.Errorf("of a host: %+v", got)
		}
		modelstest.Copies(f, f.db, "targets", models.MaxCounted-4, map[string]string{"id": modelstest.IDs(f.db, models.KindTarget), "canonical_url": "'https://h' || i || '.test'", "search_text": modelstest.Last(7, "needle", "search_text")})
		if got := count(targets.Filter{}); got != (models.Count{Known: true, N: models.MaxCounted}) {
			f.Errorf("of 10,000 targets: %+v", got)
		}
		f.add("https://one-more.test")
		if got := count(targets.Filter{}); got != (models.Count{Known: true, N: models.MaxCounted, LowerBound: true}) {
			f.Errorf("of 10,001 targets: %+v", got)
		}
		if got := count(targets.Filter{Text: "Needle"}); got != (models.Count{Known: true, N: 1}) {
			f.Errorf("of a search: %+v", got)
		}
		if page, err := f.List(f.Context(), targets.Filter{}, models.Cursor{}, 1); err != nil || page.Count != (models.Count{}) {
			f.Errorf("not asked for: %+v, %v", page.Count, err)
		}
	})
}

// A filter with an index of its own has only the default order, in both directions.
func TestOrdersWithAFilter(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.addMany(3)
	for want, by := range map[string]models.Sorting{
		"":           {Direction: models.Descending},
		"query.sort": {Field: "canonical_url"},
	} {
		_, err := f.List(f.Context(), targets.Filter{Status: targets.Pending}, models.Cursor{Want: models.Want{Sort: by}}, 2)
		if want == "" {
			f.must(err)
		} else {
			f.is(err, models.CodeInvalid, want)
		}
	}
}

// Tokens are checked like other input.
func TestTokensOfOrders(t *testing.T) {
	each(t, func(f fixture) {
		ids := f.addMany(2)
		by := models.Sorting{Field: "host", Direction: models.Ascending}
		for _, values := range []string{"", "{}", "[]", `["a",1]`, `["a",1,"b","c"]`, `[1,1,"t"]`, `["a","b","t"]`, `["a",1.5,"t"]`, `["a\u0000",1,"t"]`, `[null,1,"t"]`} {
			_, err := f.List(f.Context(), targets.Filter{}, models.Cursor{CreatedAt: f.Now(), ID: ids[0], Sorted: by, Values: values, Want: models.Want{Sort: by}}, 2)
			f.is(err, models.CodeInvalid, "query.page_token")
		}
	})
}
