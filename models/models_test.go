package models_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

func TestIDsSortByCreation(t *testing.T) {
	ids := make([]string, 5000)
	for i := range ids {
		ids[i] = models.NewID(models.KindLink)
		if err := models.CheckID(models.KindLink, ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 5000 {
		t.Error("ids do not sort by creation, or repeat")
	}
	for _, bad := range []string{"", "l_", "t" + ids[0][1:], ids[0] + "0", ids[0][:23], "l_" + strings.Repeat("-", 22), "l_" + strings.Repeat("é", 11)} {
		if models.CheckID(models.KindLink, bad) == nil {
			t.Errorf("%q passes as the id of a link", bad)
		}
	}
}

func TestTimesAreStoredAsTheyAre(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		want := models.At(time.Date(2026, 3, 24, 12, 0, 0, 123456789, time.FixedZone("x", 3600)))
		var got, never models.Time
		err := db.Write(t.Context(), func(tx *gorm.DB) error {
			if err := tx.Exec("CREATE TABLE moments (t BIGINT, n BIGINT)").Error; err != nil {
				return err
			}
			return tx.Exec("INSERT INTO moments VALUES (?, ?)", want, models.Time{}).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Read(t.Context()).Raw("SELECT t, n FROM moments").Row().Scan(&got, &never); err != nil {
			t.Fatal(err)
		}
		if got != want || got.Location() != time.UTC || got.Nanosecond() != 123456000 {
			t.Errorf("stored %v, read %v", want, got)
		}
		if !never.IsZero() {
			t.Errorf("never became %v", never)
		}
	})
}

func TestNewPage(t *testing.T) {
	for _, c := range []struct {
		number, size int
		want         models.Page
		ok           bool
	}{
		{0, 0, models.Page{Number: 1, Size: 30}, true},
		{3, 100, models.Page{Number: 3, Size: 100}, true},
		{1, 101, models.Page{Number: 1, Size: 100}, true},
		{1, 1 << 40, models.Page{Number: 1, Size: 100}, true},
		{-1, 10, models.Page{}, false},
		{1, -1, models.Page{}, false},
		{1 << 62, 100, models.Page{}, false},
	} {
		got, err := models.NewPage(c.number, c.size)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("page %d of %d: %+v, %v", c.number, c.size, got, err)
		}
	}
	for total, pages := range map[int]int{0: 0, 1: 1, 30: 1, 31: 2, 92: 4} {
		if got := (models.List[int]{Page: models.Page{Number: 1, Size: 30}, Total: total}).Pages(); got != pages {
			t.Errorf("%d results are %d pages, want %d", total, got, pages)
		}
	}
}

func TestPageToken(t *testing.T) {
	c := models.Cursor{CreatedAt: models.At(time.Date(2025, 8, 17, 12, 34, 56, 789000, time.UTC)), ID: models.NewID(models.KindRun)}
	got, err := models.ParseToken(c.Token())
	if err != nil || got != c {
		t.Errorf("%+v became %+v, %v", c, got, err)
	}
	// As a client would write one, in the standard alphabet.
	written := base64.StdEncoding.EncodeToString([]byte(`{"created_at": "2025-08-17T12:34:56Z", "id": "t_123?>"}`))
	if got, err = models.ParseToken(written); err != nil || got.ID != "t_123?>" || got.CreatedAt.Unix() != 1755434096 {
		t.Errorf("%s is %+v, %v", written, got, err)
	}
	if got, err = models.ParseToken(""); err != nil || got.Token() != "" {
		t.Errorf("the start is %+v, %v", got, err)
	}
	for _, bad := range []string{"x", "!!!!", base64.URLEncoding.EncodeToString([]byte(`{}`)), base64.URLEncoding.EncodeToString([]byte(`null`)), strings.Repeat("A", 1000)} {
		if _, err := models.ParseToken(bad); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(models.Cursor{CreatedAt: models.At(time.Now()), ID: "r_1"}.Token())
	f.Add("e30=")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := models.ParseToken(s)
		if err != nil {
			if models.CodeOf(err) != models.CodeInvalid {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if again, err := models.ParseToken(c.Token()); err != nil || again != c {
			t.Fatalf("%q is %+v, and its token %+v (%v)", s, c, again, err)
		}
	})
}

func TestCleanAndFold(t *testing.T) {
	for in, want := range map[string]string{
		" a \t\n b ":             "a b",
		"nul\x00 bell\a":         "nul bell",
		"bad\xffutf8":            "bad\uFFFDutf8",
		"\u202eevil\u2066\ufeff": "evil",
		"👩\u200d💻":               "👩\u200d💻",
	} {
		if got := models.CleanLine(in); got != want {
			t.Errorf("clean %q is %q, want %q", in, got, want)
		}
	}
	if got := models.CleanText(" a\r\nb\x00\tc\n"); got != "a\nb\tc" {
		t.Errorf("clean text is %q", got)
	}
	for in, want := range map[string]string{
		"Go": "go", "CAFÉ": "cafe", "Straße": "strasse", "ＦＵＬＬ": "full", "Ёлка": "елка", "İstanbul": "istanbul", "한글": "한글", "ﬁne": "fine",
	} {
		if got := models.Fold(in); got != want {
			t.Errorf("folded %q is %q, want %q", in, got, want)
		}
	}
	if models.FoldName("résumé") == models.FoldName("resume") {
		t.Error("names that differ in their accents are the same")
	}
	if models.FoldName("É") != models.FoldName("e\u0301") {
		t.Error("one name in two Unicode forms is two")
	}
	if got := models.Truncate("äöü", 2); got != "äö" {
		t.Errorf("cut to %q", got)
	}
}

// Characters that people do not see, or usually do not write, change neither names nor searches.
func TestFoldIgnores(t *testing.T) {
	for in, want := range map[string]string{
		"❤\ufe0f heart":  "❤ heart",
		"❤\ufe0e":        "❤",
		"1\ufe0f\u20e3":  "1\u20e3",
		"葛\U000e0100城":   "葛城",
		"ᠠ\u180b":        "ᠠ",
		"a\u034fb":       "ab",
		"a\u3164b\u115f": "ab",
		"مُحَمَّد":       "محمد",
		"محـــمد":        "محمد",
		"\ufc60":         "\u064e\u0651", // isolated form of marks
		"م\ufe77":        "م",            // tatweel with a mark
		"ٱلرَّحۡمَٰنِ":   "ٱلرحمن",
		"شِدَّة":         "شدة", // a vowel and a doubling, whose order varies
		"א\ufb1e":        "א",
		"שָׁלוֹם":        "שלום",
		"\ufb2a\ufb4b":   "שו", // presentation forms
		"בְּרֵאשִׁ֖ית":   "בראשית",
		"é\ufe0f":        "é",
		"e\ufe0f\u0301":  "é",
		"ا\u06d6\u0654":  "أ",
		"A\ufe0fB":       "ab",
	} {
		if got := models.FoldName(in); got != want {
			t.Errorf("name %q folds to %q, want %q", in, got, want)
		}
		if got, want := models.Fold(in), models.Fold(want); got != want {
			t.Errorf("text %q folds to %q, want %q", in, got, want)
		}
	}
	for _, pair := range [][2]string{
		{"أحمد", "احمد"}, {"آب", "اب"}, {"مدرسة", "مدرسه"}, {"می\u200cخواهم", "میخواهم"}, {"👩\u200d💻", "👩💻"}, {"👍🏽", "👍"}, {"कि", "क"},
	} {
		if models.FoldName(pair[0]) == models.FoldName(pair[1]) || models.Fold(pair[0]) == models.Fold(pair[1]) {
			t.Errorf("%q and %q fold to the same", pair[0], pair[1])
		}
	}
	for _, s := range []string{"\ufe0f", "\u3164", "\u064b", "ـ", "\u05b4 \u05b4"} {
		if models.FoldName(s) == "" || models.Fold(s) != "" {
			t.Errorf("%q alone folds to the name %q and the text %q", s, models.FoldName(s), models.Fold(s))
		}
	}
	for r := range unicode.MaxRune {
		if s := "a" + string(r) + "b"; models.Ignored(r) && (models.FoldName(s) != "ab" || models.Fold(s) != "ab") {
			t.Errorf("%U folds to %q and %q", r, models.FoldName(s), models.Fold(s))
		}
	}
}

// Each letter is found by its other cases, and what is folded stays as it is.
func TestFoldOfEachLetter(t *testing.T) {
	for r := range unicode.MaxRune {
		s := string(r)
		if !unicode.IsLetter(r) {
			continue
		}
		once := models.FoldName(s)
		if twice := models.FoldName(once); twice != once {
			t.Errorf("%q (%U) folds to %q, and that to %q", s, r, once, twice)
		}
		if other := string(unicode.SimpleFold(r)); models.FoldName(other) != once {
			t.Errorf("%q (%U) folds to %q, %q to %q", s, r, once, other, models.FoldName(other))
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Café İ ﬁ \u0345 ͅ")
	f.Add("❤\ufe0f שָׁלוֹם مُحَمَّد \ufe0f \ufc60 ـ")
	f.Fuzz(func(t *testing.T, s string) {
		for name, fold := range map[string]func(string) string{"Fold": models.Fold, "FoldName": models.FoldName, "CleanLine": models.CleanLine} {
			once := fold(s)
			if twice := fold(once); twice != once {
				t.Fatalf("%s of %q is %q, and of that %q", name, s, once, twice)
			}
			if strings.ContainsAny(once, "\x00\n\u202e") {
				t.Fatalf("%s of %q is %q", name, s, once)
			}
		}
	})
}

func TestTimedIDsSortByTimeAndCanBeRead(t *testing.T) {
	at := models.At(time.Date(2026, 3, 24, 12, 0, 0, 123_456_000, time.UTC))
	before := ""
	for _, step := range []struct {
		at time.Time
		n  int64
	}{{at.Time, 1}, {at.Time, 2}, {at.Time, 1 << 40}, {at.Add(time.Microsecond).Time, 1}, {at.Add(time.Hour).Time, 0}} {
		id := models.TimedID(models.KindCheck, models.At(step.at), step.n)
		if models.CheckID(models.KindCheck, id) != nil || id <= before {
			t.Errorf("%q after %q", id, before)
		}
		gotAt, n, err := models.ParseTimedID(models.KindCheck, id)
		if err != nil || !gotAt.Equal(step.at) || n != step.n {
			t.Errorf("%q is %v, %d, %v; want %v, %d", id, gotAt, n, err, step.at, step.n)
		}
		before = id
	}
	for _, bad := range []string{"", "c_", models.NewID(models.KindLink), "c_zzzzzzzzzzzzzzzzzzzzzz"} {
		if _, _, err := models.ParseTimedID(models.KindCheck, bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
