-- Channels, rules and maintenance windows of alerts, the alerts, and their messages.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- Where messages are sent.
CREATE TABLE channels (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT    NOT NULL UNIQUE,
  name              TEXT    NOT NULL,
  kind              TEXT    NOT NULL, -- slack, webhook
  config            BLOB    NOT NULL, -- its URL and secret, encrypted
  enabled           INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  deleted_at        INTEGER,
  last_delivered_at INTEGER,
  last_error        TEXT    NOT NULL, -- of the last message, '' = delivered
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  next_at           INTEGER, -- time of the next message after a failure; NULL = any time
  claimed_by        TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that sends its messages
  owner             TEXT    NOT NULL DEFAULT 'system',
  private_to        TEXT    NOT NULL DEFAULT '' -- the owner, if only the owner and admins see it; '' = shared
);

CREATE INDEX channels_created ON channels (created_at, id);
CREATE INDEX channels_claimed ON channels (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX channels_deleted ON channels (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which events are sent to which channels. The lists are JSON: names of events, ids of targets, tags, ids of status
-- pages and of channels, and kinds and ids of other items (subjects).
CREATE TABLE alert_rules (
  seq                    INTEGER PRIMARY KEY AUTOINCREMENT,
  id                     TEXT    NOT NULL UNIQUE,
  name                   TEXT    NOT NULL,
  events                 TEXT    NOT NULL,
  targets                TEXT    NOT NULL,
  tags                   TEXT    NOT NULL,
  status_pages           TEXT    NOT NULL,
  channels               TEXT    NOT NULL,
  after_failures         INTEGER NOT NULL CHECK (after_failures >= 1),
  after_minutes          INTEGER NOT NULL CHECK (after_minutes >= 0),
  repeat_minutes         INTEGER NOT NULL CHECK (repeat_minutes >= 0), -- 0 = never
  quiet_from             TEXT    NOT NULL, -- such as 22:00, '' = no quiet hours
  quiet_to               TEXT    NOT NULL,
  quiet_time_zone        TEXT    NOT NULL, -- such as Europe/Berlin
  escalate_after_minutes INTEGER NOT NULL CHECK (escalate_after_minutes >= 0), -- 0 = never
  escalate_channels      TEXT    NOT NULL,
  enabled                INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at             INTEGER NOT NULL,
  updated_at             INTEGER NOT NULL,
  deleted_at             INTEGER,
  owner                  TEXT    NOT NULL DEFAULT 'system',
  private_to             TEXT    NOT NULL DEFAULT '', -- the owner, if only the owner and admins see it; '' = shared
  group_wait_seconds     INTEGER NOT NULL DEFAULT 0 CHECK (group_wait_seconds >= 0),
  subjects               TEXT    NOT NULL DEFAULT '[]'
);

CREATE INDEX alert_rules_created ON alert_rules (created_at, id);
CREATE INDEX alert_rules_deleted ON alert_rules (deleted_at) WHERE deleted_at IS NOT NULL;

-- Maintenance windows, in which no alerts are sent and which do not count against uptime. The lists are those of
-- alert_rules.
CREATE TABLE maintenance (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL,
  targets      TEXT    NOT NULL,
  tags         TEXT    NOT NULL,
  status_pages TEXT    NOT NULL,
  starts_at    INTEGER NOT NULL, -- the first time
  ends_at      INTEGER NOT NULL,
  repeat       TEXT    NOT NULL CHECK (repeat IN ('none', 'weekly', 'monthly')),
  time_zone    TEXT    NOT NULL, -- in which it is repeated
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  deleted_at   INTEGER,
  subjects     TEXT    NOT NULL DEFAULT '[]',
  CHECK (ends_at > starts_at)
);

CREATE INDEX maintenance_created ON maintenance (created_at, id);
CREATE INDEX maintenance_deleted ON maintenance (deleted_at) WHERE deleted_at IS NOT NULL;

-- Alerts: an event of one or more subjects, until it is resolved.
CREATE TABLE alerts (
  seq                INTEGER PRIMARY KEY AUTOINCREMENT,
  id                 TEXT    NOT NULL UNIQUE,
  ends_id            TEXT    NOT NULL, -- the alert whose end this one reports, '' = none
  event              TEXT    NOT NULL,
  severity           INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- info, warning, critical
  group_key          TEXT    NOT NULL, -- the host of its subjects and their rules; '*' instead of the host = many hosts
  subject_kind       TEXT    NOT NULL, -- of the first subject
  subject_id         TEXT    NOT NULL,
  subject_name       TEXT    NOT NULL,
  subject_url        TEXT    NOT NULL,
  detail             TEXT    NOT NULL, -- of the first subject
  subject_count      INTEGER NOT NULL CHECK (subject_count >= 0), -- number of subjects
  open_subject_count INTEGER NOT NULL CHECK (open_subject_count >= 0), -- number of subjects for which it has not ended
  flapping           INTEGER NOT NULL CHECK (flapping IN (0, 1)),
  changes            INTEGER NOT NULL CHECK (changes >= 0), -- number of starts in the time that flapping is detected in
  created_at         INTEGER NOT NULL,
  started_at         INTEGER NOT NULL, -- start of the condition
  fired_at           INTEGER, -- when it was first sent; NULL = not yet, and not shown
  resolve_at         INTEGER, -- when a flapping alert is resolved
  resolved_at        INTEGER,
  acknowledged_at    INTEGER,
  silenced_until_at  INTEGER,
  private_to         TEXT    NOT NULL DEFAULT '', -- the owner of a private subject, '' = shared
  -- The seq of the alert whose subjects have recovered, 0 = this is no recovery.
  recovery_of        INTEGER NOT NULL DEFAULT 0,
  part_of_id         TEXT    NOT NULL DEFAULT '' -- id of the alert of which some subjects have recovered; '' = none
);

CREATE UNIQUE INDEX alerts_open ON alerts (event, group_key) WHERE resolved_at IS NULL;
CREATE INDEX alerts_recent ON alerts (event, created_at);
CREATE INDEX alerts_group ON alerts (event, group_key, created_at);
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX alerts_resolve ON alerts (resolve_at) WHERE resolve_at IS NOT NULL;
-- Alerts that were acknowledged or silenced together are undone together.
CREATE INDEX alerts_acknowledged ON alerts (acknowledged_at) WHERE acknowledged_at IS NOT NULL;
CREATE INDEX alerts_silenced ON alerts (silenced_until_at) WHERE silenced_until_at IS NOT NULL;
-- private_to is at the end of indexes of lists and counts, so that rows of other owners are skipped without reading
-- them.
CREATE INDEX alerts_fired ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL;
CREATE INDEX alerts_firing ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL;
CREATE INDEX alerts_severity ON alerts (severity, created_at, id, private_to)
  WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE INDEX alerts_unacknowledged ON alerts (created_at, id, private_to)
  WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE INDEX alerts_ended ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NOT NULL;
-- Only lists by event and by severity have this condition. With the condition of the smaller indexes, SQLite would use
-- these two instead, and count firing alerts by reading all.
CREATE INDEX alerts_by_event ON alerts (event, created_at, id, private_to) WHERE fired_at > 0;
CREATE INDEX alerts_by_severity ON alerts (severity, created_at, id, private_to) WHERE fired_at > 0;

-- The subjects of alerts.
CREATE TABLE alert_subjects (
  alert_seq       INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  subject_id      TEXT    NOT NULL,
  event           TEXT    NOT NULL, -- of the alert
  subject_kind    TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  url             TEXT    NOT NULL,
  detail          TEXT    NOT NULL,
  since_at        INTEGER NOT NULL,
  ended_at        INTEGER, -- NULL = not over
  changes         INTEGER NOT NULL DEFAULT 1 CHECK (changes >= 1), -- how often the condition began in a short time
  acknowledged_at INTEGER,
  PRIMARY KEY (alert_seq, subject_id)
) WITHOUT ROWID;

CREATE INDEX alert_subjects_open ON alert_subjects (subject_id, event) WHERE ended_at IS NULL;
CREATE INDEX alert_subjects_since ON alert_subjects (subject_id, event, since_at);

-- When messages of an alert are sent for a rule.
CREATE TABLE alert_notices (
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  rule_seq     INTEGER NOT NULL REFERENCES alert_rules (seq) ON DELETE CASCADE,
  next_at      INTEGER, -- NULL = nothing to send
  notified_at  INTEGER, -- first message to the channels of the rule
  repeat_at    INTEGER, -- next reminder
  escalate_at  INTEGER, -- when it is sent to the other channels of the rule
  escalated_at INTEGER,
  severity     INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- that was sent last
  announced_at INTEGER, -- last message with new subjects
  recovered_at INTEGER, -- last message with recoveries while the alert is open
  PRIMARY KEY (alert_seq, rule_seq)
) WITHOUT ROWID;

CREATE INDEX alert_notices_next ON alert_notices (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX alert_notices_rule ON alert_notices (rule_seq);

-- The subjects of an alert that a rule sends.
CREATE TABLE alert_mentions (
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  rule_seq     INTEGER NOT NULL REFERENCES alert_rules (seq) ON DELETE CASCADE,
  subject_id   TEXT    NOT NULL,
  due_at       INTEGER, -- when it is sent; NULL = not again
  sent_at      INTEGER, -- when it was last sent
  recovered_at INTEGER, -- when its recovery was sent while the alert is open
  PRIMARY KEY (alert_seq, rule_seq, subject_id)
) WITHOUT ROWID;

CREATE INDEX alert_mentions_rule ON alert_mentions (rule_seq);

-- The state of a subject that was last sent to a channel, so that a recovery is sent only to those that were sent the
-- outage.
CREATE TABLE alert_sent (
  alert_seq   INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  channel_seq INTEGER NOT NULL REFERENCES channels (seq) ON DELETE CASCADE,
  subject_id  TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('down', 'recovered')),
  since_at    INTEGER NOT NULL, -- start of the condition that was sent
  sent_at     INTEGER NOT NULL,
  PRIMARY KEY (alert_seq, channel_seq, subject_id)
) WITHOUT ROWID;

CREATE INDEX alert_sent_channel ON alert_sent (channel_seq);

-- Messages to channels.
CREATE TABLE deliveries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE, -- sent to the channel, which can detect repetitions by it
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  channel_seq  INTEGER NOT NULL REFERENCES channels (seq) ON DELETE CASCADE,
  reason       TEXT    NOT NULL CHECK (reason IN ('fired', 'worse', 'repeated', 'escalated', 'resolved')),
  status       TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  body         TEXT    NOT NULL, -- the alert at that time, JSON
  created_at   INTEGER NOT NULL,
  delivered_at INTEGER,
  next_at      INTEGER, -- time of the next attempt after others, because the channel refused it
  attempts     INTEGER NOT NULL CHECK (attempts >= 0),
  last_error   TEXT    NOT NULL
);

CREATE INDEX deliveries_alert ON deliveries (alert_seq);
CREATE INDEX deliveries_channel ON deliveries (channel_seq);
CREATE INDEX deliveries_waiting ON deliveries (created_at) WHERE status = 'pending';
-- The next message of a channel: first those that were not refused, then the one that is due first.
CREATE INDEX deliveries_pending ON deliveries (channel_seq, next_at, seq) WHERE status = 'pending';
CREATE INDEX deliveries_failed ON deliveries (channel_seq, created_at) WHERE status = 'failed';
