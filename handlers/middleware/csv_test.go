package middleware_test

import (
	"encoding/csv"
	"io"
	"strings"
	"testing"

	"linkwatch/handlers/middleware"
)

// asCSV returns rows as a CSV file.
func asCSV(t testing.TB, rows ...[]string) string {
	t.Helper()
	var b strings.Builder
	w := middleware.NewCSVWriter(&b)
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCSV: all cells are quoted, and rows end with CRLF (RFC 4180).
func TestCSV(t *testing.T) {
	got := asCSV(t, []string{"a", "", `say "hi"`}, []string{"1,2", "two\nlines", "ä"})
	want := "\"a\",\"\",\"say \"\"hi\"\"\"\r\n\"1,2\",\"two\nlines\",\"ä\"\r\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCSVFormulas: no cell is a formula.
func TestCSVFormulas(t *testing.T) {
	for cell, want := range map[string]string{
		"=cmd()": "'=cmd()", "+1": "'+1", "-1": "'-1", "@a": "'@a", "＝a": "'＝a", "＋a": "'＋a", "－a": "'－a", "＠a": "'＠a",
		";a": "';a", "\ta": "'\ta", "\ra": "'\ra", "\na": "'\na", " =a": "' =a", "\u00a0=a": "'\u00a0=a", "\ufeff=a": "'\ufeff=a", "\x00=a": "'\x00=a", `"=a"`: `'"=a"`,
		"a;=b": "a;'=b", "a; ＝b": "a; '＝b", "a\t@b": "a\t'@b", "a\n+b": "a\n'+b", "a\r\n-b": "a\r\n'-b", `a;"=b"`: `a;"'=b"`, "a;;=b": "a;;'=b", ";=a": "';'=a",
		"": "", "a": "a", "a=b": "a=b", "a-b": "a-b", "a;b": "a;b", "a, =b": "a, =b", "'=a": "'=a", "https://a.example/?b=1;c=2": "https://a.example/?b=1;c=2",
		"two\nlines": "two\nlines", "\xff": "\uFFFD",
	} {
		rows, err := csv.NewReader(strings.NewReader(asCSV(t, []string{cell}))).ReadAll()
		if want = strings.ReplaceAll(want, "\r\n", "\n"); err != nil || len(want) > 0 && rows[0][0] != want { // the reader converts line breaks
			t.Errorf("%q: got %q, %v, want %q", cell, rows, err, want)
		}
	}
}

// FuzzCSV: a reader gets the cells back, and one that takes another separator finds no formula.
func FuzzCSV(f *testing.F) {
	for _, cell := range []string{"a", `"`, "=1", "a;=1", "a;\"\"=1", "a\t=1", "a\r\n=1", "\xff;=", "; ;＝", `";"=`, "\r\r\n", "\r'\n"} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		file := asCSV(t, []string{cell, "b", cell})
		rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 3 {
			t.Fatalf("%q: got %q, %v", cell, rows, err)
		}
		// The reader converts line breaks once: "\r\r\n" becomes "\r\n".
		want := strings.NewReplacer("'", "", "\r\n", "\n").Replace(strings.ToValidUTF8(cell, "\uFFFD"))
		if rows[0][0] != rows[0][2] || strings.ReplaceAll(rows[0][0], "'", "") != want {
			t.Fatalf("%q: got %q", cell, rows)
		}
		for _, separator := range []rune{',', ';', '\t'} {
			r := csv.NewReader(strings.NewReader(file))
			r.Comma, r.LazyQuotes, r.FieldsPerRecord = separator, true, -1
			for {
				row, err := r.Read()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for _, got := range row {
					if isFormula(got) {
						t.Fatalf("%q read with %q: got %q", cell, separator, row)
					}
				}
			}
		}
	})
}

// isFormula reports whether a spreadsheet evaluates a cell.
func isFormula(cell string) bool {
	cell = strings.TrimLeft(cell, " \t\r\n\"")
	return cell != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(cell)[0])
}
