package sites

import "time"

// SetSendTime sets how long after Acquire a request may be sent.
func (w *Worker) SetSendTime(d time.Duration) { w.sendTime = d }

// SetReadTime sets the timeout for reading a sitemap.
func (w *Worker) SetReadTime(d time.Duration) { w.readTime = d }

// SetTempDir sets the directory for downloaded sitemaps.
func (w *Worker) SetTempDir(dir string) { w.tempDir = dir }
