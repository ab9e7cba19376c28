package crawl

import (
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// ElasticsearchHealth is the health of Elasticsearch or OpenSearch.
type ElasticsearchHealth struct {
	Status string     `json:"status" enum:"ok,unavailable,off" doc:"Whether the search engine accepts crawled pages. off if CRAWLER_ELASTICSEARCH_URL is not set"`
	Detail *string    `json:"detail" example:"The search engine returned status 503." doc:"Error. null if the status is ok or off"`
	Since  *time.Time `json:"since" example:"2025-03-24T12:00:00Z" doc:"Time of the first error. null if the status is ok or off"`
}

// ElasticsearchCheck is the health check of the search engine. state returns the error and its
// time, or "" if there is none; nil = no search engine is configured. Unsent pages wait in the
// database.
func ElasticsearchCheck(state func() (detail string, since models.Time)) middleware.HealthCheck {
	return middleware.HealthCheck{Name: "elasticsearch", Doc: "Health of Elasticsearch or OpenSearch", State: func() (any, bool) {
		if state == nil {
			return ElasticsearchHealth{Status: "off"}, true
		}
		detail, since := state()
		if detail == "" {
			return ElasticsearchHealth{Status: "ok"}, true
		}
		return ElasticsearchHealth{"unavailable", &detail, api.Time(since)}, false
	}}
}

// ArchiveHealth is the health of the archive of crawled pages.
type ArchiveHealth struct {
	Status string     `json:"status" enum:"ok,unavailable,off" doc:"Whether the archive stores crawled pages. off if neither CRAWLER_ARCHIVE_URL nor CRAWLER_MINIO_ENABLED is set"`
	Detail *string    `json:"detail" example:"The archive failed: status 503 SlowDown." doc:"Error. null if the status is ok or off"`
	Since  *time.Time `json:"since" example:"2025-03-24T12:00:00Z" doc:"Time of the first error. null if the status is ok or off"`
}

// ArchiveCheck is the health check of the archive. state returns the error and its time, or "" if
// there is none; nil = no archive is configured. Pages that cannot be stored are not archived
// later.
func ArchiveCheck(state func() (detail string, since models.Time)) middleware.HealthCheck {
	return middleware.HealthCheck{Name: "archive", Doc: "Health of the archive of crawled pages", State: func() (any, bool) {
		if state == nil {
			return ArchiveHealth{Status: "off"}, true
		}
		detail, since := state()
		if detail == "" {
			return ArchiveHealth{Status: "ok"}, true
		}
		return ArchiveHealth{"unavailable", &detail, api.Time(since)}, false
	}}
}
