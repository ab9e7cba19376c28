-- Lists by status, by crawl and by kind of change are read in order.
DROP INDEX frontier_failed;
CREATE INDEX frontier_status ON frontier (status, seq) WHERE status <> 'done';
CREATE INDEX frontier_crawl  ON frontier (crawl_seq, seq);
CREATE INDEX frontier_source ON frontier (source_seq, seq);
CREATE INDEX page_versions_change ON page_versions (crawl_seq, change, seq);
