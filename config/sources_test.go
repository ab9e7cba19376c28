package config

import "testing"

// The table of settings names the default of the source manager, which is off.
func TestDefaultSourceManagerIsOff(t *testing.T) {
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	s := setting(c, "CRAWLER_SOURCES_API_URL")
	if want := "http://localhost:8050/api/v1/sources, off until it is set"; c.CrawlerSourcesAPIURL != "" || s.Value != "" || s.Default != want {
		t.Errorf("%q: %+v", c.CrawlerSourcesAPIURL, s)
	}
	const url = "http://localhost:8050/api/v1/sources"
	c, err = load("CRAWLER_SOURCES_API_URL", url)
	if err != nil || string(c.CrawlerSourcesAPIURL) != url {
		t.Errorf("%q, %v", c.CrawlerSourcesAPIURL, err)
	}
}
