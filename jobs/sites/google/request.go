package google

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"linkwatch/jobs/sites/engine"
)

// The scopes of access tokens.
const (
	indexingScope   = "https://www.googleapis.com/auth/indexing"
	webmastersScope = "https://www.googleapis.com/auth/webmasters"
)

// endpoint is one API of Google. The clients of google.golang.org/api are not used: five requests do not need gRPC,
// OpenTelemetry and the discovery of credentials, which they link.
type endpoint struct {
	client    *engine.Client
	url       string // with a slash at the end
	userAgent string // "" = Go's default
}

// notification is the UrlNotification of the Indexing API.
type notification struct {
	URL        string `json:"url,omitempty"`
	Type       string `json:"type,omitempty"`
	NotifyTime string `json:"notifyTime,omitempty"`
}

// metadata is the UrlNotificationMetadata of the Indexing API.
type metadata struct {
	URL          string        `json:"url"`
	LatestUpdate *notification `json:"latestUpdate"`
	LatestRemove *notification `json:"latestRemove"`
}

// published is the PublishUrlNotificationResponse of the Indexing API.
type published struct {
	Metadata *metadata `json:"urlNotificationMetadata"`
}

// inspectRequest is the InspectUrlIndexRequest of the Search Console API.
type inspectRequest struct {
	InspectionURL string `json:"inspectionUrl"`
	SiteURL       string `json:"siteUrl"`
	LanguageCode  string `json:"languageCode"`
}

// inspectResponse is the InspectUrlIndexResponse of the Search Console API.
type inspectResponse struct {
	InspectionResult *struct {
		IndexStatusResult *struct {
			Verdict         string `json:"verdict"`
			CoverageState   string `json:"coverageState"`
			RobotsTxtState  string `json:"robotsTxtState"`
			IndexingState   string `json:"indexingState"`
			PageFetchState  string `json:"pageFetchState"`
			GoogleCanonical string `json:"googleCanonical"`
			UserCanonical   string `json:"userCanonical"`
			LastCrawlTime   string `json:"lastCrawlTime"`
		} `json:"indexStatusResult"`
	} `json:"inspectionResult"`
}

// site is the WmxSite of the Search Console API.
type site struct {
	PermissionLevel string `json:"permissionLevel"`
}

// send sends one request with an access token. in is the body, nil for none. A response of 2xx is decoded into out, unless out is
// nil or the response has no content. The error is an *apiError for other statuses.
func (e endpoint) send(ctx context.Context, token, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, e.url+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if e.userAgent != "" {
		r.Header.Set("User-Agent", e.userAgent)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := e.client.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	failed := res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices
	if !failed && (out == nil || res.StatusCode == http.StatusNoContent) {
		return nil
	}
	all, err := io.ReadAll(res.Body) // the client limits the size
	switch {
	case failed:
		return newAPIError(all)
	case err != nil:
		return err
	}
	return json.Unmarshal(all, out)
}
