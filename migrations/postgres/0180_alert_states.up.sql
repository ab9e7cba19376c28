-- What channels were sent is known by subject, so that a recovery is sent only to those that were sent the outage, and no change twice.

ALTER TABLE alerts ADD COLUMN recovery_of BIGINT NOT NULL DEFAULT 0; -- seq of the alert whose subjects have recovered, 0 = this alert is no recovery
ALTER TABLE alerts ADD COLUMN part_of_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- id of the alert of which some subjects have recovered, '' = none
ALTER TABLE alert_subjects ADD COLUMN acknowledged_at BIGINT;
ALTER TABLE alert_mentions ADD COLUMN recovered_at BIGINT; -- when the recovery was sent after sent_at, while the alert is open
ALTER TABLE alert_notices ADD COLUMN recovered_at BIGINT; -- when recoveries were last sent while the alert was open
ALTER TABLE alert_rules ADD COLUMN group_wait_seconds BIGINT NOT NULL DEFAULT 0 CHECK (group_wait_seconds >= 0);

-- What a channel was last sent about a subject of an alert.
CREATE TABLE alert_sent (
  alert_seq   BIGINT  NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  channel_seq BIGINT  NOT NULL REFERENCES channels (seq) ON DELETE CASCADE,
  subject_id  TEXT COLLATE "C" NOT NULL,
  state       TEXT COLLATE "C" NOT NULL CHECK (state IN ('down', 'recovered')),
  since_at    BIGINT  NOT NULL, -- start of the condition that was sent
  sent_at     BIGINT  NOT NULL,
  PRIMARY KEY (alert_seq, channel_seq, subject_id)
);

CREATE INDEX alert_sent_channel ON alert_sent (channel_seq);

INSERT INTO alert_sent (alert_seq, channel_seq, subject_id, state, since_at, sent_at)
  SELECT DISTINCT a.seq, d.channel_seq, m.subject_id, 'down', m.since_at, a.fired_at
  FROM alerts AS a JOIN deliveries AS d ON d.alert_seq = a.seq JOIN alert_mentions AS t ON t.alert_seq = a.seq
  JOIN alert_subjects AS m ON m.alert_seq = a.seq AND m.subject_id = t.subject_id
  WHERE a.fired_at IS NOT NULL AND a.resolved_at IS NULL AND t.sent_at IS NOT NULL;

UPDATE alert_subjects SET acknowledged_at = (SELECT a.acknowledged_at FROM alerts AS a WHERE a.seq = alert_subjects.alert_seq)
  WHERE alert_seq IN (SELECT seq FROM alerts WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NOT NULL);
