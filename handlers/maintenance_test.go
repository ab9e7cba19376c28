package handlers_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/alerts"
	"linkwatch/models/targets"
)

var isDown = targets.Result{Outcome: targets.DownOutcome, StatusCode: 503, Error: "unexpected status 503"}

// maintain adds a maintenance window of some targets that has started.
func maintain(s *apptest.App, ts ...targets.Target) {
	s.Helper()
	var ids alerts.List
	for _, t := range ts {
		ids = append(ids, t.ID)
	}
	_, err := s.Systems.Alerts.Store.AddMaintenance(s.Context(), alerts.Maintenance{
		StartsAt: s.Systems.Alerts.Store.Now().Add(-time.Minute), EndsAt: s.Systems.Alerts.Store.Now().Add(time.Hour), Scope: alerts.Scope{Targets: ids},
	})
	s.Must(err)
}

// The overview marks targets that are down in a maintenance window. The number of queries does not depend on their number.
func TestAttention_Maintenance(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.test", "Shop", isDown)
	s.Watch("https://blog.test", "Blog", isDown)
	const marks = ".attention .health:contains('in maintenance')"
	apptest.WantCount(t, s.Get("/"), marks, 0)
	maintain(s, shop)
	a := s.Get("/")
	apptest.WantCount(t, a, ".attention li:contains('Shop') .health:contains('in maintenance')", 1)
	apptest.WantCount(t, a, marks, 1)
	noneLate(s)
	few := s.Count("/")
	for i := range 3 {
		maintain(s, s.Watch(fmt.Sprintf("https://%d.test", i), "", isDown))
	}
	noneLate(s)
	if many := s.Count("/"); many != few {
		t.Errorf("got %d queries for two targets, %d for five", few, many)
	}
	apptest.WantCount(t, s.Get("/"), marks, 4)
}

// The headline of a status page shows maintenance instead of an outage if only targets in maintenance are down.
func TestStatusPageDuringMaintenance(t *testing.T) {
	s := apptest.New(t)
	isUp := targets.Result{StatusCode: 200, LatencyMS: 10, Attempts: 1}
	shop, blog, docs := s.Watch("https://shop.test", "Shop", isDown), s.Watch("https://blog.test", "Blog", isUp), s.Watch("https://docs.test", "Docs", isDown)
	for slug, ids := range map[string][]string{"shop": {shop.ID}, "two": {shop.ID, blog.ID}, "three": {shop.ID, blog.ID, docs.ID}, "blog": {blog.ID}} {
		_, err := s.Targets.AddPage(t.Context(), targets.PageSettings{Slug: slug, Title: slug, TargetIDs: ids})
		s.Must(err)
	}
	wants := func(slug, state, words, aside string) {
		t.Helper()
		a := s.Get("/status/" + slug)
		apptest.WantText(t, a, ".verdict."+state+" .verdict-words", words)
		apptest.WantText(t, a, ".verdict", words+" "+aside)
	}
	wants("two", "down", "1 of 2 is down", "Shop Updated")
	maintain(s, shop, blog)
	wants("shop", "maintenance", "Maintenance in progress", "Updated")
	wants("two", "maintenance", "Maintenance in progress", "Updated")
	wants("three", "down", "1 of 3 is down", "Docs · 2 in maintenance Updated")
	wants("blog", "up", "All systems are up", "Updated")
	apptest.WantText(t, s.Get("/status/two"), "#"+shop.ID, "down")
	apptest.WantText(t, s.Get("/status/two"), "#"+shop.ID, "in maintenance")
}
