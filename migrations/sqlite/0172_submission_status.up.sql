CREATE INDEX submissions_status ON submissions (website_seq, status, seq);
