package links

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// losesOnce makes the store lose a race once after each request of the test.
type losesOnce struct{ lose bool }

func (l *losesOnce) register(t *testing.T, db *models.DB) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Callback().Raw().After("gorm:raw").Register("lose", func(tx *gorm.DB) {
			if l.lose && strings.Contains(tx.Statement.SQL.String(), "INSERT INTO link_docs") {
				l.lose = false
				_ = tx.AddError(&pgconn.PgError{Code: "40P01", Message: "deadlock detected"})
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

type anyPage struct{}

func (anyPage) Fetch(_ context.Context, url string) (Page, error) {
	return Page{Status: 200, URL: url, Title: "A page"}, nil
}
func (p anyPage) Probe(ctx context.Context, url string) (Page, error) { return p.Fetch(ctx, url) }

// A retried transaction has its effect once.
func TestRetriedWrites(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		ctx := t.Context()
		s := NewStore(db, nil, anyPage{}, Options{CheckInterval: 1 << 40})
		racy := &losesOnce{}
		racy.register(t, db)
		lose := func(what string, do func() error) {
			t.Helper()
			racy.lose = true
			if err := do(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if racy.lose {
				t.Fatalf("%s did not lose its race", what)
			}
		}
		wantTags := func(id string, want ...string) {
			t.Helper()
			if l, err := s.Get(ctx, id); err != nil || !slices.Equal(l.Tags, want) {
				t.Fatalf("tags %q (%v), want %q", l.Tags, err, want)
			}
			for _, n := range want {
				found, err := s.List(ctx, Filter{Tag: n, Query: "a.test"}, models.Page{Number: 1, Size: 10})
				if err != nil || found.Total == 0 {
					t.Fatalf("not found by %s: %v", n, err)
				}
			}
		}
		var l Link
		lose("save", func() (err error) {
			l, _, err = s.Add(ctx, New{URL: "https://a.test/", Tags: []string{"go", "web"}})
			return err
		})
		if !slices.Equal(l.Tags, []string{"go", "web"}) {
			t.Fatalf("saved %q", l.Tags)
		}
		wantTags(l.ID, "go", "web")
		lose("save again", func() error { _, _, err := s.Add(ctx, New{URL: "https://a.test", Tags: []string{"x"}}); return err })
		wantTags(l.ID, "go", "web", "x")
		lose("import", func() error {
			ns := []New{{URL: "https://a.test/", Tags: []string{"y"}}}
			for i := range 3 {
				ns = append(ns, New{URL: fmt.Sprintf("https://a.test/%d", i), Tags: []string{"many"}})
			}
			n, err := s.Import(ctx, ns)
			if err == nil && n != 3 {
				err = fmt.Errorf("%d stored", n)
			}
			return err
		})
		wantTags(l.ID, "go", "web", "x", "y")
		lose("add tags", func() error { _, err := s.AddTags(ctx, l.ID, []string{"z"}); return err })
		wantTags(l.ID, "go", "web", "x", "y", "z")
		ts, err := s.TagsOf(ctx, l.ID)
		if err != nil {
			t.Fatal(err)
		}
		lose("swap", func() error { _, err := s.SwapTag(ctx, l.ID, ts[0].ID, "golang"); return err })
		lose("remove", func() error { return s.RemoveTag(ctx, l.ID, ts[1].ID) })
		wantTags(l.ID, "x", "y", "z", "golang")
		var c Change
		lose("tag all", func() (err error) { c, err = s.TagAll(ctx, []string{"all"}, l.ID); return err })
		lose("undo", func() error { _, err := s.Undo(ctx, c.ID); return err })
		wantTags(l.ID, "x", "y", "z", "golang")
		lose("expire", func() (err error) { c, err = s.SetExpired(ctx, true, l.ID); return err })
		lose("undo", func() error { _, err := s.Undo(ctx, c.ID); return err })
		if c, err = s.Delete(ctx, l.ID); err != nil {
			t.Fatal(err)
		}
		lose("undo", func() error { _, err := s.Undo(ctx, c.ID); return err })
		wantTags(l.ID, "x", "y", "z", "golang")

		var wrong int
		err = db.Read(ctx).Raw(`SELECT count(*) FROM tags WHERE link_count <>
			(SELECT count(*) FROM link_tags JOIN links ON links.seq = link_seq WHERE tag_seq = tags.seq AND expired_at IS NULL)`).Scan(&wrong).Error
		if err != nil || wrong != 0 {
			t.Errorf("%d tags are counted wrong (%v)", wrong, err)
		}
	})
}
