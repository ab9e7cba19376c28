package sites

import "time"

// SetSendTime sets how long after a permit was asked for its request may be sent.
func (w *Worker) SetSendTime(d time.Duration) { w.sendTime = d }

// SetReadTime sets how long reading a sitemap may take.
func (w *Worker) SetReadTime(d time.Duration) { w.readTime = d }

// SetTempDir changes where sitemaps are kept while they are read.
func (w *Worker) SetTempDir(dir string) { w.tempDir = dir }
