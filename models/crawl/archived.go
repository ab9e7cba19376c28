package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// BodyHash is the SHA-256 of a page's HTML. The archive stores each body once, under its hash.
type BodyHash [sha256.Size]byte

// String returns the hash in lower-case hexadecimal.
func (h BodyHash) String() string { return hex.EncodeToString(h[:]) }

// ParseBodyHash parses the output of String.
func ParseBodyHash(s string) (h BodyHash, ok bool) {
	if len(s) != 2*len(h) {
		return h, false
	}
	n, err := hex.Decode(h[:], []byte(s))
	return h, err == nil && n == len(h) && h.String() == s
}

// BodyLocation is the location of a body in the archive: a range of bytes in an object.
type BodyLocation struct {
	Key    string // of the object
	Start  int64  // in bytes
	Length int64  // in bytes, compressed; 0 = to the end of the object
}

// Copy is an archived copy of a page.
type Copy struct {
	Hash      BodyHash
	Location  BodyLocation // of its body
	Bytes     int          // size of its body
	CreatedAt models.Time  // first fetched with this body
	FetchedAt models.Time  // last fetched with this body
}

// HaveBodies reports which of the bodies the archive has.
func (s *Store) HaveBodies(ctx context.Context, hashes ...BodyHash) (has map[BodyHash]bool, err error) {
	rows := models.NewRows("hash bytes")
	for _, h := range hashes {
		rows.Add(h[:])
	}
	has = make(map[BodyHash]bool, len(hashes))
	if len(hashes) == 0 {
		return has, nil
	}
	var found [][]byte
	err = rows.Raw(s.db.Read(ctx), "SELECT b.hash FROM {rows} AS r CROSS JOIN archived_bodies AS b WHERE b.hash = r.hash AND b.pack_seq IS NOT NULL").Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find bodies in the archive: %w", err)
	}
	for _, h := range found {
		has[BodyHash(h)] = true
	}
	return has, nil
}

// selectCopies selects copies (a) whose bodies are in the archive.
const selectCopies = `SELECT a.hash, a.size_bytes, a.created_at, a.fetched_at, k.key, b.start_bytes, b.length_bytes
	FROM archived_pages AS a JOIN archived_bodies AS b ON b.hash = a.hash JOIN archive_packs AS k ON k.seq = b.pack_seq`

type copyRow struct {
	Hash        []byte
	SizeBytes   int
	CreatedAt   models.Time
	FetchedAt   models.Time
	Key         string
	StartBytes  int64
	LengthBytes int64
}

func (r copyRow) copy() Copy {
	return Copy{BodyHash(r.Hash), BodyLocation{r.Key, r.StartBytes, r.LengthBytes}, r.SizeBytes, r.CreatedAt, r.FetchedAt}
}

// Copies returns up to limit copies of a page, the most recently fetched first.
func (s *Store) Copies(ctx context.Context, p Page, limit int) ([]Copy, error) {
	h := hashOf(p.URL)
	var rows []copyRow
	tx := s.db.Read(ctx)
	visible, args := ofVisibleSource(tx, "a.source_seq")
	err := tx.Raw(selectCopies+`
		WHERE a.source_seq = ? AND a.url_hash = ? AND `+visible+` ORDER BY a.fetched_at DESC LIMIT ?`, joinArgs([]any{p.SourceSeq, h[:]}, joinArgs(args, limit)...)...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("load archived copies: %w", err)
	}
	copies := make([]Copy, len(rows))
	for i, r := range rows {
		copies[i] = r.copy()
	}
	return copies, nil
}

// HaveCopies reports which pages have a copy. It accepts up to a few hundred pages.
func (s *Store) HaveCopies(ctx context.Context, pages ...Page) (map[int64]bool, error) {
	rows := models.NewRows("seq bigint, source_seq bigint, url_hash bytes")
	for _, p := range pages {
		h := hashOf(p.URL)
		rows.Add(p.Seq, p.SourceSeq, h[:])
	}
	archived := make(map[int64]bool, len(pages))
	if len(pages) == 0 {
		return archived, nil
	}
	var seqs []int64
	err := rows.Raw(s.db.Read(ctx), `SELECT r.seq FROM {rows} AS r WHERE EXISTS (SELECT 1 FROM archived_pages AS a JOIN archived_bodies AS b ON b.hash = a.hash AND b.pack_seq IS NOT NULL
		WHERE a.source_seq = r.source_seq AND a.url_hash = r.url_hash)`).Scan(&seqs).Error
	if err != nil {
		return nil, fmt.Errorf("find archived copies: %w", err)
	}
	for _, seq := range seqs {
		archived[seq] = true
	}
	return archived, nil
}

var errNoCopy = models.NotFound("archived copy")

// ArchivedCopy returns the copy of a page by the hash that BodyHash.String returns. The error is CodeNotFound if the page or
// the copy does not exist.
func (s *Store) ArchivedCopy(ctx context.Context, pageID, hash string) (Copy, error) {
	h, ok := ParseBodyHash(hash)
	at, seq, err := models.ParseTimedID(models.KindCrawled, pageID)
	if !ok || err != nil {
		return Copy{}, errNoCopy
	}
	var page Page
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "s")
	err = tx.Raw(`SELECT p.url, p.source_seq FROM crawled_pages AS p JOIN sources AS s ON s.seq = p.source_seq
		WHERE p.seq = ? AND p.created_at = ? AND p.deleted_at IS NULL AND s.deleted_at IS NULL AND `+visible, joinArgs([]any{seq, at}, args...)...).Take(&page).Error
	var row copyRow
	if err == nil {
		u := hashOf(page.URL)
		err = tx.Raw(selectCopies+`
			WHERE a.hash = ? AND a.source_seq = ? AND a.url_hash = ?`, h[:], page.SourceSeq, u[:]).Take(&row).Error
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return Copy{}, errNoCopy
	}
	if err != nil {
		return Copy{}, fmt.Errorf("load archived copy: %w", err)
	}
	return row.copy(), nil
}
