package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// BodyHash is the SHA-256 of a page's HTML. The archive stores each body once, under
// its hash.
type BodyHash [sha256.Size]byte

// String is the hash in hexadecimal, in lower case.
func (h BodyHash) String() string { return hex.EncodeToString(h[:]) }

// ParseBodyHash reads what String returns.
func ParseBodyHash(s string) (h BodyHash, ok bool) {
	if len(s) != 2*len(h) {
		return h, false
	}
	n, err := hex.Decode(h[:], []byte(s))
	return h, err == nil && n == len(h) && h.String() == s
}

// Copy is a copy of a page in the archive.
type Copy struct {
	Hash      BodyHash
	Bytes     int         // of its body
	CreatedAt models.Time // when the page was first fetched so
	FetchedAt models.Time // when it was last fetched so
}

// NewCopy is a copy of a page whose body is in the archive.
type NewCopy struct {
	Source int64
	URL    string // of the page, as its row has it
	Hash   BodyHash
	Bytes  int
	At     models.Time // when it was fetched
	Stored bool        // its body was stored just now; else the archive had it
}

// lockArchive is held by transactions that change which bodies are named.
const lockArchive models.LockKey = 7_110_913_005

// unnamedFor is how long a body is kept that no page names yet. To store it and then
// record the page takes minutes at most.
const unnamedFor = time.Hour

// ReserveBodies announces bodies that are about to be stored, so that they are deleted
// later if no copy is recorded. stored has those that may be stored: true means that
// the archive has the body already. A body that is just being deleted is not in it.
func (s *Store) ReserveBodies(ctx context.Context, hashes ...BodyHash) (stored map[BodyHash]bool, err error) {
	stored = make(map[BodyHash]bool, len(hashes))
	rows := models.NewRows("hash bytes")
	for _, h := range hashes {
		if _, twice := stored[h]; !twice {
			stored[h] = false
			rows.Add(h[:])
		}
	}
	var found []struct {
		Hash    []byte
		Present bool
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		found = nil
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		return rows.Raw(tx, `INSERT INTO archived_blobs (hash, present, deleting, due_at) SELECT hash, false, false, CAST(? AS bigint) FROM {rows} AS r WHERE true
			ON CONFLICT (hash) DO UPDATE SET due_at = CASE WHEN archived_blobs.due_at IS NULL THEN NULL ELSE excluded.due_at END
			WHERE NOT archived_blobs.deleting RETURNING hash, present`, s.clock.Now().Add(unnamedFor)).Scan(&found).Error
	})
	if err != nil {
		return nil, fmt.Errorf("reserving bodies in the archive: %w", err)
	}
	clear(stored)
	for _, f := range found {
		stored[BodyHash(f.Hash)] = f.Present
	}
	return stored, nil
}

// KeepCopies is how many copies of a page are kept, those that were fetched last.
const KeepCopies = 20

// RecordCopies records copies whose bodies are in the archive, each table by one
// statement. lost are the bodies that were deleted since they were reserved: their
// copies are not recorded.
func (s *Store) RecordCopies(ctx context.Context, copies ...NewCopy) (lost []BodyHash, err error) {
	type key struct {
		page pageKey
		hash BodyHash
	}
	latest, stored := make(map[key]NewCopy, len(copies)), map[BodyHash]bool{}
	for _, c := range copies {
		stored[c.Hash] = stored[c.Hash] || c.Stored
		k := key{pageKey{c.Source, hashOf(c.URL)}, c.Hash}
		if before, ok := latest[k]; !ok || c.At.After(before.At.Time) {
			latest[k] = c
		}
	}
	rows := models.NewRows("source_seq bigint, url_hash bytes, hash bytes, size_bytes bigint, at bigint, stored boolean")
	for k, c := range latest {
		rows.Add(c.Source, k.page.hash[:], k.hash[:], c.Bytes, c.At, stored[c.Hash])
	}
	var recorded []struct{ Hash []byte }
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		recorded = nil
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		// A body that was found lost since it was last stored stays lost.
		err := rows.Exec(tx, `UPDATE archived_blobs SET present = true, due_at = NULL FROM {rows} AS r WHERE archived_blobs.hash = r.hash
			AND NOT deleting AND (present OR r.stored) AND (NOT present OR due_at IS NOT NULL)`).Error
		if err != nil {
			return err
		}
		err = rows.Raw(tx, `INSERT INTO archived_pages (source_seq, url_hash, hash, size_bytes, created_at, fetched_at)
			SELECT r.source_seq, r.url_hash, r.hash, r.size_bytes, r.at, r.at FROM {rows} AS r CROSS JOIN archived_blobs AS b WHERE b.hash = r.hash AND b.present AND NOT b.deleting
			ON CONFLICT (hash, source_seq, url_hash) DO UPDATE SET
				fetched_at = CASE WHEN excluded.fetched_at > archived_pages.fetched_at THEN excluded.fetched_at ELSE archived_pages.fetched_at END
			RETURNING hash`).Scan(&recorded).Error
		if err != nil {
			return err
		}
		_, err = s.dropped(tx, rows, `SELECT seq FROM (
			SELECT a.seq, row_number() OVER (PARTITION BY a.source_seq, a.url_hash ORDER BY a.fetched_at DESC, a.seq DESC) AS n
			FROM (SELECT DISTINCT source_seq, url_hash FROM {rows} AS r) AS f CROSS JOIN archived_pages AS a
			WHERE a.source_seq = f.source_seq AND a.url_hash = f.url_hash) AS due WHERE n > ?`, KeepCopies)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("recording archived copies: %w", err)
	}
	named := make(map[BodyHash]bool, len(recorded))
	for _, r := range recorded {
		named[BodyHash(r.Hash)] = true
	}
	for k := range latest {
		if !named[k.hash] {
			named[k.hash] = true
			lost = append(lost, k.hash)
		}
	}
	return lost, nil
}

