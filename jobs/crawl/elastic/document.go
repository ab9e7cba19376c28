package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// source is the JSON of a document. index.json maps each field.
type source struct {
	ID              string      `json:"id"`
	SourceID        string      `json:"source_id"`
	SourceName      string      `json:"source_name"`
	URL             string      `json:"url"`
	StatusCode      int         `json:"status_code"`
	Title           string      `json:"title"`
	MetaDescription string      `json:"meta_description"`
	Headings        []string    `json:"headings,omitempty"`
	RawText         string      `json:"raw_text"`
	Author          string      `json:"author,omitempty"`
	Language        string      `json:"language,omitempty"`
	WordCount       int         `json:"word_count"`
	ContentHash     string      `json:"content_hash,omitempty"`
	OGTitle         string      `json:"og_title,omitempty"`
	OGDescription   string      `json:"og_description,omitempty"`
	OGImage         string      `json:"og_image,omitempty"`
	OGSiteName      string      `json:"og_site_name,omitempty"`
	OGType          string      `json:"og_type,omitempty"`
	JSONLD          *jsonLD     `json:"json_ld_data,omitempty"`
	PublishedDate   models.Time `json:"published_date,omitzero"`
	ModifiedDate    models.Time `json:"modified_date,omitzero"`
	ChangedAt       models.Time `json:"changed_at,omitzero"`
	CrawledAt       models.Time `json:"crawled_at,omitzero"`
}

type jsonLD struct {
	Raw json.RawMessage `json:"jsonld_raw"`
}

// encode returns a document as one line of JSON, without a line break. It fails if the JSON-LD is
// not valid JSON, or a time is not within the years 0 to 9999.
func encode(d crawl.Document) ([]byte, error) {
	s := source{
		ID: d.ID, SourceID: d.SourceID, SourceName: d.SourceName, URL: d.URL, StatusCode: d.StatusCode,
		Title: d.Title, MetaDescription: d.Description, Headings: d.Headings, RawText: d.Text, Author: d.Author, Language: d.Language,
		WordCount: d.WordCount, ContentHash: d.ContentHash,
		OGTitle: d.OpenGraph.Title, OGDescription: d.OpenGraph.Description, OGImage: d.OpenGraph.Image, OGSiteName: d.OpenGraph.SiteName, OGType: d.OpenGraph.Type,
		PublishedDate: d.PublishedAt, ModifiedDate: d.ModifiedAt, ChangedAt: d.ChangedAt, CrawledAt: d.FetchedAt,
	}
	if d.JSONLD != "" {
		s.JSONLD = &jsonLD{json.RawMessage(d.JSONLD)}
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // page texts contain many < and &
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), nil
}
