-- Submitted pages about which Google gave no clear answer. The index pages_unclear has pending ones.
CREATE INDEX pages_submitted_unclear ON pages (website_seq, status, queue_rank, seq) WHERE status = 'submitted' AND last_verified_at IS NOT NULL AND NOT unverified AND gone_at IS NULL;
