package outbound

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

var htmlEscaper = strings.NewReplacer("&", "&amp;", `"`, "&quot;")

func TestContent(t *testing.T) {
	const page = "<!doctype html><title>t</title>"
	for _, tc := range []struct {
		types string // Content-Type lines
		body  string
		want  Content
	}{
		{"text/html", page, ContentHTML},
		{"TEXT/HTML ;charset=x", "no markup", ContentHTML},
		{"application/xhtml+xml", page, ContentHTML},
		{"text/html, text/html", page, ContentHTML},
		{"application/json\ntext/html", page, ContentHTML},
		{"text/html\napplication/json", page, ContentOther},
		{"text/html,*/*", page, ContentHTML},
		{"application/json", page, ContentOther},
		{"application/problem+json; charset=utf-8", page, ContentOther},
		{"application/octet-stream", page, ContentOther},
		{"application/pdf", page, ContentOther},
		{"image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><title>t</title></svg>", ContentOther},
		{"text/css", page, ContentOther},
		{"text/javascript", page, ContentOther},
		{"application/x-javascript", page, ContentOther},
		{"application/rss+xml", "<rss><channel><title>t</title>", ContentOther},
		{"text/xml", "<?xml version='1.0'?><feed><title>t</title>", ContentOther},
		{"text/xml", "<?xml version='1.0'?><!-- c --><!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml'>", ContentHTML},
		{"application/xml", "<html/>", ContentHTML},
		{"application/xml", "", ContentOther},
		{"text/plain", page, ContentText},
		{"text/markdown; charset=utf-8", "# a", ContentText},
		{"text/csv", "a,b", ContentText},
		// Without a valid type.
		{"", page, ContentHTML},
		{"", " \n<HTML>", ContentHTML},
		{"", "words", ContentText},
		{"", `{"a": "<title>t</title>"}`, ContentText},
		{"", "<?xml version='1.0'?><rss>", ContentOther},
		{"", "<?xml version='1.0'?><html>", ContentHTML},
		{"", "%PDF-1.7\n<title>t</title>", ContentOther},
		{"html", page, ContentHTML},
		{"*/*", page, ContentHTML},
		{"unknown/unknown", "words", ContentText},
		// Wrong types.
		{"text/html", "%PDF-1.7\n<title>t</title>", ContentOther},
		{"text/html", "\x89PNG\r\n\x1a\n\x00", ContentOther},
		{"text/plain", "a\x00\x01\x02", ContentOther},
	} {
		header := http.Header{}
		if tc.types != "" {
			header["Content-Type"] = strings.Split(tc.types, "\n")
		}
		r := &Response{StatusCode: http.StatusOK, URL: testPage, Header: header, Body: []byte(tc.body)}
		if got := r.Content(); got != tc.want {
			t.Errorf("%q, %q: got %d, want %d", tc.types, tc.body, got, tc.want)
		}
		if m := r.Metadata(); m.Title != "" && tc.want != ContentHTML || m.Title == "" && strings.Contains(tc.body, "<title>") && tc.want == ContentHTML {
			t.Errorf("%q, %q: got title %q", tc.types, tc.body, m.Title)
		}
	}
}

// A browser obeys the Refresh header of any content. An error stays an error.
func TestMetadataRefresh(t *testing.T) {
	for _, tc := range []struct {
		status           int
		contentType, url string
		want             string
	}{
		{http.StatusOK, "text/html", "/x", "https://example.com/x"},
		{http.StatusAccepted, "text/plain", "/x", "https://example.com/x"},
		{http.StatusNotFound, "text/html", "/x", ""},
		{http.StatusServiceUnavailable, "text/html", "/x", ""},
		{http.StatusFound, "text/html", "/x", ""},
	} {
		r := Response{StatusCode: tc.status, URL: testPage, Header: http.Header{"Content-Type": {tc.contentType}, "Refresh": {"0;" + tc.url}}}
		if got := r.Metadata().Refresh; got != tc.want {
			t.Errorf("%+v: got %q", tc, got)
		}
	}
}

func TestParseText(t *testing.T) {
	header := http.Header{"X-Robots-Tag": {"noindex"}, "Link": {"</c>; rel=canonical"}, "Refresh": {"0;/r"}}
	got := ParseText([]byte("\tA <b>line</b> \r\n\r\n and\u00a0 another &amp; \x00\n\n"), testPage, header, "Linkwatch")
	want := Page{
		Metadata: Metadata{Refresh: "https://example.com/r"}, Canonical: "https://example.com/c", NoIndex: true,
		Text: "A <b>line</b> and another &amp;", Main: "A <b>line</b>\nand another &amp;",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if none := ParseText([]byte(" \n\t\r"), "::", nil, ""); !reflect.DeepEqual(none, Page{}) {
		t.Errorf("got %+v", none)
	}
	for _, body := range []string{strings.Repeat("ж", textLimit), strings.Repeat("ж\n", textLimit)} {
		p := ParseText([]byte(body), testPage, nil, "")
		if len(p.Text) > textLimit || len(p.Main) > textLimit || len(p.Main) < textLimit-2 || !utf8.ValidString(p.Text+p.Main) {
			t.Errorf("got %d and %d bytes", len(p.Text), len(p.Main))
		}
	}
}
