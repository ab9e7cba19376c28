package crawl

import (
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
)

// ElasticsearchHealth is the state of the search engine.
type ElasticsearchHealth struct {
	Status string     `json:"status" enum:"ok,unavailable,off" doc:"Whether the search engine takes crawled pages. off if CRAWLER_ELASTICSEARCH_URL is not set"`
	Detail *string    `json:"detail" example:"The search engine answers with status 503." doc:"Why it does not take pages. null if it does"`
	Since  *time.Time `json:"since" example:"2025-03-24T12:00:00Z" doc:"When that began. null if it takes pages"`
}

// ElasticsearchCheck tells how the search engine is. state returns why it takes no
// pages, "" = it does, and since when; nil = it is not set up. Pages wait for it in
// the database.
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

// ArchiveHealth is the state of the archive of crawled pages.
type ArchiveHealth struct {
	Status string     `json:"status" enum:"ok,unavailable,off" doc:"Whether the archive takes crawled pages. off if neither CRAWLER_ARCHIVE_URL nor CRAWLER_MINIO_ENABLED is set"`
	Detail *string    `json:"detail" example:"The archive fails: status 503 SlowDown." doc:"Why it does not take pages. null if it does"`
	Since  *time.Time `json:"since" example:"2025-03-24T12:00:00Z" doc:"When that began. null if it takes pages"`
}

// ArchiveCheck tells how the archive is. state returns why it takes no pages, "" = it
// does, and since when; nil = it is not set up. Pages that it does not take are lost.
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
