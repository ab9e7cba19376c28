package links_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func TestRenameAndMergeTags(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a", "golang", "x"), t.add("https://a.test/b", "golang", "Go")
		tag, merged, err := t.RenameTag(t.Context(), t.tag("golang").ID, "Golang")
		t.must(err)
		if merged || tag.Name != "Golang" {
			t.Errorf("different case: %+v, merged %v", tag, merged)
		}
		tag, merged, err = t.RenameTag(t.Context(), tag.ID, "gopher")
		t.must(err)
		if merged || tag.LinkCount != 2 || len(t.urls(links.Filter{Query: "gopher"})) != 2 || len(t.urls(links.Filter{Query: "tag:golang"})) != 0 {
			t.Errorf("renamed: %+v, merged %v", tag, merged)
		}
		tag, merged, err = t.RenameTag(t.Context(), tag.ID, "GO")
		t.must(err)
		if !merged || tag.Name != "Go" || tag.LinkCount != 2 {
			t.Errorf("merged: %+v, merged %v", tag, merged)
		}
		if !slices.Equal(t.get(a.ID).Tags, []string{"Go", "x"}) || !slices.Equal(t.get(b.ID).Tags, []string{"Go"}) {
			t.Errorf("tags %q and %q", t.get(a.ID).Tags, t.get(b.ID).Tags)
		}
		if got := t.urls(links.Filter{Tag: "go"}); len(got) != 2 {
			t.Errorf("by the merged tag: %q", got)
		}
		_, _, err = t.RenameTag(t.Context(), tag.ID, " ")
		t.wantCode(err, models.CodeInvalid)
		_, _, err = t.RenameTag(t.Context(), models.NewID(models.KindTag), "x")
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestFinishIndexing(t *testing.T) {
	each(t, func(t fixture) {
		var ns []links.New
		for i := range 600 {
			ns = append(ns, links.New{URL: fmt.Sprintf("https://a.test/%d", i), Tags: []string{"old"}})
		}
		_, err := t.Import(t.Context(), ns)
		t.must(err)
		id := t.tag("old").ID
		ctx, cancel := context.WithCancel(t.Context())
		n := modelstest.Queries(t, t.db)
		go func() { // when the rename is committed
			for n.Load() < 8 {
				runtime.Gosched()
			}
			cancel()
		}()
		_, _, err = t.RenameTag(ctx, id, "new")
		cancel()
		if err == nil {
			t.Log("the rename was faster")
		}
		if t.tag("new").ID != id {
			t.Fatal("the tag was not renamed")
		}
		t.must(t.FinishIndexing(t.Context()))
		found, err := t.List(t.Context(), links.Filter{Query: "tag:new"}, firstPage)
		t.must(err)
		if found.Total != 600 {
			t.Errorf("%d of 600 links are found by the new name", found.Total)
		}
	})
}

func TestMergeTarget(t *testing.T) {
	each(t, func(t fixture) {
		t.add("https://a.test", "from")
		l := t.add("https://b.test", "Into")
		t.add("https://c.test", "into")
		_, err := t.SetExpired(t.Context(), true, l.ID)
		t.must(err)
		from := t.tag("from").ID
		for name, want := range map[string]struct {
			name  string
			links int
		}{"INTO": {"Into", 2}, "from": {}, "other": {}, "": {}} {
			into, n, err := t.MergeTarget(t.Context(), from, name)
			if err != nil || into.Name != want.name || n != want.links {
				t.Errorf("%q: %q on %d links, %v", name, into.Name, n, err)
			}
		}
		for _, id := range []string{"", "x", models.NewID(models.KindTag)} {
			if _, _, err := t.MergeTarget(t.Context(), id, "into"); models.CodeOf(err) != models.CodeNotFound {
				t.Errorf("tag %q: %v", id, err)
			}
		}
	})
}
