package outbound

import (
	"net/http"
	"testing"
)

func TestRefresh(t *testing.T) {
	const e = "https://example.com"
	for value, want := range map[string]string{
		// WHATWG HTML, "shared declarative refresh steps".
		"0; url=/x":                  e + "/x",
		"0;URL='/x'":                 e + "/x",
		`0;Url = "/x" ignored`:       e + "/x",
		"0;url='/x":                  e + "/x",
		"0; '/x' y":                  e + "/x",
		"5, /x":                      e + "/x",
		"0 /x":                       e + "/x",
		"\t\n 0 ;\f url\r=\n /x":     e + "/x",
		".5;url=/x":                  e + "/x",
		"0.9.9;url=/x":               e + "/x",
		"0;x":                        e + "/a/x",
		"0;?y#z":                     e + "/a/b.html?y",
		"0;urls":                     e + "/a/urls",
		"0;url":                      e + "/a/url",
		"0;//other.example":          "https://other.example/",
		"0;url=HTTP://Other.example": "http://other.example/",
		"0;url=;/x":                  e + "/a/;/x",
		"10;url=/x":                  e + "/x",
		"10.9;url=/x":                e + "/x",
		"0010;url=/x":                e + "/x",
		"11;url=/x":                  "",
		"100;url=/x":                 "",
		"9999999999999999999;url=/x": "",
		// No URL, the page itself, or no page.
		"0": "", "5;": "", "0; url=": "", "0;''": "", "0;url=#top": "", "0;url=" + testPage + "#a": "", "0;b.html": "",
		"0;url=javascript:alert(1)": "", "0;url=JavaScript:1": "", "0;url=data:,x": "", "0;url=mailto:a@b.example": "",
		"0;url=http://u:p@h.example/": "", "0;url=http://": "", "0;url=http://a b/": "",
		// Invalid.
		"": "", " ": "", ";url=/x": "", "url=/x": "", "-1;url=/x": "", "+0;url=/x": "", "0x;url=/x": "", "/x": "", "0;url=http://[": "",
		"0\u00a0/x": "",
	} {
		header := ParsePage([]byte("<title>t</title>"), testPage, http.Header{"Refresh": {value}}, "")
		if header.Refresh != want {
			t.Errorf("header %q: got %q, want %q", value, header.Refresh, want)
		}
		meta := ParseMetadata([]byte(`<meta http-equiv=Refresh content="`+htmlEscaper.Replace(value)+`">`), testPage, nil)
		if meta.Refresh != want {
			t.Errorf("meta %q: got %q, want %q", value, meta.Refresh, want)
		}
	}
}

func TestRefreshInPages(t *testing.T) {
	const (
		e = "https://example.com"
		x = `<meta http-equiv=refresh content="0;url=/x">`
		y = `<meta http-equiv=refresh content="0;url=/y">`
	)
	for in, want := range map[string]string{
		x + y: e + "/x",
		`<meta http-equiv=refresh content=no>` + x:                             e + "/x",
		`<meta http-equiv=refresh>` + x:                                        e + "/x",
		`<meta http-equiv=refresh content=300>` + x:                            "", // it reloads the page
		`<meta http-equiv=refresh content="20;url=/y">` + x:                    "",
		`<meta http-equiv="refresh " content="0;url=/y">`:                      "",
		`<meta name=refresh content="0;url=/y">`:                               "",
		"<noscript>" + x + "</noscript>":                                       "", // a browser with scripts
		"<noscript>" + x + "</noscript>" + y:                                   e + "/y",
		"<template>" + x + "</template>":                                       "",
		"<template shadowrootmode=open>" + x + "</template>":                   "",
		"<!--" + x + "--><script>'" + x + "'</script><style>" + x + "</style>": "",
		"<textarea>" + x + "</textarea><title>" + x + "</title>":               "",
		"<body><p>" + x: e + "/x",
		"<svg>" + x:     e + "/x", // it ends the drawing
		`<base href=/d/><meta http-equiv=refresh content="0;url=x">`: e + "/d/x",
		`<meta http-equiv=refresh content="0;url=x"><base href=/d/>`: e + "/a/x",
		`<base href=//other.example/d/>` + x:                         "https://other.example/x",
	} {
		if got := ParseMetadata([]byte(in), testPage, nil).Refresh; got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
		if got := ParsePage([]byte(in), testPage, nil, "").Refresh; got != want {
			t.Errorf("crawled: %s: got %q, want %q", in, got, want)
		}
	}
	header := http.Header{"Refresh": {"0;/h"}}
	if got := ParseMetadata([]byte(x), testPage, header).Refresh; got != e+"/h" {
		t.Errorf("header and meta: got %q", got)
	}
	if got := ParseMetadata([]byte(x), testPage, http.Header{"Refresh": {"3600"}}).Refresh; got != "" {
		t.Errorf("header without a URL: got %q", got)
	}
}

func FuzzRefresh(f *testing.F) {
	f.Add("0; url='/x' y", "/d/")
	f.Add(".;,URL= \"\xff", "javascript:")
	f.Fuzz(func(t *testing.T, value, base string) {
		var r refresh
		r.add(value, base)
		if to := r.destination(testPage); to != "" && (!validLink(to) || to == testPage) {
			t.Errorf("%q at %q: got %q", value, base, to)
		}
	})
}
