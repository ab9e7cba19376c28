package sitemap

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"linkwatch/models/sites"
)

func urlset(n int, extra string) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for i := range n {
		fmt.Fprintf(&b, "  <url>\n    <loc>https://www.example.com/blog/category-%d/some-article-title-%d.html</loc>\n    <lastmod>2026-03-%02dT10:20:30+00:00</lastmod>\n%s  </url>\n", i%50, i, i%28+1, extra)
	}
	b.WriteString("</urlset>")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	var lines bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&lines, "https://www.example.com/blog/category-%d/some-article-title-%d.html\n", i%50, i)
	}
	for name, file := range map[string][]byte{
		"urlset":   urlset(50_000, ""),
		"hreflang": urlset(20_000, strings.Repeat(`    <xhtml:link rel="alternate" hreflang="de" href="https://www.example.com/de/blog/some-article-title"/>`+"\n", 5)),
		"text":     lines.Bytes(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bytes.NewReader(file), func(sites.Kind, sites.Entry) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
