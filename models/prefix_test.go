package models_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
)

func TestAddressSpans(t *testing.T) {
	for typed, want := range map[string][]string{
		"Example.com/A":     {"https://example.com/A", "https://www.example.com/A", "http://example.com/A", "http://www.example.com/A"},
		"exa":               {"https://exa", "https://www.exa", "http://exa", "http://www.exa"},
		"HTTPS://Example.c": {"https://example.c", "https://example.c"},
		"http://a.test:80/": {"http://a.test:80", "http://a.test"},
		"two words":         nil,
		"a b.example/x":     nil,
		"https://":          nil,
		"/path":             nil,
		"user@host":         nil,
	} {
		var got []string
		for _, s := range models.AddressSpans(typed) {
			got = append(got, s.From)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestHostSpans(t *testing.T) {
	for typed, want := range map[string][]models.Span{
		"https://Shop.example/x": {models.Beginning("shop.example"), models.Beginning("www.shop.example")},
		"shop":                   {models.Beginning("shop"), models.Beginning("www.shop")},
		"shop.example:80":        nil,
		"a shop":                 nil,
		"":                       nil,
	} {
		if got := models.HostSpans(typed); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	s := models.Beginning("ab")
	for text, in := range map[string]bool{"ab": true, "abc": true, "ab\uffff": true, "aa": false, "ac": false, "a": false} {
		if got := text >= s.From && text < s.Till; got != in {
			t.Errorf("%q begins with it: %v", text, got)
		}
	}
}