const copyColumns = "a.hash, a.size_bytes, a.created_at, a.fetched_at"

// copyRow is a copy as it is stored.
type copyRow struct {
	Hash      []byte
	SizeBytes int
	CreatedAt models.Time
	FetchedAt models.Time
}

func (r copyRow) copy() Copy { return Copy{BodyHash(r.Hash), r.SizeBytes, r.CreatedAt, r.FetchedAt} }

// Copies are up to limit copies of a page, the one fetched last first.
func (s *Store) Copies(ctx context.Context, p Page, limit int) ([]Copy, error) {
	h := hashOf(p.URL)
	var rows []copyRow
	err := s.db.Read(ctx).Raw("SELECT "+copyColumns+` FROM archived_pages AS a JOIN archived_blobs AS b ON b.hash = a.hash AND b.present
		WHERE a.source_seq = ? AND a.url_hash = ? ORDER BY a.fetched_at DESC LIMIT ?`, p.SourceSeq, h[:], limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("loading archived copies: %w", err)
	}
	copies := make([]Copy, len(rows))
	for i, r := range rows {
		copies[i] = r.copy()
	}
	return copies, nil
}

// Archived tells of each of up to a few hundred pages whether it has a copy.
func (s *Store) Archived(ctx context.Context, pages ...Page) (map[int64]bool, error) {
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
	err := rows.Raw(s.db.Read(ctx), `SELECT r.seq FROM {rows} AS r WHERE EXISTS (SELECT 1 FROM archived_pages AS a JOIN archived_blobs AS b ON b.hash = a.hash AND b.present
		WHERE a.source_seq = r.source_seq AND a.url_hash = r.url_hash)`).Scan(&seqs).Error
	if err != nil {
		return nil, fmt.Errorf("looking for archived copies: %w", err)
	}
	for _, seq := range seqs {
		archived[seq] = true
	}
	return archived, nil
}

// errNoCopy answers for a copy that is not there, or not any more.
var errNoCopy = models.NotFound("archived copy")

// ArchivedCopy is the copy of a page with a hash as BodyHash.String returns it;
// CodeNotFound if the page or the copy is not there.
func (s *Store) ArchivedCopy(ctx context.Context, pageID, hash string) (Copy, error) {
	h, ok := ParseBodyHash(hash)
	at, seq, err := models.ParseTimedID(models.KindCrawled, pageID)
	if !ok || err != nil {
		return Copy{}, errNoCopy
	}
	var page Page
	err = s.db.Read(ctx).Raw(`SELECT p.url, p.source_seq FROM crawled_pages AS p JOIN sources AS s ON s.seq = p.source_seq
		WHERE p.seq = ? AND p.created_at = ? AND p.deleted_at IS NULL AND s.deleted_at IS NULL`, seq, at).Take(&page).Error
	var row copyRow
	if err == nil {
		u := hashOf(page.URL)
		err = s.db.Read(ctx).Raw("SELECT "+copyColumns+` FROM archived_pages AS a JOIN archived_blobs AS b ON b.hash = a.hash AND b.present
			WHERE a.hash = ? AND a.source_seq = ? AND a.url_hash = ?`, h[:], page.SourceSeq, u[:]).Take(&row).Error
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return Copy{}, errNoCopy
	}
	if err != nil {
		return Copy{}, fmt.Errorf("loading an archived copy: %w", err)
	}
	return row.copy(), nil
}

// BodyLost notes that the archive does not have a body, or has it damaged. Its copies
// are not listed until a page with this body is fetched again, which stores it again.
func (s *Store) BodyLost(ctx context.Context, h BodyHash) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE archived_blobs SET present = false WHERE hash = ? AND present", h[:]).Error
	})
	if err != nil {
		return fmt.Errorf("noting a lost body: %w", err)
	}
	return nil
}
