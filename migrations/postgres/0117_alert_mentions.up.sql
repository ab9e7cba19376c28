-- What rules send is known by subject: a subject that joins an alert, or is in maintenance, is not sent with the others.

-- That a rule sends a subject of an alert.
CREATE TABLE alert_mentions (
  alert_seq  BIGINT NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  rule_seq   BIGINT NOT NULL REFERENCES alert_rules (seq) ON DELETE CASCADE,
  subject_id TEXT COLLATE "C" NOT NULL,
  due_at     BIGINT, -- when it is to be sent, NULL = nothing is
  sent_at    BIGINT, -- when it was last sent
  PRIMARY KEY (alert_seq, rule_seq, subject_id)
);

CREATE INDEX alert_mentions_rule ON alert_mentions (rule_seq);

INSERT INTO alert_mentions (alert_seq, rule_seq, subject_id, due_at, sent_at)
  SELECT n.alert_seq, n.rule_seq, m.subject_id, CASE WHEN n.notified_at IS NULL THEN n.next_at END, n.notified_at
  FROM alert_notices AS n JOIN alert_members AS m ON m.alert_seq = n.alert_seq;

ALTER TABLE alert_notices ADD COLUMN announced_at BIGINT; -- when it last sent subjects that were new
UPDATE alert_notices SET announced_at = notified_at;
ALTER TABLE alert_notices DROP COLUMN grown;
ALTER TABLE alerts DROP COLUMN grown_at;

-- How often the condition began in a short time.
ALTER TABLE alert_members ADD COLUMN changes BIGINT NOT NULL DEFAULT 1 CHECK (changes >= 1);
CREATE INDEX alert_members_since ON alert_members (subject_id, event, since_at);

-- What was acknowledged or silenced at one time is undone together.
CREATE INDEX alerts_acknowledged ON alerts (acknowledged_at) WHERE acknowledged_at IS NOT NULL;
CREATE INDEX alerts_silenced     ON alerts (silenced_until_at) WHERE silenced_until_at IS NOT NULL;
