-- Events of all systems on their way to alerts, the channels, rules and maintenance windows of alerts, the alerts, and their deliveries.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- What happened, stored in the transaction in which it did, until alerts have taken note of it.
CREATE TABLE events (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  kind         TEXT    NOT NULL, -- target.down
  phase        TEXT    NOT NULL CHECK (phase IN ('once', 'began', 'ended', 'closed')),
  severity     INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- info, warning, critical
  subject_kind TEXT    NOT NULL, -- target
  subject_id   TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  url          TEXT    NOT NULL, -- canonical, '' = the subject has none
  host         TEXT    NOT NULL, -- events of a kind and a host are one alert
  since_at     INTEGER NOT NULL, -- when it began
  at           INTEGER NOT NULL, -- when it was found
  failures     INTEGER NOT NULL CHECK (failures >= 0), -- in a row, 0 = they are not counted
  detail       TEXT    NOT NULL  -- "unexpected status 500"
);

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
  last_error        TEXT    NOT NULL, -- why the last message was not delivered, '' = it was
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  next_at           INTEGER, -- before when nothing is sent
  claimed_by        TEXT REFERENCES instances (id) ON DELETE SET NULL -- the instance that sends its messages
);

CREATE INDEX channels_created ON channels (created_at, id);
CREATE INDEX channels_claimed ON channels (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX channels_deleted ON channels (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which events are sent to which channels. The lists are JSON: names of events, ids of targets and of status pages, tags,
-- and ids of channels.
CREATE TABLE alert_rules (
  seq                    INTEGER PRIMARY KEY AUTOINCREMENT,
  id                     TEXT    NOT NULL UNIQUE,
  name                   TEXT    NOT NULL,
  events                 TEXT    NOT NULL,
  targets                TEXT    NOT NULL,
  tags                   TEXT    NOT NULL,
  status_pages               TEXT    NOT NULL,
  channels               TEXT    NOT NULL,
  after_failures         INTEGER NOT NULL CHECK (after_failures >= 1),
  after_minutes          INTEGER NOT NULL CHECK (after_minutes >= 0),
  repeat_minutes         INTEGER NOT NULL CHECK (repeat_minutes >= 0), -- 0 = never
  quiet_from             TEXT    NOT NULL, -- 22:00, '' = there are no quiet hours
  quiet_to               TEXT    NOT NULL,
  quiet_time_zone        TEXT    NOT NULL, -- Europe/Berlin
  escalate_after_minutes INTEGER NOT NULL CHECK (escalate_after_minutes >= 0), -- 0 = never
  escalate_channels      TEXT    NOT NULL,
  enabled                INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at             INTEGER NOT NULL,
  updated_at             INTEGER NOT NULL,
  deleted_at             INTEGER
);

CREATE INDEX alert_rules_created ON alert_rules (created_at, id);
CREATE INDEX alert_rules_deleted ON alert_rules (deleted_at) WHERE deleted_at IS NOT NULL;

-- Times in which no alerts are sent and which do not count against uptime. The lists are those of alert_rules.
CREATE TABLE maintenance (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL,
  targets    TEXT    NOT NULL,
  tags       TEXT    NOT NULL,
  status_pages   TEXT    NOT NULL,
  starts_at  INTEGER NOT NULL, -- the first time
  ends_at    INTEGER NOT NULL,
  repeat     TEXT    NOT NULL CHECK (repeat IN ('none', 'weekly', 'monthly')),
  time_zone  TEXT    NOT NULL, -- in which it is repeated
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  CHECK (ends_at > starts_at)
);

CREATE INDEX maintenance_created ON maintenance (created_at, id);
CREATE INDEX maintenance_deleted ON maintenance (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE alerts (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT    NOT NULL UNIQUE,
  ends_id         TEXT    NOT NULL, -- of the alert that this one tells the end of, '' = of none
  event           TEXT    NOT NULL,
  severity        INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- info, warning, critical
  group_key       TEXT    NOT NULL, -- the host of its subjects and the rules that tell of them; a '*' instead of the host = many hosts
  subject_kind    TEXT    NOT NULL, -- of the first subject
  subject_id      TEXT    NOT NULL,
  subject_name    TEXT    NOT NULL,
  subject_url     TEXT    NOT NULL,
  detail          TEXT    NOT NULL, -- of the first subject
  members         INTEGER NOT NULL CHECK (members >= 0),      -- subjects
  open_members    INTEGER NOT NULL CHECK (open_members >= 0), -- subjects of which it has not ended
  flapping        INTEGER NOT NULL CHECK (flapping IN (0, 1)),
  changes         INTEGER NOT NULL CHECK (changes >= 0), -- times that it began, in the time in which flapping is looked for
  created_at      INTEGER NOT NULL,
  started_at      INTEGER NOT NULL, -- when what it tells of began
  grown_at        INTEGER NOT NULL, -- when it last got a subject that was told
  fired_at        INTEGER, -- when it was first sent; NULL = it is not shown yet
  resolve_at      INTEGER, -- when a flapping alert counts as resolved
  resolved_at     INTEGER,
  acknowledged_at INTEGER,
  silenced_until_at INTEGER
);

CREATE UNIQUE INDEX alerts_open   ON alerts (event, group_key) WHERE resolved_at IS NULL;
CREATE INDEX alerts_recent        ON alerts (event, created_at);
CREATE INDEX alerts_group         ON alerts (event, group_key, created_at);
CREATE INDEX alerts_fired         ON alerts (created_at, id) WHERE fired_at IS NOT NULL;
CREATE INDEX alerts_firing        ON alerts (created_at, id) WHERE fired_at IS NOT NULL AND resolved_at IS NULL;
CREATE INDEX alerts_unattended    ON alerts (created_at, id) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE INDEX alerts_resolved       ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX alerts_resolve       ON alerts (resolve_at) WHERE resolve_at IS NOT NULL;

-- The subjects of an alert.
CREATE TABLE alert_members (
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  subject_id   TEXT    NOT NULL,
  event        TEXT    NOT NULL, -- of the alert
  subject_kind TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  url          TEXT    NOT NULL,
  detail       TEXT    NOT NULL,
  since_at     INTEGER NOT NULL,
  ended_at     INTEGER, -- NULL = it goes on
  PRIMARY KEY (alert_seq, subject_id)
) WITHOUT ROWID;

CREATE INDEX alert_members_open ON alert_members (subject_id, event) WHERE ended_at IS NULL;

-- What is to be sent of an alert for a rule, and when.
CREATE TABLE alert_notices (
  alert_seq   INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  rule_seq    INTEGER NOT NULL REFERENCES alert_rules (seq) ON DELETE CASCADE,
  next_at     INTEGER, -- NULL = nothing more
  notified_at INTEGER, -- when the rule's channels were first told
  repeat_at   INTEGER, -- when they are reminded
  escalate_at INTEGER, -- when the rule's other channels are told
  escalated_at INTEGER,
  grown       INTEGER NOT NULL CHECK (grown IN (0, 1)), -- it has got subjects of which they are to be told
  severity    INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- of which they were told
  PRIMARY KEY (alert_seq, rule_seq)
) WITHOUT ROWID;

CREATE INDEX alert_notices_next ON alert_notices (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX alert_notices_rule ON alert_notices (rule_seq);

-- Messages to channels.
CREATE TABLE deliveries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE, -- what the channel is told, so that it can tell repetitions
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  channel_seq  INTEGER NOT NULL REFERENCES channels (seq) ON DELETE CASCADE,
  reason       TEXT    NOT NULL CHECK (reason IN ('fired', 'worse', 'repeated', 'escalated', 'resolved')),
  status       TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  body         TEXT    NOT NULL, -- the alert as it was, JSON
  created_at   INTEGER NOT NULL,
  delivered_at INTEGER,
  next_at      INTEGER, -- when it is tried again after others, since the channel refuses it
  attempts     INTEGER NOT NULL CHECK (attempts >= 0),
  last_error   TEXT    NOT NULL
);

CREATE INDEX deliveries_pending ON deliveries (channel_seq, seq) WHERE status = 'pending';
CREATE INDEX deliveries_alert   ON deliveries (alert_seq);
CREATE INDEX deliveries_channel ON deliveries (channel_seq);
CREATE INDEX deliveries_waiting ON deliveries (created_at) WHERE status = 'pending';
