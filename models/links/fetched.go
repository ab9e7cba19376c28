package links

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"linkwatch/models"
)

const (
	// fetchedLifetime is how long Add uses the result of a preview, if the page returned 200.
	fetchedLifetime = 10 * time.Minute
	// failedLifetime is how long Add uses another result. Then the site may work again.
	failedLifetime = time.Minute
	maxFetched     = 64 << 10 // bytes of New.Fetched; a page has much less
)

// fetched is the result of a preview that a form carries, so that Add does not fetch the page again.
type fetched struct {
	URL    string
	At     models.Time
	Page   Page
	Failed *FetchError `json:",omitempty"`
}

// fetchedOwner is the owner of a sealed result: only the actor of the preview can use it.
func fetchedOwner(ctx context.Context) string { return "fetched page:" + models.Owner(ctx) }

// seal returns the result of a fetch for New.Fetched. It is "" if nothing was sent, or if the store cannot seal.
func (s *Store) seal(ctx context.Context, url string, p Page, fetchErr error) (string, error) {
	failed, ok := errors.AsType[*FetchError](fetchErr)
	if s.opts.Seal == nil || fetchErr != nil && (!ok || failed.Busy) {
		return "", nil
	}
	plain, err := json.Marshal(fetched{URL: url, At: s.clock.Now(), Page: p, Failed: failed})
	if err != nil {
		return "", fmt.Errorf("encode page: %w", err)
	}
	sealed, err := s.opts.Seal(plain, fetchedOwner(ctx))
	if err != nil {
		return "", fmt.Errorf("seal page: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// unseal returns the result of a fetch of a URL. It reports false for text that this server did not seal for the actor
// and the URL, or did too long ago.
func (s *Store) unseal(ctx context.Context, text, url string) (f fetched, ok bool) {
	if text == "" || len(text) > maxFetched || s.opts.Open == nil {
		return f, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return f, false
	}
	plain, err := s.opts.Open(sealed, fetchedOwner(ctx))
	if err != nil || json.Unmarshal(plain, &f) != nil || f.URL != url {
		return f, false
	}
	lifetime := fetchedLifetime
	if f.Failed != nil || f.Page.Status != http.StatusOK {
		lifetime = failedLifetime
	}
	age := s.clock.Now().Sub(f.At.Time)
	return f, age >= 0 && age <= lifetime
}

// result returns what the fetch returned.
func (f fetched) result() (Page, error) {
	if f.Failed != nil {
		return f.Page, f.Failed
	}
	return f.Page, nil
}
