package crawl_test

import (
	"fmt"
	"net/http"
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// A crawl follows the frames of a frameset.
func TestFrames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<html><frameset cols="1,*"><frame src=menu.html name=Menu><frame src="/main.html"><noframes><a href=/never>x</a></noframes></frameset></html>`)
		},
		"/menu.html": html("Menu", "/linked"), "/main.html": html("Main"), "/linked": html("Linked"),
	})
	j := w.job(s.URL + "/")
	w.start()
	w.ended(j)
	if got, want := fmt.Sprint(w.entries(s.URL)), "map[/:done  /linked:done  /main.html:done  /menu.html:done ]"; got != want {
		t.Errorf("got frontier %s\nwant %s", got, want)
	}
}

// A text that is not HTML has a text, but no title and no links. Data has neither.
func TestTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	as := func(contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{contentType}
			if contentType == "" {
				w.Header()["Content-Type"] = nil
			}
			fmt.Fprint(w, body)
		}
	}
	const page = "<!doctype html><title>No</title><a href=/never>x</a>"
	s := newSite(t, map[string]http.HandlerFunc{
		"/":     html("Home", "/text", "/markdown", "/data", "/css", "/page", "/words"),
		"/text": as("text/plain; charset=utf-8", page+"\nSecond line"), "/markdown": as("text/markdown", "# Words"),
		"/data": as("application/json", `{"a":"`+page+`"}`), "/css": as("text/css", page), "/page": as("", page), "/words": as("", "Some words"),
		"/never": html("Never"),
	})
	j := w.job(s.URL + "/")
	w.start()
	e := w.ended(j)
	src, err := w.store.Sources(t.Context(), "", models.Cursor{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		title string
		text  bool
	}{"/text": {"", true}, "/markdown": {"", true}, "/words": {"", true}, "/data": {}, "/css": {}, "/page": {"No", true}} {
		p, ok, err := w.store.StoredPage(t.Context(), src.Items[0].Seq, s.URL+path)
		if err != nil || !ok || p.Title != want.title || (p.ContentHash != "") != want.text {
			t.Errorf("%s: got %+v, %v, %v", path, p, ok, err)
		}
	}
	if s.count("/never") != 1 || e.ItemsIndexed != 6 { // only from /page
		t.Errorf("got %d requests, %d indexed pages", s.count("/never"), e.ItemsIndexed)
	}
	if _, err := w.store.IndexNext(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	found, err := w.store.Pages(t.Context(), crawl.PageFilter{Query: "second"}, models.Cursor{}, 10)
	if err != nil || len(found.Items) != 1 || found.Items[0].URL != s.URL+"/text" {
		t.Errorf("got %+v, %v", found.Items, err)
	}
}
