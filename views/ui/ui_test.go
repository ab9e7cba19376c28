package ui

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                  "just now",
		9 * time.Second:    "just now",
		59 * time.Second:   "59 s ago",
		3 * time.Minute:    "3 min ago",
		2 * time.Hour:      "2 h ago",
		day:                "1 day ago",
		13 * day:           "13 days ago",
		3 * week:           "3 weeks ago",
		70 * day:           "2 months ago",
		3 * year:           "3 years ago",
		-30 * time.Second:  "in a moment",
		-90 * time.Minute:  "in 1 h",
		-6 * day:           "in 6 days",
		-100 * year / 1000: "in 5 weeks",
	} {
		if got := ago(now.Add(-d), now); got != want {
			t.Errorf("ago(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for ratio, want := range map[float64]string{
		1: "100%", 1 - 1e-12: "99.99%", 0.99996: "99.99%", 0.5: "50.00%", 0.995: "99.50%", 0.29: "29.00%",
		0.741549: "74.15%", 0.74155: "74.16%", 1e-12: "0.01%", 0: "0%",
	} {
		if got := Percent(ratio); got != want {
			t.Errorf("Percent(%v) = %q, want %q", ratio, got, want)
		}
	}
}

func TestExternal(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/a?b=c#d": "https://example.com/a?b=c#d",
		"http://example.com":          "http://example.com",
		"HTTPS://example.com":         "HTTPS://example.com",
		"javascript:alert(1)":         "",
		" javascript:alert(1)":        "",
		"data:text/html,x":            "",
		"//example.com":               "",
		"/links":                      "",
		"https://":                    "",
		"":                            "",
	} {
		if got := string(External(address)); got != want {
			t.Errorf("External(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Plural(1, "link"); got != "1 link" {
		t.Errorf("Plural(1) = %q", got)
	}
}

func TestEvery(t *testing.T) {
	for d, want := range map[time.Duration]string{
		15 * time.Second: "every 15 seconds", time.Minute: "every minute", 90 * time.Second: "every 90 seconds",
		2 * time.Hour: "every 2 hours", 24 * time.Hour: "every day", 1500 * time.Millisecond: "every 1.5s",
	} {
		if got := Every(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLasted(t *testing.T) {
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 90 * time.Second: "1 min 30 s",
		time.Hour: "1 h", time.Hour + 59*time.Second: "1 h", 25*time.Hour + time.Minute: "1 d 1 h", 48 * time.Hour: "2 d",
	} {
		if got := LongDuration(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSearched(t *testing.T) {
	for found, want := range map[int]string{
		0: "No match in these 5,000 targets. There are more targets to search.", 7: "Searched 5,000 targets. There are more targets to search.",
	} {
		if got := searchedText(found, "targets"); got != want {
			t.Errorf("%d found: got %q, want %q", found, got, want)
		}
	}
}
