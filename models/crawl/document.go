package crawl

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Document is a page as it is sent to the search engine.
type Document struct {
	Seq         int64
	Version     int64  // of the page's content: not negative, increases with each change
	ID          string // of the page
	SourceID    string
	SourceName  string
	URL         string
	Title       string
	Description string
	Text        string
	Author      string
	Language    string
	ContentHash string
	OpenGraph   OpenGraph
	JSONLD      string // a JSON array; "" = none
	Headings    []string
	WordCount   int
	StatusCode  int
	FetchedAt   models.Time
	ChangedAt   models.Time
	PublishedAt models.Time // zero: unknown
	ModifiedAt  models.Time // zero: unknown
	Gone        bool        // the search engine must delete it
}

// SentDocument is a document that need not be sent again until its page changes. A page whose content has another Version by
// now is still to be sent.
type SentDocument struct {
	Seq     int64
	Version int64
	Error   string // why the search engine refused the document; "" = it was stored or deleted
}

// UnsentDocuments returns up to limit documents that the search engine does not have yet, of pages after a seq, ordered by seq.
func (s *Store) UnsentDocuments(ctx context.Context, after int64, limit int) ([]Document, error) {
	var pages []struct {
		Page
		SourceName  string
		PrivateTo   string
		VersionText CompressedText
	}
	err := s.db.Read(ctx).Raw(`SELECT due.*, s.id AS source_id, s.name AS source_name, s.private_to, v.text AS version_text
		FROM (SELECT * FROM crawled_pages WHERE unsent AND seq > ? ORDER BY seq LIMIT ?) AS due JOIN sources AS s ON s.seq = due.source_seq
		LEFT JOIN page_versions AS v ON v.page_seq = due.seq AND v.version = due.text_version ORDER BY due.seq`, after, limit).Scan(&pages).Error
	if err != nil {
		return nil, fmt.Errorf("load documents to send: %w", err)
	}
	docs := make([]Document, len(pages))
	for i, p := range pages {
		text, err := p.VersionText.Decompress()
		if err != nil {
			text = "" // the other fields of the page are still useful
		}
		docs[i] = Document{
			Seq: p.Seq, Version: p.Revision, ID: p.ID(), SourceID: p.SourceID, SourceName: p.SourceName, URL: p.URL, Title: p.Title,
			Description: p.Description, Text: text, Author: p.Author, Language: p.Language, ContentHash: p.ContentHash, OpenGraph: p.OpenGraph,
			JSONLD: p.JSONLD, Headings: p.HeadingList(), WordCount: p.WordCount, StatusCode: p.StatusCode, FetchedAt: p.FetchedAt,
			ChangedAt: p.ChangedAt, PublishedAt: p.PublishedAt, ModifiedAt: p.ModifiedAt, Gone: !p.indexed() || !p.DeletedAt.IsZero() || p.PrivateTo != "", // since it was shared
		}
	}
	return docs, nil
}

// MarkSent marks documents as stored or refused by the search engine. A page that has changed meanwhile is still to be sent.
func (s *Store) MarkSent(ctx context.Context, done []SentDocument) error {
	rows := models.NewRows("seq bigint, revision bigint")
	for _, d := range done {
		rows.Add(d.Seq, d.Version)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, `UPDATE crawled_pages SET unsent = false FROM {rows} AS r
			WHERE crawled_pages.seq = r.seq AND crawled_pages.revision = r.revision`).Error
	})
	if err != nil {
		return fmt.Errorf("mark documents as sent: %w", err)
	}
	return nil
}
