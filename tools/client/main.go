// Command client uses a client that oapi-codegen generates from the OpenAPI
// document of a server: it sets members and clears them with null. It changes the
// server at its first argument, saves the page at its second one, and ends with an error if that does not work.
//
//	mkdir -p client && curl -s localhost:8080/openapi-3.0.json >openapi.json
//	go tool oapi-codegen -config oapi.yaml openapi.json && go run . http://localhost:8080 https://example.com/
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/oapi-codegen/nullable"

	"linkwatch/tools/client/client"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, page string) error {
	c, err := client.NewClientWithResponses(server)
	if err != nil {
		return err
	}
	return errors.Join(target(ctx, c), shortLink(ctx, c), link(ctx, c, page), problem(ctx, c))
}

func target(ctx context.Context, c *client.ClientWithResponses) error {
	body := client.AddTargetInputBody{Url: "https://cleared.test/", Name: set("Shop"), IntervalSeconds: set[int64](600)}
	expect := zero(body.Expect)
	expect.Keyword, expect.MaxLatencyMs = set("Add to cart"), set[int64](2000)
	body.Expect.Set(expect)
	added, err := c.AddTargetWithResponse(ctx, nil, body)
	if err != nil || added.JSON201 == nil {
		return fmt.Errorf("adding a target: %v: %s", err, added.Body)
	}
	edit := client.EditTargetInputBody{Name: null[string](), IntervalSeconds: null[int64]()}
	changed := zero(edit.Expect)
	changed.Keyword = null[string]()
	edit.Expect.Set(changed)
	edited, err := c.EditTargetWithResponse(ctx, added.JSON201.Id, nil, edit)
	if err != nil || edited.JSON200 == nil {
		return fmt.Errorf("clearing members of a target: %v: %s", err, edited.Body)
	}
	t := edited.JSON200
	if t.Name != "" || t.IntervalSeconds == 600 || !t.Expect.Keyword.IsNull() || t.Expect.MaxLatencyMs.MustGet() != 2000 {
		return fmt.Errorf("null in name, interval_seconds and expect.keyword: %s", edited.Body)
	}
	edited, err = c.EditTargetWithResponse(ctx, t.Id, nil, client.EditTargetInputBody{Expect: nullOf(edit.Expect)})
	if err != nil || edited.JSON200 == nil || !edited.JSON200.Expect.MaxLatencyMs.IsNull() {
		return fmt.Errorf("null in expect: %v: %s", err, edited.Body)
	}
	return nil
}

func shortLink(ctx context.Context, c *client.ClientWithResponses) error {
	added, err := c.AddShortLinkWithResponse(ctx, nil, client.AddShortLinkInputBody{
		LongUrl: "https://example.com/", Title: set("Spring"), MaxVisits: set[int64](5), ExpiresAt: set(time.Now().AddDate(5, 0, 0)),
	})
	if err != nil || added.JSON201 == nil {
		return fmt.Errorf("adding a short link: %v: %s", err, added.Body)
	}
	key := added.JSON201.ShortKey
	edited, err := c.EditShortLinkWithResponse(ctx, key, nil, client.EditShortLinkInputBody{ExpiresAt: null[time.Time]()})
	if err != nil || edited.JSON200 == nil {
		return fmt.Errorf("clearing a member of a short link: %v: %s", err, edited.Body)
	}
	if l := edited.JSON200; !l.ExpiresAt.IsNull() || l.MaxVisits.MustGet() != 5 || l.Title != "Spring" {
		return fmt.Errorf("null in expires_at: %s", edited.Body)
	}
	edited, err = c.EditShortLinkWithResponse(ctx, key, nil, client.EditShortLinkInputBody{MaxVisits: null[int64](), Title: null[string]()})
	if err != nil || edited.JSON200 == nil || !edited.JSON200.MaxVisits.IsNull() || edited.JSON200.Title != "" {
		return fmt.Errorf("null in max_visits and title: %v: %s", err, edited.Body)
	}
	return nil
}

func link(ctx context.Context, c *client.ClientWithResponses, page string) error {
	saved, err := c.SaveLinkWithResponse(ctx, client.SaveLinkJSONRequestBody{Url: page, Notes: new("for the talk")})
	if err != nil || saved.JSON201 == nil {
		return fmt.Errorf("saving a link: %v: %s", err, saved.Body)
	}
	noted, err := c.AnnotateLinkWithResponse(ctx, saved.JSON201.Id, nil, client.AnnotateInputBody{Notes: null[string]()})
	if err != nil || noted.JSON200 == nil || noted.JSON200.Notes != "" {
		return fmt.Errorf("null in notes: %v: %s", err, noted.Body)
	}
	return nil
}

// problem reads an error by its type.
func problem(ctx context.Context, c *client.ClientWithResponses) error {
	missing, err := c.GetTargetWithResponse(ctx, "t_0000000000000000000000")
	if err != nil || missing.StatusCode() != http.StatusNotFound || missing.ApplicationproblemJSON404 == nil ||
		missing.ApplicationproblemJSON404.Type != "/probs/not-found" {
		return fmt.Errorf("an unknown target: %v: %s", err, missing.Body)
	}
	return nil
}

func set[T any](v T) nullable.Nullable[T] { return nullable.NewNullableWithValue(v) }
func null[T any]() nullable.Nullable[T]   { return nullable.NewNullNullable[T]() }

// nullOf is null for a member whose type has no name; zero is its zero value.
func nullOf[T any](nullable.Nullable[T]) nullable.Nullable[T] { return null[T]() }
func zero[T any](nullable.Nullable[T]) (v T)                  { return v }
