package crawl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"linkwatch/models"
)

// ExcerptLength is the maximum length of an Excerpt, in Unicode code points.
const ExcerptLength = 1000

// Excerpt is the beginning of the text of a page.
type Excerpt struct {
	Text      string
	Truncated bool // the text is longer
}

// maxExcerptPacked is the number of bytes of a compressed text that an excerpt needs at most: the header of a zstd frame (RFC
// 8878, 3.1.1.1) and its first block, which has 128 KiB unless it is the last one.
const maxExcerptPacked = 18 + 3 + 128<<10

// Excerpts returns the beginnings of the texts of pages, by Page.Seq. Of a long text, it reads only the first part from the
// database. Pages without a text are missing.
func (s *Store) Excerpts(ctx context.Context, pages ...Page) (map[int64]Excerpt, error) {
	seqs := make([]int64, len(pages))
	for i, p := range pages {
		seqs[i] = p.Seq
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPacked))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all := make(map[int64]Excerpt, len(pages))
	query := s.db.Read(ctx).Raw(`SELECT v.page_seq, substr(v.text, 1, ?) FROM crawled_pages AS p
		JOIN page_versions AS v ON v.page_seq = p.seq AND v.version = p.text_version WHERE p.seq IN ?`, maxExcerptPacked, seqs)
	var unpacking error
	err = models.Each(query, func(row *models.Row) { // one text at a time: 500 of them can have 64 MiB
		seq, packed := row.Int64(), row.Bytes()
		if len(packed) == 0 || unpacking != nil {
			return
		}
		if unpacking = r.Reset(bytes.NewReader(packed)); unpacking != nil {
			return
		}
		var beginning []byte
		if beginning, unpacking = io.ReadAll(io.LimitReader(r, (ExcerptLength+1)*utf8.UTFMax)); unpacking == nil {
			text := models.Truncate(string(beginning), ExcerptLength)
			all[seq] = Excerpt{text, len(text) < len(beginning)}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("load excerpts of crawled pages: %w", err)
	}
	if unpacking != nil {
		return nil, fmt.Errorf("unpack stored text: %w", unpacking)
	}
	return all, nil
}
