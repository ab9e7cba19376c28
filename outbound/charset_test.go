package outbound

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func encode(t testing.TB, e encoding.Encoding, s string) string {
	t.Helper()
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCharsets(t *testing.T) {
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	meta := func(cs, s string) string { return `<meta charset="` + cs + `"><title>` + s + `</title>` }
	const russian, japan, han = "<title>Привет, мир</title>", "日本語のページ", "新电脑已可利用记忆自学人工智能"
	for name, tc := range map[string]struct{ kind, body, want string }{
		"header":                     {"text/html; charset=windows-1251", encode(t, charmap.Windows1251, russian), russian},
		"header in quotes and caps":  {`Text/HTML; Charset="Windows-1251"`, encode(t, charmap.Windows1251, russian), russian},
		"meta":                       {"text/html", meta("shift_jis", encode(t, japanese.ShiftJIS, japan)), meta("shift_jis", japan)},
		"meta http-equiv":            {"text/html", `<META content="text/html; charset=GB2312" HTTP-EQUIV=Content-Type>` + encode(t, simplifiedchinese.GBK, han), `<META content="text/html; charset=GB2312" HTTP-EQUIV=Content-Type>` + han},
		"late meta":                  {"text/html", strings.Repeat(" ", 5000) + meta("windows-1251", encode(t, charmap.Windows1251, russian)), strings.Repeat(" ", 5000) + meta("windows-1251", russian)},
		"meta in a comment is none":  {"text/html", `<!-- <meta charset=shift_jis> --><title>Grüße</title>`, `<!-- <meta charset=shift_jis> --><title>Grüße</title>`},
		"header before meta":         {"text/html; charset=windows-1251", meta("utf-8", encode(t, charmap.Windows1251, "Привет")), meta("utf-8", "Привет")},
		"lying header":               {"text/html; charset=utf-8", meta("windows-1251", encode(t, charmap.Windows1251, "Да")), meta("windows-1251", "\uFFFD")},
		"unknown header":             {"text/html; charset=klingon", meta("windows-1251", encode(t, charmap.Windows1251, "Да")), meta("windows-1251", "Да")},
		"broken header":              {"text/html; charset=windows-1251; charset=x; =", meta("windows-1251", encode(t, charmap.Windows1251, "Да")), meta("windows-1251", "Да")},
		"UTF-16 mark":                {"text/html; charset=utf-8", encode(t, utf16, russian), russian},
		"UTF-16 mark, no header":     {"", encode(t, utf16, russian), russian},
		"UTF-8 mark":                 {"text/html; charset=iso-8859-1", "\uFEFF" + russian, russian},
		"UTF-16 in meta is UTF-8":    {"text/html", meta("utf-16", "Да"), meta("utf-16", "Да")},
		"lying meta, plainly UTF-8":  {"text/html", meta("gb2312", han), meta("gb2312", han)},
		"undeclared UTF-8":           {"text/html", strings.Repeat(" ", 3000) + russian, strings.Repeat(" ", 3000) + russian},
		"undeclared, something else": {"text/html", "<title>Caf\xe9 \x80</title>", "<title>Café €</title>"},
		"no type at all":             {"", "<html><title>Caf\xe9</title>", "<html><title>Café</title>"},
		"plain text":                 {"text/plain", "Caf\xe9", "Café"},
		"broken UTF-8":               {"text/html; charset=utf-8", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		"JSON":                       {"application/json", `{"a":"é` + "\xff" + `"}`, `{"a":"é` + "\uFFFD" + `"}`},
		"XML declaration":            {"application/rss+xml", encode(t, charmap.Windows1251, `<?xml version="1.0" encoding="windows-1251"?><a>Да</a>`), `<?xml version="1.0" encoding="UTF-8"?><a>Да</a>`},
		"XML header":                 {"text/xml; charset=windows-1251", encode(t, charmap.Windows1251, `<?xml version='1.0' encoding='koi8-r'?><a>Да</a>`), `<?xml version='1.0' encoding='UTF-8'?><a>Да</a>`},
		"XML, UTF-16":                {"application/xml", encode(t, utf16, `<?xml version="1.0" encoding="UTF-16"?><a>Да</a>`), `<?xml version="1.0" encoding="UTF-8"?><a>Да</a>`},
		"XML, nothing said":          {"application/xml", `<a>Да</a>`, `<a>Да</a>`},
		"not text":                   {"application/octet-stream", "\xff\xfe\x00", "\xff\xfe\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = []string{tc.kind}
				if tc.kind == "" {
					w.Header()["Content-Type"] = nil // not guessed by the server either
				}
				_, _ = w.Write([]byte(tc.body))
			})
			if res := get(t, testClient(t, Options{}), Request{URL: srv.URL}); string(res.Body) != tc.want {
				t.Errorf("got %q\nwant %q", res.Body, tc.want)
			}
		})
	}
}

// Conversion may double a body. The limit applies to the result, and no character is cut in half.
func TestCapAfterConversion(t *testing.T) {
	body := encode(t, charmap.Windows1251, strings.Repeat("Ж", 100))
	out, cut := toUTF8([]byte(body), "text/plain; charset=windows-1251", false, 101)
	if string(out) != strings.Repeat("Ж", 50) || !cut {
		t.Errorf("got %q, cut %v", out, cut)
	}
	out, cut = toUTF8([]byte("ab\xe2\x82"), "text/plain; charset=utf-8", true, 100)
	if string(out) != "ab" || cut {
		t.Errorf("got %q, cut %v", out, cut)
	}
}

func FuzzToUTF8(f *testing.F) {
	f.Add([]byte("<meta charset=shift_jis>\x83\x65"), "text/html", false)
	f.Add([]byte("\xff\xfea\x00\x00\xd8"), "", true)
	f.Add([]byte("<?xml version='1.0' encoding='iso-2022-jp'?>\x1b$B"), "text/xml", false)
	f.Add([]byte("a\xe2\x82"), "text/plain; charset=utf-8", true)
	f.Fuzz(func(t *testing.T, raw []byte, contentType string, cutShort bool) {
		out, _ := toUTF8(raw, contentType, cutShort, 1000)
		if _, isText := textKind(raw, contentType); isText && (len(out) > 1000 || !utf8.Valid(out)) {
			t.Errorf("%d bytes, valid %v", len(out), utf8.Valid(out))
		}
	})
}
