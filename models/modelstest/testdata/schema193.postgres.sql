-- Schema 193 of PostgreSQL, by pg_dump --schema-only --no-owner --no-privileges, and its first rows.
CREATE FUNCTION audit_entries_stay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'audit entries are not changed';
END $$;
CREATE FUNCTION jobs_count_rows() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, s.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, pg_backend_pid() % 16, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed AS j JOIN sources AS s ON s.seq = j.source_seq GROUP BY 3, 4 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION jobs_count_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, s.private_to, c.state, pg_backend_pid() % 16, sum(c.n)
  FROM (VALUES (OLD.source_seq, CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END, -1), (NEW.source_seq, CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 1)) AS c (source_seq, state, n) JOIN sources AS s ON s.seq = c.source_seq
  GROUP BY 3, 4 HAVING sum(c.n) <> 0 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION links_count_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'links', seq >> 12, private_to, CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END, 0, -count(*) FROM changed GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION links_count_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'links', seq >> 12, private_to, CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END, 0, count(*) FROM changed GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION links_count_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', OLD.seq >> 12, OLD.private_to, CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END, 0, -1), ('links', NEW.seq >> 12, NEW.private_to, CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION sources_count_jobs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, c.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, pg_backend_pid() % 16, sum(c.n) FROM jobs AS j CROSS JOIN (VALUES (OLD.private_to, -1), (NEW.private_to, 1)) AS c (private_to, n)
  WHERE j.source_seq = NEW.seq GROUP BY 3, 4 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION sources_delete_jobs() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  DELETE FROM jobs WHERE source_seq = OLD.seq;
  RETURN OLD;
END $$;
CREATE FUNCTION tags_count() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  UPDATE row_counts SET n = n + (SELECT CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END FROM changed)
  WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION targets_count_rows() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'targets', 0, private_to, CASE WHEN deleted_at IS NOT NULL THEN 'deleted' WHEN paused THEN 'paused' ELSE state END, pg_backend_pid() % 16, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END FROM changed GROUP BY 3, 4 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE FUNCTION targets_count_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, OLD.private_to, CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END, pg_backend_pid() % 16, -1), ('targets', 0, NEW.private_to, CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, pg_backend_pid() % 16, 1)
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
CREATE TABLE alert_mentions (
    alert_seq bigint NOT NULL,
    rule_seq bigint NOT NULL,
    subject_id text NOT NULL COLLATE pg_catalog."C",
    due_at bigint,
    sent_at bigint,
    recovered_at bigint
);
CREATE TABLE alert_notices (
    alert_seq bigint NOT NULL,
    rule_seq bigint NOT NULL,
    next_at bigint,
    notified_at bigint,
    repeat_at bigint,
    escalate_at bigint,
    escalated_at bigint,
    severity bigint NOT NULL,
    announced_at bigint,
    recovered_at bigint,
    CONSTRAINT alert_notices_severity_check CHECK (((severity >= 0) AND (severity <= 2)))
);
CREATE TABLE alert_rules (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    events text NOT NULL,
    targets text NOT NULL,
    tags text NOT NULL,
    status_pages text NOT NULL,
    channels text NOT NULL,
    after_failures bigint NOT NULL,
    after_minutes bigint NOT NULL,
    repeat_minutes bigint NOT NULL,
    quiet_from text NOT NULL,
    quiet_to text NOT NULL,
    quiet_time_zone text NOT NULL,
    escalate_after_minutes bigint NOT NULL,
    escalate_channels text NOT NULL,
    enabled boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    owner text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    group_wait_seconds bigint DEFAULT 0 NOT NULL,
    subjects text DEFAULT '[]'::text NOT NULL,
    CONSTRAINT alert_rules_after_failures_check CHECK ((after_failures >= 1)),
    CONSTRAINT alert_rules_after_minutes_check CHECK ((after_minutes >= 0)),
    CONSTRAINT alert_rules_escalate_after_minutes_check CHECK ((escalate_after_minutes >= 0)),
    CONSTRAINT alert_rules_group_wait_seconds_check CHECK ((group_wait_seconds >= 0)),
    CONSTRAINT alert_rules_repeat_minutes_check CHECK ((repeat_minutes >= 0))
);
ALTER TABLE alert_rules ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME alert_rules_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE alert_sent (
    alert_seq bigint NOT NULL,
    channel_seq bigint NOT NULL,
    subject_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    since_at bigint NOT NULL,
    sent_at bigint NOT NULL,
    CONSTRAINT alert_sent_state_check CHECK ((state = ANY (ARRAY['down'::text, 'recovered'::text])))
);
CREATE TABLE alert_subjects (
    alert_seq bigint NOT NULL,
    subject_id text NOT NULL COLLATE pg_catalog."C",
    event text NOT NULL COLLATE pg_catalog."C",
    subject_kind text NOT NULL,
    name text NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL,
    since_at bigint NOT NULL,
    ended_at bigint,
    changes bigint DEFAULT 1 NOT NULL,
    acknowledged_at bigint,
    CONSTRAINT alert_members_changes_check CHECK ((changes >= 1))
);
CREATE TABLE alerts (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    ends_id text NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    severity bigint NOT NULL,
    group_key text NOT NULL COLLATE pg_catalog."C",
    subject_kind text NOT NULL,
    subject_id text NOT NULL COLLATE pg_catalog."C",
    subject_name text NOT NULL,
    subject_url text NOT NULL,
    detail text NOT NULL,
    subject_count bigint NOT NULL,
    open_subject_count bigint NOT NULL,
    flapping boolean NOT NULL,
    changes bigint NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint NOT NULL,
    fired_at bigint,
    resolve_at bigint,
    resolved_at bigint,
    acknowledged_at bigint,
    silenced_until_at bigint,
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    recovery_of bigint DEFAULT 0 NOT NULL,
    part_of_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT alerts_changes_check CHECK ((changes >= 0)),
    CONSTRAINT alerts_members_check CHECK ((subject_count >= 0)),
    CONSTRAINT alerts_open_members_check CHECK ((open_subject_count >= 0)),
    CONSTRAINT alerts_severity_check CHECK (((severity >= 0) AND (severity <= 2)))
);
ALTER TABLE alerts ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME alerts_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE archive_packs (
    seq bigint NOT NULL,
    key text NOT NULL,
    size_bytes bigint NOT NULL,
    deleting boolean NOT NULL,
    due_at bigint,
    CONSTRAINT archive_packs_size_bytes_check CHECK ((size_bytes >= 0))
);
ALTER TABLE archive_packs ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME archive_packs_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE archived_bodies (
    hash bytea NOT NULL,
    pack_seq bigint,
    start_bytes bigint DEFAULT 0 NOT NULL,
    length_bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT archived_bodies_length_bytes_check CHECK ((length_bytes >= 0)),
    CONSTRAINT archived_bodies_start_bytes_check CHECK ((start_bytes >= 0))
);
CREATE TABLE archived_pages (
    seq bigint NOT NULL,
    source_seq bigint NOT NULL,
    url_hash bytea NOT NULL,
    hash bytea NOT NULL,
    size_bytes bigint NOT NULL,
    created_at bigint NOT NULL,
    fetched_at bigint NOT NULL,
    CONSTRAINT archived_pages_size_bytes_check CHECK ((size_bytes >= 0))
);
ALTER TABLE archived_pages ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME archived_pages_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE archived_short_link_days (
    short_link_seq bigint NOT NULL,
    bucket_start bigint NOT NULL,
    bots bigint NOT NULL,
    desktop bigint NOT NULL,
    mobile bigint NOT NULL,
    tablet bigint NOT NULL,
    other bigint NOT NULL,
    previews bigint NOT NULL,
    CONSTRAINT archived_short_link_days_bots_check CHECK ((bots >= 0)),
    CONSTRAINT archived_short_link_days_desktop_check CHECK ((desktop >= 0)),
    CONSTRAINT archived_short_link_days_mobile_check CHECK ((mobile >= 0)),
    CONSTRAINT archived_short_link_days_other_check CHECK ((other >= 0)),
    CONSTRAINT archived_short_link_days_previews_check CHECK ((previews >= 0)),
    CONSTRAINT archived_short_link_days_tablet_check CHECK ((tablet >= 0))
);
CREATE TABLE archived_short_link_referrers (
    short_link_seq bigint NOT NULL,
    host text NOT NULL COLLATE pg_catalog."C",
    visits bigint NOT NULL,
    CONSTRAINT archived_short_link_referrers_visits_check CHECK ((visits >= 0))
);
CREATE TABLE archived_short_links (
    seq bigint NOT NULL,
    short_key text NOT NULL COLLATE pg_catalog."C",
    long_url text NOT NULL,
    canonical_url text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    search_text text NOT NULL COLLATE pg_catalog."C",
    max_visits bigint NOT NULL,
    disabled boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    expires_at bigint,
    exhausted_at bigint,
    deleted_at bigint,
    visits bigint NOT NULL,
    bots bigint NOT NULL,
    last_visited_at bigint,
    owner text NOT NULL COLLATE pg_catalog."C",
    private_to text NOT NULL COLLATE pg_catalog."C",
    direct bigint NOT NULL,
    previews bigint NOT NULL,
    ended_at bigint GENERATED ALWAYS AS (
CASE
    WHEN ((expires_at IS NULL) OR (exhausted_at < expires_at)) THEN exhausted_at
    ELSE expires_at
END) STORED NOT NULL,
    CONSTRAINT archived_short_links_bots_check CHECK ((bots >= 0)),
    CONSTRAINT archived_short_links_direct_check CHECK ((direct >= 0)),
    CONSTRAINT archived_short_links_max_visits_check CHECK ((max_visits >= 0)),
    CONSTRAINT archived_short_links_previews_check CHECK ((previews >= 0)),
    CONSTRAINT archived_short_links_visits_check CHECK ((visits >= 0))
);
CREATE TABLE audit_entries (
    seq bigint NOT NULL,
    at bigint NOT NULL,
    actor_id text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    via text NOT NULL,
    credential text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    request_id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    subject_kind text NOT NULL,
    subject_id text NOT NULL COLLATE pg_catalog."C",
    subject_name text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    attempts bigint NOT NULL,
    CONSTRAINT audit_entries_attempts_check CHECK ((attempts >= 1))
);
ALTER TABLE audit_entries ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME audit_entries_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE broken_links (
    seq bigint NOT NULL,
    execution_seq bigint NOT NULL,
    page_seq bigint NOT NULL,
    found_on text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    error text NOT NULL,
    created_at bigint NOT NULL
);
ALTER TABLE broken_links ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME broken_links_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE channels (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    config bytea NOT NULL,
    enabled boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    last_delivered_at bigint,
    last_error text NOT NULL,
    failures bigint NOT NULL,
    next_at bigint,
    claimed_by text COLLATE pg_catalog."C",
    owner text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT channels_failures_check CHECK ((failures >= 0))
);
ALTER TABLE channels ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME channels_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE check_results (
    target_seq bigint NOT NULL,
    checked_at bigint NOT NULL,
    outcome bigint NOT NULL,
    status_code bigint NOT NULL,
    latency_ms bigint NOT NULL,
    attempts bigint NOT NULL,
    error text NOT NULL,
    interval_ms bigint NOT NULL,
    CONSTRAINT check_results_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT check_results_interval_ms_check CHECK ((interval_ms >= 0)),
    CONSTRAINT check_results_latency_ms_check CHECK ((latency_ms >= 0)),
    CONSTRAINT check_results_outcome_check CHECK ((outcome = ANY (ARRAY[(0)::bigint, (1)::bigint, (2)::bigint]))),
    CONSTRAINT check_results_status_code_check CHECK (((status_code >= 0) AND (status_code <= 999)))
);
CREATE TABLE cleanup_runs (
    started_at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    duration_ns bigint NOT NULL,
    cleaned bigint NOT NULL,
    error text NOT NULL,
    CONSTRAINT cleanup_runs_cleaned_check CHECK ((cleaned >= 0)),
    CONSTRAINT cleanup_runs_duration_ns_check CHECK ((duration_ns >= 0))
);
CREATE TABLE cleanup_totals (
    kind text NOT NULL COLLATE pg_catalog."C",
    cleaned bigint NOT NULL,
    last_batch_size bigint NOT NULL,
    successful_runs bigint NOT NULL,
    failed_runs bigint NOT NULL,
    duration_ns bigint NOT NULL,
    last_run_at bigint,
    CONSTRAINT cleanup_totals_cleaned_check CHECK ((cleaned >= 0)),
    CONSTRAINT cleanup_totals_duration_ns_check CHECK ((duration_ns >= 0)),
    CONSTRAINT cleanup_totals_failed_runs_check CHECK ((failed_runs >= 0)),
    CONSTRAINT cleanup_totals_last_batch_size_check CHECK ((last_batch_size >= 0)),
    CONSTRAINT cleanup_totals_successful_runs_check CHECK ((successful_runs >= 0))
);
CREATE TABLE coverage_days (
    website_seq bigint NOT NULL,
    day_at bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    pages bigint NOT NULL,
    CONSTRAINT coverage_days_pages_check CHECK ((pages >= 0))
);
CREATE TABLE crawl_hosts (
    seq bigint NOT NULL,
    host text NOT NULL COLLATE pg_catalog."C",
    next_at bigint,
    claimed_by text COLLATE pg_catalog."C",
    claim bigint NOT NULL,
    delay_ms bigint NOT NULL,
    failures bigint NOT NULL,
    slow boolean NOT NULL,
    last_attempt_at bigint,
    silent_since bigint,
    CONSTRAINT crawl_hosts_claim_check CHECK ((claim >= 0)),
    CONSTRAINT crawl_hosts_delay_ms_check CHECK ((delay_ms >= 0)),
    CONSTRAINT crawl_hosts_failures_check CHECK ((failures >= 0))
);
ALTER TABLE crawl_hosts ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME crawl_hosts_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE crawled_pages (
    seq bigint NOT NULL,
    source_seq bigint NOT NULL,
    crawl_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    url_hash bytea NOT NULL,
    status_code bigint NOT NULL,
    content_type text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    language text NOT NULL,
    og_title text NOT NULL,
    og_description text NOT NULL,
    og_image text NOT NULL,
    og_site_name text NOT NULL,
    og_type text NOT NULL,
    content_hash text NOT NULL,
    links_found bigint NOT NULL,
    noindex boolean NOT NULL,
    etag text NOT NULL,
    last_modified text NOT NULL,
    created_at bigint NOT NULL,
    fetched_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    author text DEFAULT ''::text NOT NULL,
    published_at bigint,
    modified_at bigint,
    headings text DEFAULT ''::text NOT NULL,
    json_ld text DEFAULT ''::text NOT NULL,
    word_count bigint DEFAULT 0 NOT NULL,
    links bytea,
    versions bigint DEFAULT 0 NOT NULL,
    text_version bigint DEFAULT 0 NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    gone_at bigint,
    unindexed boolean DEFAULT false NOT NULL,
    unsent boolean DEFAULT false NOT NULL,
    deleted_at bigint,
    canonical text DEFAULT ''::text NOT NULL,
    duplicate boolean DEFAULT false NOT NULL,
    CONSTRAINT crawled_pages_links_found_check CHECK ((links_found >= 0)),
    CONSTRAINT crawled_pages_revision_check CHECK ((revision >= 0)),
    CONSTRAINT crawled_pages_status_code_check CHECK (((status_code >= 0) AND (status_code <= 999))),
    CONSTRAINT crawled_pages_text_version_check CHECK ((text_version >= 0)),
    CONSTRAINT crawled_pages_versions_check CHECK ((versions >= 0)),
    CONSTRAINT crawled_pages_word_count_check CHECK ((word_count >= 0))
);
ALTER TABLE crawled_pages ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME crawled_pages_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE deliveries (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    alert_seq bigint NOT NULL,
    channel_seq bigint NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    body text NOT NULL,
    created_at bigint NOT NULL,
    delivered_at bigint,
    next_at bigint,
    attempts bigint NOT NULL,
    last_error text NOT NULL,
    CONSTRAINT deliveries_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT deliveries_reason_check CHECK ((reason = ANY (ARRAY['fired'::text, 'worse'::text, 'repeated'::text, 'escalated'::text, 'resolved'::text]))),
    CONSTRAINT deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
ALTER TABLE deliveries ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME deliveries_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE discovered_links (
    seq bigint NOT NULL,
    source_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    url_hash bytea NOT NULL,
    text text NOT NULL,
    found_on text NOT NULL,
    created_at bigint NOT NULL,
    deleted_at bigint
);
ALTER TABLE discovered_links ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME discovered_links_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE events (
    seq bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    phase text NOT NULL,
    severity bigint NOT NULL,
    subject_kind text NOT NULL,
    subject_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    since_at bigint NOT NULL,
    at bigint NOT NULL,
    failures bigint NOT NULL,
    detail text NOT NULL,
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT events_failures_check CHECK ((failures >= 0)),
    CONSTRAINT events_phase_check CHECK ((phase = ANY (ARRAY['once'::text, 'began'::text, 'ended'::text, 'closed'::text]))),
    CONSTRAINT events_severity_check CHECK (((severity >= 0) AND (severity <= 2)))
);
ALTER TABLE events ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME events_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE feed_entries (
    feed_seq bigint NOT NULL,
    url_hash bytea NOT NULL,
    seen_at bigint NOT NULL
);
CREATE TABLE feeds (
    seq bigint NOT NULL,
    source_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    url_hash bytea NOT NULL,
    title text NOT NULL,
    etag text NOT NULL,
    last_modified text NOT NULL,
    created_at bigint NOT NULL,
    last_polled_at bigint,
    read_at bigint,
    next_poll_at bigint,
    failures bigint NOT NULL,
    last_error text NOT NULL,
    entries_found bigint NOT NULL,
    claimed_by text COLLATE pg_catalog."C",
    truncated boolean DEFAULT false NOT NULL,
    CONSTRAINT feeds_entries_found_check CHECK ((entries_found >= 0)),
    CONSTRAINT feeds_failures_check CHECK ((failures >= 0))
);
ALTER TABLE feeds ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME feeds_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE frontier (
    seq bigint NOT NULL,
    crawl_seq bigint NOT NULL,
    source_seq bigint NOT NULL,
    host_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    url_hash bytea NOT NULL,
    depth bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    redirects bigint NOT NULL,
    last_error text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    linked_as text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    broken boolean DEFAULT false NOT NULL,
    scope_seq bigint DEFAULT 0 NOT NULL,
    cookies text DEFAULT ''::text NOT NULL,
    CONSTRAINT frontier_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT frontier_depth_check CHECK ((depth >= 0)),
    CONSTRAINT frontier_redirects_check CHECK ((redirects >= 0)),
    CONSTRAINT frontier_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'fetching'::text, 'done'::text, 'failed'::text])))
);
ALTER TABLE frontier ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME frontier_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE idempotency_keys (
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    resource_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE instances (
    id text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    heartbeat_at bigint NOT NULL
);
CREATE TABLE job_executions (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    job_seq bigint NOT NULL,
    execution_number bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    lock_token text NOT NULL COLLATE pg_catalog."C",
    crawl_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    completed_at bigint,
    progress_at bigint NOT NULL,
    retry_attempt bigint NOT NULL,
    items_crawled bigint NOT NULL,
    items_indexed bigint NOT NULL,
    queued bigint NOT NULL,
    fetched bigint NOT NULL,
    failed bigint NOT NULL,
    error_message text NOT NULL,
    stack_trace text NOT NULL,
    cpu_time_us bigint NOT NULL,
    memory_peak_mb bigint NOT NULL,
    start_hash text NOT NULL,
    start_error text NOT NULL,
    log_lines bigint NOT NULL,
    log_bytes bigint NOT NULL,
    metadata text NOT NULL,
    has_frontier boolean NOT NULL,
    pages_new bigint DEFAULT 0 NOT NULL,
    pages_changed bigint DEFAULT 0 NOT NULL,
    pages_gone bigint DEFAULT 0 NOT NULL,
    broken_links bigint DEFAULT 0 NOT NULL,
    reported_page bigint,
    cancelled_by text DEFAULT ''::text NOT NULL,
    CONSTRAINT job_executions_broken_links_check CHECK ((broken_links >= 0)),
    CONSTRAINT job_executions_cpu_time_us_check CHECK ((cpu_time_us >= 0)),
    CONSTRAINT job_executions_execution_number_check CHECK ((execution_number >= 1)),
    CONSTRAINT job_executions_failed_check CHECK ((failed >= 0)),
    CONSTRAINT job_executions_fetched_check CHECK ((fetched >= 0)),
    CONSTRAINT job_executions_items_crawled_check CHECK ((items_crawled >= 0)),
    CONSTRAINT job_executions_items_indexed_check CHECK ((items_indexed >= 0)),
    CONSTRAINT job_executions_log_bytes_check CHECK ((log_bytes >= 0)),
    CONSTRAINT job_executions_log_lines_check CHECK ((log_lines >= 0)),
    CONSTRAINT job_executions_memory_peak_mb_check CHECK ((memory_peak_mb >= 0)),
    CONSTRAINT job_executions_pages_changed_check CHECK ((pages_changed >= 0)),
    CONSTRAINT job_executions_pages_gone_check CHECK ((pages_gone >= 0)),
    CONSTRAINT job_executions_pages_new_check CHECK ((pages_new >= 0)),
    CONSTRAINT job_executions_retry_attempt_check CHECK ((retry_attempt >= 0)),
    CONSTRAINT job_executions_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
ALTER TABLE job_executions ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME job_executions_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE job_logs (
    execution_seq bigint NOT NULL,
    first_line bigint NOT NULL,
    lines bigint NOT NULL,
    text text NOT NULL,
    CONSTRAINT job_logs_first_line_check CHECK ((first_line >= 1)),
    CONSTRAINT job_logs_lines_check CHECK ((lines >= 1))
);
CREATE TABLE job_runs (
    id text NOT NULL COLLATE pg_catalog."C",
    job_id text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    duration_ns bigint NOT NULL,
    trigger text NOT NULL,
    summary text NOT NULL,
    error text NOT NULL,
    CONSTRAINT job_runs_duration_ns_check CHECK ((duration_ns >= 0)),
    CONSTRAINT job_runs_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'manual'::text, 'start'::text])))
);
CREATE TABLE jobs (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    source_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    interval_count bigint NOT NULL,
    interval_type text NOT NULL COLLATE pg_catalog."C",
    interval_seconds bigint NOT NULL,
    adaptive_scheduling boolean NOT NULL,
    source_disabled boolean NOT NULL,
    next_run_at bigint,
    planned_at bigint,
    moved_at bigint,
    paused_at bigint,
    cancelled_at bigint,
    max_retries bigint NOT NULL,
    retry_backoff_seconds bigint NOT NULL,
    current_retry_count bigint NOT NULL,
    metadata text NOT NULL,
    executions bigint NOT NULL,
    lock_token text,
    lock_acquired_at bigint,
    claimed_by text COLLATE pg_catalog."C",
    crawl_seq bigint,
    content_hash text NOT NULL,
    unchanged_count bigint NOT NULL,
    last_error text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    forced boolean DEFAULT false NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    search_text text DEFAULT ''::text NOT NULL,
    retry_next_run boolean DEFAULT false NOT NULL,
    consecutive_failures bigint DEFAULT 0 NOT NULL,
    CONSTRAINT jobs_check CHECK (((next_run_at IS NULL) OR ((status = ANY (ARRAY['pending'::text, 'scheduled'::text])) AND (lock_token IS NULL)))),
    CONSTRAINT jobs_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
    CONSTRAINT jobs_current_retry_count_check CHECK ((current_retry_count >= 0)),
    CONSTRAINT jobs_executions_check CHECK ((executions >= 0)),
    CONSTRAINT jobs_interval_count_check CHECK ((interval_count >= 0)),
    CONSTRAINT jobs_interval_seconds_check CHECK ((interval_seconds >= 0)),
    CONSTRAINT jobs_interval_type_check CHECK ((interval_type = ANY (ARRAY['minutes'::text, 'hours'::text, 'days'::text]))),
    CONSTRAINT jobs_max_retries_check CHECK ((max_retries >= 0)),
    CONSTRAINT jobs_retry_backoff_seconds_check CHECK ((retry_backoff_seconds >= 0)),
    CONSTRAINT jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'scheduled'::text, 'running'::text, 'paused'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT jobs_unchanged_count_check CHECK ((unchanged_count >= 0))
);
ALTER TABLE jobs ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME jobs_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE link_changes (
    id text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL,
    links bigint NOT NULL,
    before text NOT NULL,
    created_at bigint NOT NULL,
    created_by text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT link_changes_action_check CHECK ((action = ANY (ARRAY['delete'::text, 'expire'::text, 'revive'::text, 'tag'::text]))),
    CONSTRAINT link_changes_links_check CHECK ((links >= 0))
);
CREATE TABLE link_docs (
    link_seq bigint NOT NULL,
    title text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    marks text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE link_postings (
    bucket bigint NOT NULL,
    lists bytea NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE link_postings ALTER COLUMN lists SET STORAGE EXTERNAL;
CREATE TABLE link_refresh_items (
    refresh_id text NOT NULL COLLATE pg_catalog."C",
    link_seq bigint NOT NULL,
    due_at bigint NOT NULL,
    claimed_by text COLLATE pg_catalog."C"
);
CREATE TABLE link_refreshes (
    id text NOT NULL COLLATE pg_catalog."C",
    total bigint NOT NULL,
    failed bigint NOT NULL,
    created_at bigint NOT NULL,
    created_by text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT link_refreshes_check CHECK (((failed >= 0) AND (failed <= total))),
    CONSTRAINT link_refreshes_total_check CHECK ((total >= 0))
);
CREATE TABLE link_reindex (
    link_seq bigint NOT NULL
);
CREATE TABLE link_tags (
    link_seq bigint NOT NULL,
    tag_seq bigint NOT NULL,
    "position" bigint NOT NULL,
    CONSTRAINT link_tags_position_check CHECK (("position" >= 0))
);
CREATE TABLE link_words (
    word text NOT NULL COLLATE pg_catalog."C",
    length bigint NOT NULL,
    CONSTRAINT link_words_length_check CHECK ((length > 0))
);
CREATE TABLE links (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL,
    canonical_url text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    own_title text NOT NULL,
    fetched_title text NOT NULL,
    og_title text NOT NULL,
    og_description text NOT NULL,
    og_image text NOT NULL,
    og_site_name text NOT NULL,
    og_type text NOT NULL,
    owner text NOT NULL,
    notes text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expired_at bigint,
    view_count bigint NOT NULL,
    health text NOT NULL,
    health_changed_at bigint NOT NULL,
    last_checked_at bigint,
    last_status_code bigint NOT NULL,
    last_error text NOT NULL,
    moved_to text NOT NULL,
    failures bigint NOT NULL,
    next_check_at bigint,
    claimed_by text COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    fetched_description text DEFAULT ''::text NOT NULL,
    CONSTRAINT links_failures_check CHECK ((failures >= 0)),
    CONSTRAINT links_health_check CHECK ((health = ANY (ARRAY['unchecked'::text, 'ok'::text, 'moved'::text, 'blocked'::text, 'suspect'::text, 'dead'::text]))),
    CONSTRAINT links_last_status_code_check CHECK (((last_status_code >= 0) AND (last_status_code <= 999))),
    CONSTRAINT links_view_count_check CHECK ((view_count >= 0))
);
ALTER TABLE links ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME links_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE maintenance (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    targets text NOT NULL,
    tags text NOT NULL,
    status_pages text NOT NULL,
    starts_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    repeat text NOT NULL,
    time_zone text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    subjects text DEFAULT '[]'::text NOT NULL,
    CONSTRAINT maintenance_check CHECK ((ends_at > starts_at)),
    CONSTRAINT maintenance_repeat_check CHECK ((repeat = ANY (ARRAY['none'::text, 'weekly'::text, 'monthly'::text])))
);
ALTER TABLE maintenance ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME maintenance_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE outages (
    id text NOT NULL COLLATE pg_catalog."C",
    target_seq bigint NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    cause text NOT NULL
);
CREATE TABLE page_counts (
    website_seq bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    cause text NOT NULL COLLATE pg_catalog."C",
    pages bigint NOT NULL
);
CREATE TABLE page_index (
    page_seq bigint NOT NULL,
    words tsvector NOT NULL
);
CREATE TABLE page_versions (
    seq bigint NOT NULL,
    page_seq bigint NOT NULL,
    version bigint NOT NULL,
    change text NOT NULL COLLATE pg_catalog."C",
    crawl_seq bigint NOT NULL,
    status_code bigint NOT NULL,
    title text NOT NULL,
    content_hash text NOT NULL COLLATE pg_catalog."C",
    word_count bigint NOT NULL,
    text bytea,
    created_at bigint NOT NULL,
    CONSTRAINT page_versions_change_check CHECK ((change = ANY (ARRAY['new'::text, 'changed'::text, 'gone'::text, 'back'::text]))),
    CONSTRAINT page_versions_status_code_check CHECK (((status_code >= 0) AND (status_code <= 999))),
    CONSTRAINT page_versions_version_check CHECK ((version >= 1)),
    CONSTRAINT page_versions_word_count_check CHECK ((word_count >= 0))
);
ALTER TABLE page_versions ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME page_versions_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE pages (
    seq bigint NOT NULL,
    website_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    path_start bigint NOT NULL,
    lastmod bigint,
    auto_priority bigint NOT NULL,
    manual_priority bigint,
    queue_rank bigint NOT NULL,
    reprioritize_at bigint,
    boosted_at bigint,
    previous_manual_priority bigint,
    status text NOT NULL,
    cause text NOT NULL,
    queued_for_google boolean NOT NULL,
    queued_for_indexnow boolean NOT NULL,
    submit_after bigint,
    attempts bigint NOT NULL,
    submit_requested_at bigint,
    removal boolean NOT NULL,
    verify_requested_at bigint,
    unverified boolean NOT NULL,
    created_at bigint NOT NULL,
    last_submitted_at bigint,
    last_verified_at bigint,
    verify_attempted_at bigint,
    last_error text NOT NULL,
    gone_at bigint,
    verdict text NOT NULL,
    coverage_state text NOT NULL,
    robots_state text NOT NULL,
    indexing_state text NOT NULL,
    fetch_state text NOT NULL,
    google_canonical text NOT NULL,
    user_canonical text NOT NULL,
    last_crawled_at bigint,
    notified_at bigint,
    changed_at bigint,
    CONSTRAINT pages_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT pages_auto_priority_check CHECK (((auto_priority >= 10) AND (auto_priority <= 100))),
    CONSTRAINT pages_manual_priority_check CHECK (((manual_priority >= 1) AND (manual_priority <= 100))),
    CONSTRAINT pages_path_at_check CHECK ((path_start > 0)),
    CONSTRAINT pages_queue_rank_check CHECK (((queue_rank >= 0) AND (queue_rank <= 99))),
    CONSTRAINT pages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'submitted'::text, 'indexed'::text, 'not_indexed'::text, 'failed'::text])))
);
ALTER TABLE pages ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME pages_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE quota_days (
    scope text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    ends_at bigint NOT NULL,
    used bigint NOT NULL,
    CONSTRAINT quota_days_kind_check CHECK ((kind = ANY (ARRAY['publish'::text, 'inspection'::text]))),
    CONSTRAINT quota_days_used_check CHECK ((used >= 0))
);
CREATE TABLE quota_uses (
    seq bigint NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    used_at bigint NOT NULL,
    website_seq bigint NOT NULL,
    claimed_by text COLLATE pg_catalog."C",
    CONSTRAINT quota_uses_kind_check CHECK ((kind = ANY (ARRAY['publish'::text, 'metadata'::text, 'inspection'::text])))
);
ALTER TABLE quota_uses ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME quota_uses_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE recovery_codes (
    user_seq bigint NOT NULL,
    code_hash bytea NOT NULL
);
CREATE TABLE row_counts (
    counted text NOT NULL COLLATE pg_catalog."C",
    block bigint NOT NULL,
    private_to text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    slot bigint NOT NULL,
    n bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE scheduled_jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    schedule text NOT NULL,
    runs bigint DEFAULT 0 NOT NULL,
    successes bigint DEFAULT 0 NOT NULL,
    failures bigint DEFAULT 0 NOT NULL,
    overlap_skips bigint DEFAULT 0 NOT NULL,
    last_started_at bigint,
    last_duration_ns bigint DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    next_run_at bigint,
    requested_at bigint,
    run_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    claimed_by text COLLATE pg_catalog."C",
    requested_by text DEFAULT 'manual'::text NOT NULL,
    CONSTRAINT scheduled_jobs_failures_check CHECK ((failures >= 0)),
    CONSTRAINT scheduled_jobs_last_duration_ns_check CHECK ((last_duration_ns >= 0)),
    CONSTRAINT scheduled_jobs_overlap_skips_check CHECK ((overlap_skips >= 0)),
    CONSTRAINT scheduled_jobs_requested_by_check CHECK ((requested_by = ANY (ARRAY['manual'::text, 'start'::text]))),
    CONSTRAINT scheduled_jobs_runs_check CHECK ((runs >= 0)),
    CONSTRAINT scheduled_jobs_successes_check CHECK ((successes >= 0))
);
CREATE TABLE scheduler_totals (
    id bigint NOT NULL,
    stale_locks_cleared bigint DEFAULT 0 NOT NULL,
    completed bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    duration_us bigint DEFAULT 0 NOT NULL,
    last_poll_at bigint,
    CONSTRAINT scheduler_totals_completed_check CHECK ((completed >= 0)),
    CONSTRAINT scheduler_totals_duration_us_check CHECK ((duration_us >= 0)),
    CONSTRAINT scheduler_totals_failed_check CHECK ((failed >= 0)),
    CONSTRAINT scheduler_totals_id_check CHECK ((id = 1)),
    CONSTRAINT scheduler_totals_stale_locks_cleared_check CHECK ((stale_locks_cleared >= 0))
);
CREATE TABLE schema_migrations (
    version bigint NOT NULL
);
CREATE TABLE sessions (
    secret_hash bytea NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    user_seq bigint NOT NULL,
    method text NOT NULL,
    address text NOT NULL COLLATE pg_catalog."C",
    device text NOT NULL,
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    confirmed_at bigint,
    retry_at bigint,
    refresh_token bytea,
    id_token bytea,
    CONSTRAINT sessions_check CHECK (((confirmed_at IS NULL) OR (method = 'oidc'::text))),
    CONSTRAINT sessions_check1 CHECK (((retry_at IS NULL) OR (method = 'oidc'::text))),
    CONSTRAINT sessions_check2 CHECK (((refresh_token IS NULL) OR (method = 'oidc'::text))),
    CONSTRAINT sessions_check3 CHECK (((id_token IS NULL) OR (method = 'oidc'::text))),
    CONSTRAINT sessions_method_check CHECK ((method = ANY (ARRAY['password'::text, 'oidc'::text])))
);
CREATE TABLE short_link_days (
    short_link_seq bigint NOT NULL,
    bucket_start bigint NOT NULL,
    bots bigint NOT NULL,
    desktop bigint NOT NULL,
    mobile bigint NOT NULL,
    tablet bigint NOT NULL,
    other bigint NOT NULL,
    previews bigint DEFAULT 0 NOT NULL,
    CONSTRAINT short_link_days_bots_check CHECK ((bots >= 0)),
    CONSTRAINT short_link_days_desktop_check CHECK ((desktop >= 0)),
    CONSTRAINT short_link_days_mobile_check CHECK ((mobile >= 0)),
    CONSTRAINT short_link_days_other_check CHECK ((other >= 0)),
    CONSTRAINT short_link_days_previews_check CHECK ((previews >= 0)),
    CONSTRAINT short_link_days_tablet_check CHECK ((tablet >= 0))
);
CREATE TABLE short_link_referrers (
    short_link_seq bigint NOT NULL,
    host text NOT NULL COLLATE pg_catalog."C",
    visits bigint NOT NULL,
    CONSTRAINT short_link_referrers_visits_check CHECK ((visits >= 0))
);
CREATE TABLE short_link_version (
    id integer NOT NULL,
    newest bigint NOT NULL,
    CONSTRAINT short_link_version_id_check CHECK ((id = 1))
);
CREATE TABLE short_links (
    seq bigint NOT NULL,
    short_key text NOT NULL COLLATE pg_catalog."C",
    long_url text NOT NULL,
    canonical_url text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    search_text text NOT NULL COLLATE pg_catalog."C",
    max_visits bigint NOT NULL,
    disabled boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    expires_at bigint,
    exhausted_at bigint,
    deleted_at bigint,
    visits bigint NOT NULL,
    bots bigint NOT NULL,
    last_visited_at bigint,
    owner text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    direct bigint DEFAULT 0 NOT NULL,
    previews bigint DEFAULT 0 NOT NULL,
    CONSTRAINT short_links_bots_check CHECK ((bots >= 0)),
    CONSTRAINT short_links_direct_check CHECK ((direct >= 0)),
    CONSTRAINT short_links_max_visits_check CHECK ((max_visits >= 0)),
    CONSTRAINT short_links_previews_check CHECK ((previews >= 0)),
    CONSTRAINT short_links_visits_check CHECK ((visits >= 0))
)
WITH (fillfactor='70');
ALTER TABLE short_links ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME short_links_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE sitemap_pages (
    sitemap_seq bigint NOT NULL,
    page_seq bigint NOT NULL,
    generation bigint NOT NULL
);
CREATE TABLE sitemaps (
    seq bigint NOT NULL,
    website_seq bigint NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    origin text NOT NULL,
    parent_seq bigint,
    root_seq bigint,
    depth bigint NOT NULL,
    kind text NOT NULL,
    pages bigint NOT NULL,
    skipped bigint NOT NULL,
    skipped_reasons text NOT NULL,
    etag text NOT NULL,
    last_modified text NOT NULL,
    content_hash bytea,
    generation bigint NOT NULL,
    created_at bigint NOT NULL,
    last_read_at bigint,
    changed_at bigint,
    submitted_at bigint,
    submit_error text NOT NULL,
    last_error text NOT NULL,
    deleted_at bigint,
    complete boolean DEFAULT false NOT NULL,
    CONSTRAINT sitemaps_depth_check CHECK ((depth >= 0)),
    CONSTRAINT sitemaps_kind_check CHECK ((kind = ANY (ARRAY[''::text, 'sitemap'::text, 'index'::text, 'text'::text, 'feed'::text]))),
    CONSTRAINT sitemaps_origin_check CHECK ((origin = ANY (ARRAY['given'::text, 'robots'::text, 'index'::text]))),
    CONSTRAINT sitemaps_pages_check CHECK ((pages >= 0)),
    CONSTRAINT sitemaps_reading_check CHECK ((generation >= 0)),
    CONSTRAINT sitemaps_skipped_check CHECK ((skipped >= 0))
);
ALTER TABLE sitemaps ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME sitemaps_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE sources (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    external_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    search_text text NOT NULL COLLATE pg_catalog."C",
    enabled boolean NOT NULL,
    max_depth bigint NOT NULL,
    allowed_domains text NOT NULL,
    rate_limit_ms bigint NOT NULL,
    interval_count bigint NOT NULL,
    interval_type text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    owner text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    port bigint DEFAULT 0 NOT NULL,
    CONSTRAINT sources_interval_count_check CHECK ((interval_count >= 0)),
    CONSTRAINT sources_interval_type_check CHECK ((interval_type = ANY (ARRAY['minutes'::text, 'hours'::text, 'days'::text]))),
    CONSTRAINT sources_max_depth_check CHECK ((max_depth >= 0)),
    CONSTRAINT sources_port_check CHECK (((port >= 0) AND (port <= 65535))),
    CONSTRAINT sources_rate_limit_ms_check CHECK ((rate_limit_ms >= 0))
);
ALTER TABLE sources ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME sources_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE status_page_targets (
    page_id text NOT NULL COLLATE pg_catalog."C",
    target_seq bigint NOT NULL,
    "position" bigint NOT NULL,
    CONSTRAINT status_page_targets_position_check CHECK (("position" >= 0))
);
CREATE TABLE status_pages (
    id text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    description text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE submissions (
    seq bigint NOT NULL,
    website_seq bigint NOT NULL,
    page_seq bigint,
    url text NOT NULL,
    method text NOT NULL,
    action text NOT NULL,
    pages bigint NOT NULL,
    status text NOT NULL,
    status_code bigint NOT NULL,
    error text NOT NULL,
    created_at bigint NOT NULL,
    answered_at bigint,
    CONSTRAINT submissions_action_check CHECK ((action = ANY (ARRAY['updated'::text, 'deleted'::text]))),
    CONSTRAINT submissions_method_check CHECK ((method = ANY (ARRAY['indexing_api'::text, 'sitemap'::text, 'indexnow'::text]))),
    CONSTRAINT submissions_pages_check CHECK ((pages >= 0)),
    CONSTRAINT submissions_status_check CHECK ((status = ANY (ARRAY['sent'::text, 'accepted'::text, 'refused'::text, 'failed'::text])))
);
ALTER TABLE submissions ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME submissions_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE tag_scopes (
    tag_seq bigint NOT NULL,
    private_to text NOT NULL COLLATE pg_catalog."C",
    links bigint NOT NULL,
    link_count bigint NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint NOT NULL,
    CONSTRAINT tag_scopes_check CHECK (((link_count >= 0) AND (link_count <= links))),
    CONSTRAINT tag_scopes_links_check CHECK ((links >= 0))
);
CREATE TABLE tags (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    folded_name text NOT NULL COLLATE pg_catalog."C",
    link_count bigint NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint NOT NULL,
    CONSTRAINT tags_link_count_check CHECK ((link_count >= 0))
);
ALTER TABLE tags ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME tags_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE target_days (
    target_seq bigint NOT NULL,
    bucket_start bigint NOT NULL,
    checks bigint NOT NULL,
    known_from bigint,
    up_us bigint NOT NULL,
    down_us bigint NOT NULL,
    latency bytea NOT NULL,
    CONSTRAINT target_days_checks_check CHECK ((checks >= 0)),
    CONSTRAINT target_days_down_us_check CHECK ((down_us >= 0)),
    CONSTRAINT target_days_up_us_check CHECK ((up_us >= 0))
);
CREATE TABLE target_hours (
    target_seq bigint NOT NULL,
    bucket_start bigint NOT NULL,
    checks bigint NOT NULL,
    known_from bigint,
    up_us bigint NOT NULL,
    down_us bigint NOT NULL,
    latency bytea NOT NULL,
    CONSTRAINT target_hours_checks_check CHECK ((checks >= 0)),
    CONSTRAINT target_hours_down_us_check CHECK ((down_us >= 0)),
    CONSTRAINT target_hours_up_us_check CHECK ((up_us >= 0))
);
CREATE TABLE target_schedule (
    target_seq bigint NOT NULL,
    due_at bigint,
    next_check_at bigint,
    postponed_until bigint,
    claimed_by text COLLATE pg_catalog."C",
    started_at bigint,
    requested_at bigint
);
CREATE TABLE targets (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL,
    canonical_url text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    search_text text NOT NULL COLLATE pg_catalog."C",
    interval_seconds bigint NOT NULL,
    expect_status text NOT NULL,
    expect_keyword text NOT NULL,
    expect_absent text NOT NULL,
    expect_latency_ms bigint NOT NULL,
    paused boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    state text NOT NULL COLLATE pg_catalog."C",
    state_since bigint NOT NULL,
    last_checked_at bigint,
    last_status_code bigint NOT NULL,
    last_latency_ms bigint NOT NULL,
    last_error text NOT NULL,
    failures bigint NOT NULL,
    tls_expires_at bigint,
    known_until bigint,
    recent_checks bytea NOT NULL,
    hour_bucket_start bigint,
    hour_checks bigint NOT NULL,
    hour_known_from bigint,
    hour_up_us bigint NOT NULL,
    hour_down_us bigint NOT NULL,
    hour_latency bytea NOT NULL,
    day_bucket_start bigint,
    day_checks bigint NOT NULL,
    day_known_from bigint,
    day_up_us bigint NOT NULL,
    day_down_us bigint NOT NULL,
    day_latency bytea NOT NULL,
    owner text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT targets_day_checks_check CHECK ((day_checks >= 0)),
    CONSTRAINT targets_day_down_us_check CHECK ((day_down_us >= 0)),
    CONSTRAINT targets_day_up_us_check CHECK ((day_up_us >= 0)),
    CONSTRAINT targets_expect_latency_ms_check CHECK ((expect_latency_ms >= 0)),
    CONSTRAINT targets_failures_check CHECK ((failures >= 0)),
    CONSTRAINT targets_hour_checks_check CHECK ((hour_checks >= 0)),
    CONSTRAINT targets_hour_down_us_check CHECK ((hour_down_us >= 0)),
    CONSTRAINT targets_hour_up_us_check CHECK ((hour_up_us >= 0)),
    CONSTRAINT targets_interval_seconds_check CHECK ((interval_seconds >= 0)),
    CONSTRAINT targets_last_latency_ms_check CHECK ((last_latency_ms >= 0)),
    CONSTRAINT targets_last_status_code_check CHECK (((last_status_code >= 0) AND (last_status_code <= 999))),
    CONSTRAINT targets_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'up'::text, 'down'::text])))
)
WITH (fillfactor='60');
ALTER TABLE targets ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME targets_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE tokens (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    user_seq bigint NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    scopes text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint
);
ALTER TABLE tokens ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME tokens_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE used_logins (
    state_hash bytea NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE users (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    username text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    disabled boolean NOT NULL,
    password_hash text NOT NULL,
    password_changed_at bigint,
    totp_secret bytea,
    totp_confirmed_at bigint,
    totp_step bigint NOT NULL,
    oidc_issuer text NOT NULL COLLATE pg_catalog."C",
    oidc_subject text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_login_at bigint,
    deleted_at bigint,
    oidc_subject_hash bytea,
    totp_prepared_at bigint,
    refused_at bigint,
    CONSTRAINT users_check CHECK (((refused_at IS NULL) OR (oidc_issuer <> ''::text))),
    CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'editor'::text, 'viewer'::text]))),
    CONSTRAINT users_totp_step_check CHECK ((totp_step >= 0))
);
ALTER TABLE users ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME users_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
CREATE TABLE websites (
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    site_url text NOT NULL COLLATE pg_catalog."C",
    indexing_enabled boolean NOT NULL,
    auto_submit boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    credentials bytea,
    client_email text NOT NULL,
    project_id text NOT NULL,
    indexing_error text NOT NULL,
    indexing_failures bigint NOT NULL,
    indexing_retry_at bigint,
    console_error text NOT NULL,
    console_failures bigint NOT NULL,
    console_retry_at bigint,
    indexnow_error text NOT NULL,
    indexnow_failures bigint NOT NULL,
    indexnow_retry_at bigint,
    indexnow_key text NOT NULL,
    indexnow_verified_at bigint,
    robots_read_at bigint,
    sitemaps_read_at bigint,
    sitemaps_requested_at bigint,
    submit_requested_at bigint,
    verify_requested_at bigint,
    sitemaps_claimed_by text COLLATE pg_catalog."C",
    submission_claimed_by text COLLATE pg_catalog."C",
    verification_claimed_by text COLLATE pg_catalog."C",
    robots_error text DEFAULT ''::text NOT NULL,
    owner text DEFAULT 'system'::text NOT NULL COLLATE pg_catalog."C",
    private_to text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    google_accepted_at bigint,
    CONSTRAINT websites_console_failures_check CHECK ((console_failures >= 0)),
    CONSTRAINT websites_indexing_failures_check CHECK ((indexing_failures >= 0)),
    CONSTRAINT websites_indexnow_failures_check CHECK ((indexnow_failures >= 0))
);
ALTER TABLE websites ALTER COLUMN seq ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME websites_seq_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1);
ALTER TABLE alert_subjects ADD CONSTRAINT alert_members_pkey PRIMARY KEY (alert_seq, subject_id);
ALTER TABLE alert_mentions ADD CONSTRAINT alert_mentions_pkey PRIMARY KEY (alert_seq, rule_seq, subject_id);
ALTER TABLE alert_notices ADD CONSTRAINT alert_notices_pkey PRIMARY KEY (alert_seq, rule_seq);
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_id_key UNIQUE (id);
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_pkey PRIMARY KEY (seq);
ALTER TABLE alert_sent ADD CONSTRAINT alert_sent_pkey PRIMARY KEY (alert_seq, channel_seq, subject_id);
ALTER TABLE alerts ADD CONSTRAINT alerts_id_key UNIQUE (id);
ALTER TABLE alerts ADD CONSTRAINT alerts_pkey PRIMARY KEY (seq);
ALTER TABLE archive_packs ADD CONSTRAINT archive_packs_key_key UNIQUE (key);
ALTER TABLE archive_packs ADD CONSTRAINT archive_packs_pkey PRIMARY KEY (seq);
ALTER TABLE archived_bodies ADD CONSTRAINT archived_blobs_pkey PRIMARY KEY (hash);
ALTER TABLE archived_pages ADD CONSTRAINT archived_pages_hash_source_seq_url_hash_key UNIQUE (hash, source_seq, url_hash);
ALTER TABLE archived_pages ADD CONSTRAINT archived_pages_pkey PRIMARY KEY (seq);
ALTER TABLE archived_short_link_days ADD CONSTRAINT archived_short_link_days_pkey PRIMARY KEY (short_link_seq, bucket_start);
ALTER TABLE archived_short_link_referrers ADD CONSTRAINT archived_short_link_referrers_pkey PRIMARY KEY (short_link_seq, host);
ALTER TABLE archived_short_links ADD CONSTRAINT archived_short_links_pkey PRIMARY KEY (seq);
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (seq);
ALTER TABLE broken_links ADD CONSTRAINT broken_links_pkey PRIMARY KEY (seq);
ALTER TABLE channels ADD CONSTRAINT channels_id_key UNIQUE (id);
ALTER TABLE channels ADD CONSTRAINT channels_pkey PRIMARY KEY (seq);
ALTER TABLE check_results ADD CONSTRAINT check_results_pkey PRIMARY KEY (target_seq, checked_at);
ALTER TABLE cleanup_runs ADD CONSTRAINT cleanup_runs_pkey PRIMARY KEY (started_at, kind);
ALTER TABLE cleanup_totals ADD CONSTRAINT cleanup_totals_pkey PRIMARY KEY (kind);
ALTER TABLE coverage_days ADD CONSTRAINT coverage_days_pkey PRIMARY KEY (website_seq, day_at, status);
ALTER TABLE crawl_hosts ADD CONSTRAINT crawl_hosts_host_key UNIQUE (host);
ALTER TABLE crawl_hosts ADD CONSTRAINT crawl_hosts_pkey PRIMARY KEY (seq);
ALTER TABLE crawled_pages ADD CONSTRAINT crawled_pages_pkey PRIMARY KEY (seq);
ALTER TABLE crawled_pages ADD CONSTRAINT crawled_pages_source_seq_url_hash_key UNIQUE (source_seq, url_hash);
ALTER TABLE deliveries ADD CONSTRAINT deliveries_id_key UNIQUE (id);
ALTER TABLE deliveries ADD CONSTRAINT deliveries_pkey PRIMARY KEY (seq);
ALTER TABLE discovered_links ADD CONSTRAINT discovered_links_pkey PRIMARY KEY (seq);
ALTER TABLE discovered_links ADD CONSTRAINT discovered_links_source_seq_url_hash_key UNIQUE (source_seq, url_hash);
ALTER TABLE events ADD CONSTRAINT events_pkey PRIMARY KEY (seq);
ALTER TABLE feed_entries ADD CONSTRAINT feed_entries_pkey PRIMARY KEY (feed_seq, url_hash);
ALTER TABLE feeds ADD CONSTRAINT feeds_pkey PRIMARY KEY (seq);
ALTER TABLE feeds ADD CONSTRAINT feeds_source_seq_url_hash_key UNIQUE (source_seq, url_hash);
ALTER TABLE frontier ADD CONSTRAINT frontier_crawl_seq_url_hash_key UNIQUE (crawl_seq, url_hash, scope_seq);
ALTER TABLE frontier ADD CONSTRAINT frontier_pkey PRIMARY KEY (seq);
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope, key);
ALTER TABLE instances ADD CONSTRAINT instances_pkey PRIMARY KEY (id);
ALTER TABLE job_executions ADD CONSTRAINT job_executions_id_key UNIQUE (id);
ALTER TABLE job_executions ADD CONSTRAINT job_executions_job_seq_execution_number_key UNIQUE (job_seq, execution_number);
ALTER TABLE job_executions ADD CONSTRAINT job_executions_pkey PRIMARY KEY (seq);
ALTER TABLE job_logs ADD CONSTRAINT job_logs_pkey PRIMARY KEY (execution_seq, first_line);
ALTER TABLE job_runs ADD CONSTRAINT job_runs_pkey PRIMARY KEY (id);
ALTER TABLE jobs ADD CONSTRAINT jobs_id_key UNIQUE (id);
ALTER TABLE jobs ADD CONSTRAINT jobs_pkey PRIMARY KEY (seq);
ALTER TABLE link_changes ADD CONSTRAINT link_changes_pkey PRIMARY KEY (id);
ALTER TABLE link_docs ADD CONSTRAINT link_docs_pkey PRIMARY KEY (link_seq);
ALTER TABLE link_postings ADD CONSTRAINT link_postings_pkey PRIMARY KEY (bucket);
ALTER TABLE link_refresh_items ADD CONSTRAINT link_refresh_items_pkey PRIMARY KEY (refresh_id, link_seq);
ALTER TABLE link_refreshes ADD CONSTRAINT link_refreshes_pkey PRIMARY KEY (id);
ALTER TABLE link_reindex ADD CONSTRAINT link_reindex_pkey PRIMARY KEY (link_seq);
ALTER TABLE link_tags ADD CONSTRAINT link_tags_pkey PRIMARY KEY (link_seq, tag_seq);
ALTER TABLE link_words ADD CONSTRAINT link_words_pkey PRIMARY KEY (word);
ALTER TABLE links ADD CONSTRAINT links_canonical_url_private_to_key UNIQUE (canonical_url, private_to);
ALTER TABLE links ADD CONSTRAINT links_id_key UNIQUE (id);
ALTER TABLE links ADD CONSTRAINT links_pkey PRIMARY KEY (seq);
ALTER TABLE maintenance ADD CONSTRAINT maintenance_id_key UNIQUE (id);
ALTER TABLE maintenance ADD CONSTRAINT maintenance_pkey PRIMARY KEY (seq);
ALTER TABLE outages ADD CONSTRAINT outages_pkey PRIMARY KEY (id);
ALTER TABLE page_counts ADD CONSTRAINT page_counts_pkey PRIMARY KEY (website_seq, status, cause);
ALTER TABLE page_index ADD CONSTRAINT page_index_pkey PRIMARY KEY (page_seq);
ALTER TABLE page_versions ADD CONSTRAINT page_versions_page_seq_version_key UNIQUE (page_seq, version);
ALTER TABLE page_versions ADD CONSTRAINT page_versions_pkey PRIMARY KEY (seq);
ALTER TABLE pages ADD CONSTRAINT pages_pkey PRIMARY KEY (seq);
ALTER TABLE pages ADD CONSTRAINT pages_url_website_seq_key UNIQUE (url, website_seq);
ALTER TABLE quota_days ADD CONSTRAINT quota_days_pkey PRIMARY KEY (scope, kind, ends_at);
ALTER TABLE quota_uses ADD CONSTRAINT quota_uses_pkey PRIMARY KEY (seq);
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_seq, code_hash);
ALTER TABLE row_counts ADD CONSTRAINT row_counts_pkey PRIMARY KEY (counted, block, private_to, state, slot);
ALTER TABLE scheduled_jobs ADD CONSTRAINT scheduled_jobs_pkey PRIMARY KEY (id);
ALTER TABLE scheduler_totals ADD CONSTRAINT scheduler_totals_pkey PRIMARY KEY (id);
ALTER TABLE sessions ADD CONSTRAINT sessions_id_key UNIQUE (id);
ALTER TABLE sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (secret_hash);
ALTER TABLE short_link_days ADD CONSTRAINT short_link_days_pkey PRIMARY KEY (short_link_seq, bucket_start);
ALTER TABLE short_link_referrers ADD CONSTRAINT short_link_referrers_pkey PRIMARY KEY (short_link_seq, host);
ALTER TABLE short_link_version ADD CONSTRAINT short_link_version_pkey PRIMARY KEY (id);
ALTER TABLE short_links ADD CONSTRAINT short_links_pkey PRIMARY KEY (seq);
ALTER TABLE short_links ADD CONSTRAINT short_links_short_key_key UNIQUE (short_key);
ALTER TABLE sitemap_pages ADD CONSTRAINT sitemap_pages_pkey PRIMARY KEY (sitemap_seq, page_seq);
ALTER TABLE sitemaps ADD CONSTRAINT sitemaps_pkey PRIMARY KEY (seq);
ALTER TABLE sitemaps ADD CONSTRAINT sitemaps_website_seq_url_key UNIQUE (website_seq, url);
ALTER TABLE sources ADD CONSTRAINT sources_id_key UNIQUE (id);
ALTER TABLE sources ADD CONSTRAINT sources_pkey PRIMARY KEY (seq);
ALTER TABLE status_page_targets ADD CONSTRAINT status_page_targets_pkey PRIMARY KEY (page_id, target_seq);
ALTER TABLE status_pages ADD CONSTRAINT status_pages_pkey PRIMARY KEY (id);
ALTER TABLE status_pages ADD CONSTRAINT status_pages_slug_key UNIQUE (slug);
ALTER TABLE submissions ADD CONSTRAINT submissions_pkey PRIMARY KEY (seq);
ALTER TABLE tag_scopes ADD CONSTRAINT tag_scopes_pkey PRIMARY KEY (tag_seq, private_to);
ALTER TABLE tags ADD CONSTRAINT tags_folded_name_key UNIQUE (folded_name);
ALTER TABLE tags ADD CONSTRAINT tags_id_key UNIQUE (id);
ALTER TABLE tags ADD CONSTRAINT tags_pkey PRIMARY KEY (seq);
ALTER TABLE target_days ADD CONSTRAINT target_days_pkey PRIMARY KEY (target_seq, bucket_start);
ALTER TABLE target_hours ADD CONSTRAINT target_hours_pkey PRIMARY KEY (target_seq, bucket_start);
ALTER TABLE target_schedule ADD CONSTRAINT target_schedule_pkey PRIMARY KEY (target_seq);
ALTER TABLE targets ADD CONSTRAINT targets_id_key UNIQUE (id);
ALTER TABLE targets ADD CONSTRAINT targets_pkey PRIMARY KEY (seq);
ALTER TABLE tokens ADD CONSTRAINT tokens_id_key UNIQUE (id);
ALTER TABLE tokens ADD CONSTRAINT tokens_pkey PRIMARY KEY (seq);
ALTER TABLE tokens ADD CONSTRAINT tokens_secret_hash_key UNIQUE (secret_hash);
ALTER TABLE used_logins ADD CONSTRAINT used_logins_pkey PRIMARY KEY (state_hash);
ALTER TABLE users ADD CONSTRAINT users_id_key UNIQUE (id);
ALTER TABLE users ADD CONSTRAINT users_pkey PRIMARY KEY (seq);
ALTER TABLE users ADD CONSTRAINT users_username_key UNIQUE (username);
ALTER TABLE websites ADD CONSTRAINT websites_id_key UNIQUE (id);
ALTER TABLE websites ADD CONSTRAINT websites_pkey PRIMARY KEY (seq);
CREATE INDEX alert_mentions_rule ON alert_mentions USING btree (rule_seq);
CREATE INDEX alert_notices_next ON alert_notices USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX alert_notices_rule ON alert_notices USING btree (rule_seq);
CREATE INDEX alert_rules_created ON alert_rules USING btree (created_at, id);
CREATE INDEX alert_rules_deleted ON alert_rules USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX alert_sent_channel ON alert_sent USING btree (channel_seq);
CREATE INDEX alert_subjects_open ON alert_subjects USING btree (subject_id, event) WHERE (ended_at IS NULL);
CREATE INDEX alert_subjects_since ON alert_subjects USING btree (subject_id, event, since_at);
CREATE INDEX alerts_acknowledged ON alerts USING btree (acknowledged_at) WHERE (acknowledged_at IS NOT NULL);
CREATE INDEX alerts_by_event ON alerts USING btree (event, created_at, id, private_to) WHERE (fired_at > 0);
CREATE INDEX alerts_by_severity ON alerts USING btree (severity, created_at, id, private_to) WHERE (fired_at > 0);
CREATE INDEX alerts_ended ON alerts USING btree (created_at, id, private_to) WHERE ((fired_at IS NOT NULL) AND (resolved_at IS NOT NULL));
CREATE INDEX alerts_fired ON alerts USING btree (created_at, id, private_to) WHERE (fired_at IS NOT NULL);
CREATE INDEX alerts_firing ON alerts USING btree (created_at, id, private_to) WHERE ((fired_at IS NOT NULL) AND (resolved_at IS NULL));
CREATE INDEX alerts_group ON alerts USING btree (event, group_key, created_at);
CREATE UNIQUE INDEX alerts_open ON alerts USING btree (event, group_key) WHERE (resolved_at IS NULL);
CREATE INDEX alerts_recent ON alerts USING btree (event, created_at);
CREATE INDEX alerts_resolve ON alerts USING btree (resolve_at) WHERE (resolve_at IS NOT NULL);
CREATE INDEX alerts_resolved ON alerts USING btree (resolved_at) WHERE (resolved_at IS NOT NULL);
CREATE INDEX alerts_severity ON alerts USING btree (severity, created_at, id, private_to) WHERE ((fired_at IS NOT NULL) AND (resolved_at IS NULL) AND (acknowledged_at IS NULL));
CREATE INDEX alerts_silenced ON alerts USING btree (silenced_until_at) WHERE (silenced_until_at IS NOT NULL);
CREATE INDEX alerts_unacknowledged ON alerts USING btree (created_at, id, private_to) WHERE ((fired_at IS NOT NULL) AND (resolved_at IS NULL) AND (acknowledged_at IS NULL));
CREATE INDEX archive_packs_due ON archive_packs USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX archived_bodies_pack ON archived_bodies USING btree (pack_seq, length_bytes);
CREATE INDEX archived_pages_newest ON archived_pages USING btree (source_seq, url_hash, fetched_at);
CREATE INDEX archived_pages_old ON archived_pages USING btree (fetched_at);
CREATE INDEX archived_short_link_days_start ON archived_short_link_days USING btree (bucket_start);
CREATE INDEX archived_short_links_canonical ON archived_short_links USING btree (canonical_url, private_to);
CREATE INDEX archived_short_links_created ON archived_short_links USING btree (created_at, short_key, private_to, disabled) WHERE (deleted_at IS NULL);
CREATE INDEX archived_short_links_deleted ON archived_short_links USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX archived_short_links_disabled ON archived_short_links USING btree (created_at, short_key) WHERE (disabled AND (deleted_at IS NULL));
CREATE INDEX archived_short_links_ended ON archived_short_links USING btree (ended_at) WHERE (deleted_at IS NULL);
CREATE INDEX archived_short_links_key ON archived_short_links USING btree (short_key);
CREATE INDEX archived_short_links_version ON archived_short_links USING btree (version);
CREATE INDEX audit_entries_action ON audit_entries USING btree (action, at, seq);
CREATE INDEX audit_entries_actor ON audit_entries USING btree (actor, at, seq);
CREATE INDEX audit_entries_actor_action ON audit_entries USING btree (actor, action, at, seq);
CREATE INDEX audit_entries_address ON audit_entries USING btree (address, at, seq);
CREATE INDEX audit_entries_newest ON audit_entries USING btree (at, seq);
CREATE INDEX audit_entries_subject ON audit_entries USING btree (subject_id, at, seq) WHERE (subject_id <> ''::text);
CREATE INDEX broken_links_execution ON broken_links USING btree (execution_seq, seq);
CREATE INDEX channels_claimed ON channels USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX channels_created ON channels USING btree (created_at, id);
CREATE INDEX channels_deleted ON channels USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX check_results_failed ON check_results USING btree (checked_at, target_seq) WHERE (outcome <> 0);
CREATE INDEX check_results_newest ON check_results USING btree (checked_at, target_seq);
CREATE INDEX check_results_target_failed ON check_results USING btree (target_seq, checked_at) WHERE (outcome <> 0);
CREATE INDEX coverage_days_day ON coverage_days USING btree (day_at);
CREATE INDEX crawl_hosts_claimed ON crawl_hosts USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX crawl_hosts_due ON crawl_hosts USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (claimed_by IS NULL));
CREATE INDEX crawl_hosts_idle ON crawl_hosts USING btree (last_attempt_at) WHERE (next_at IS NULL);
CREATE INDEX crawled_pages_broken ON crawled_pages USING btree (crawl_seq, seq) WHERE (status_code >= 400);
CREATE INDEX crawled_pages_deleted ON crawled_pages USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX crawled_pages_source ON crawled_pages USING btree (source_seq, seq);
CREATE INDEX crawled_pages_unindexed ON crawled_pages USING btree (fetched_at) WHERE unindexed;
CREATE INDEX crawled_pages_unsent ON crawled_pages USING btree (seq) WHERE unsent;
CREATE INDEX deliveries_alert ON deliveries USING btree (alert_seq);
CREATE INDEX deliveries_channel ON deliveries USING btree (channel_seq);
CREATE INDEX deliveries_failed ON deliveries USING btree (channel_seq, created_at) WHERE (status = 'failed'::text);
CREATE INDEX deliveries_pending ON deliveries USING btree (channel_seq, next_at, seq) WHERE (status = 'pending'::text);
CREATE INDEX deliveries_waiting ON deliveries USING btree (created_at) WHERE (status = 'pending'::text);
CREATE INDEX discovered_links_deleted ON discovered_links USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX discovered_links_source ON discovered_links USING btree (source_seq, seq);
CREATE INDEX feed_entries_feed ON feed_entries USING btree (feed_seq, seen_at);
CREATE INDEX feed_entries_seen ON feed_entries USING btree (seen_at);
CREATE INDEX feeds_claimed ON feeds USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX feeds_due ON feeds USING btree (next_poll_at) WHERE ((next_poll_at IS NOT NULL) AND (claimed_by IS NULL));
CREATE INDEX feeds_source ON feeds USING btree (source_seq, seq);
CREATE INDEX frontier_broken ON frontier USING btree (crawl_seq, seq) WHERE broken;
CREATE INDEX frontier_crawl ON frontier USING btree (crawl_seq, seq);
CREATE INDEX frontier_linked ON frontier USING btree (crawl_seq, linked_as) WHERE (linked_as <> ''::text);
CREATE INDEX frontier_open ON frontier USING btree (host_seq, attempts, depth, seq) WHERE (status = ANY (ARRAY['pending'::text, 'fetching'::text]));
CREATE INDEX frontier_source ON frontier USING btree (source_seq, seq);
CREATE INDEX frontier_status ON frontier USING btree (status, seq) WHERE (status <> 'done'::text);
CREATE INDEX idempotency_keys_created ON idempotency_keys USING btree (created_at);
CREATE INDEX job_executions_crawl ON job_executions USING btree (crawl_seq, seq);
CREATE INDEX job_executions_ended ON job_executions USING btree (completed_at) WHERE (status <> 'running'::text);
CREATE INDEX job_executions_newest ON job_executions USING btree (job_seq, started_at, id);
CREATE INDEX job_executions_reap ON job_executions USING btree (completed_at) WHERE (has_frontier AND (status <> 'running'::text));
CREATE INDEX job_executions_report ON job_executions USING btree (seq) WHERE (reported_page IS NOT NULL);
CREATE INDEX job_executions_running ON job_executions USING btree (crawl_seq) WHERE (status = 'running'::text);
CREATE INDEX job_executions_started ON job_executions USING btree (started_at, id);
CREATE INDEX job_executions_status ON job_executions USING btree (status, started_at, id) WHERE (status <> 'running'::text);
CREATE INDEX job_runs_newest ON job_runs USING btree (job_id, started_at, id);
CREATE INDEX jobs_changed ON jobs USING btree (updated_at, seq);
CREATE INDEX jobs_claimed ON jobs USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX jobs_created ON jobs USING btree (created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX jobs_deleted ON jobs USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX jobs_due ON jobs USING btree (next_run_at, interval_seconds) WHERE ((next_run_at IS NOT NULL) AND (NOT source_disabled) AND (deleted_at IS NULL));
CREATE INDEX jobs_locked ON jobs USING btree (lock_token) WHERE (lock_token IS NOT NULL);
CREATE INDEX jobs_many ON jobs USING btree (executions) WHERE (executions > 100);
CREATE INDEX jobs_retry ON jobs USING btree (planned_at) WHERE ((status = 'failed'::text) AND retry_next_run AND (deleted_at IS NULL));
CREATE INDEX jobs_source ON jobs USING btree (source_seq, created_at, id);
CREATE INDEX jobs_status ON jobs USING btree (status, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX link_changes_created ON link_changes USING btree (created_at);
CREATE INDEX link_refresh_items_claimed ON link_refresh_items USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX link_refresh_items_due ON link_refresh_items USING btree (due_at) WHERE (claimed_by IS NULL);
CREATE INDEX link_refresh_items_link ON link_refresh_items USING btree (link_seq);
CREATE INDEX link_refreshes_created ON link_refreshes USING btree (created_at);
CREATE INDEX link_tags_tag ON link_tags USING btree (tag_seq, link_seq);
CREATE INDEX link_words_length ON link_words USING btree (length);
CREATE INDEX links_active ON links USING btree (seq) INCLUDE (private_to) WHERE (expired_at IS NULL);
CREATE INDEX links_claimed ON links USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX links_due ON links USING btree (next_check_at) WHERE ((next_check_at IS NOT NULL) AND (claimed_by IS NULL));
CREATE INDEX links_expired ON links USING btree (seq) INCLUDE (private_to, health) WHERE (expired_at IS NOT NULL);
CREATE INDEX links_expired_at ON links USING btree (expired_at) WHERE (expired_at IS NOT NULL);
CREATE INDEX links_popular ON links USING btree (view_count, seq) WHERE (expired_at IS NULL);
CREATE INDEX links_private ON links USING btree (private_to, expired_at, health) WHERE (private_to <> ''::text);
CREATE INDEX links_state ON links USING btree (health, seq) INCLUDE (private_to) WHERE (expired_at IS NULL);
CREATE INDEX links_unwell ON links USING btree (health, health_changed_at) WHERE ((expired_at IS NULL) AND (health <> 'ok'::text));
CREATE INDEX maintenance_created ON maintenance USING btree (created_at, id);
CREATE INDEX maintenance_deleted ON maintenance USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX outages_newest ON outages USING btree (started_at, id);
CREATE INDEX outages_open ON outages USING btree (target_seq) WHERE (ended_at IS NULL);
CREATE INDEX outages_target ON outages USING btree (target_seq, started_at, id);
CREATE INDEX page_counts_failed ON page_counts USING btree (website_seq) WHERE (status = 'failed'::text);
CREATE INDEX page_index_words ON page_index USING gin (words);
CREATE INDEX page_versions_change ON page_versions USING btree (crawl_seq, change, seq);
CREATE INDEX page_versions_crawl ON page_versions USING btree (crawl_seq, seq);
CREATE INDEX pages_boosted ON pages USING btree (website_seq, boosted_at) WHERE (boosted_at IS NOT NULL);
CREATE INDEX pages_cause ON pages USING btree (website_seq, cause, queue_rank, seq) WHERE ((cause <> ''::text) AND (gone_at IS NULL));
CREATE INDEX pages_gone ON pages USING btree (website_seq, seq) WHERE (gone_at IS NOT NULL);
CREATE INDEX pages_gone_at ON pages USING btree (gone_at) WHERE (gone_at IS NOT NULL);
CREATE INDEX pages_google ON pages USING btree (website_seq, queue_rank, seq) WHERE (queued_for_google AND (status <> 'pending'::text));
CREATE INDEX pages_indexnow ON pages USING btree (website_seq, queue_rank, seq) WHERE queued_for_indexnow;
CREATE INDEX pages_queue ON pages USING btree (website_seq, status, queue_rank, seq) WHERE (gone_at IS NULL);
CREATE INDEX pages_reprior ON pages USING btree (reprioritize_at) WHERE (reprioritize_at IS NOT NULL);
CREATE INDEX pages_submitted_unclear ON pages USING btree (website_seq, status, queue_rank, seq) WHERE ((status = 'submitted'::text) AND (last_verified_at IS NOT NULL) AND (NOT unverified) AND (gone_at IS NULL));
CREATE INDEX pages_unclear ON pages USING btree (website_seq, status, queue_rank, seq) WHERE ((status = 'pending'::text) AND (last_verified_at IS NOT NULL) AND (gone_at IS NULL));
CREATE INDEX pages_unverified ON pages USING btree (website_seq, last_submitted_at) WHERE (unverified AND (gone_at IS NULL));
CREATE INDEX pages_verified ON pages USING btree (website_seq, verify_attempted_at) WHERE ((verify_attempted_at IS NOT NULL) AND (gone_at IS NULL));
CREATE INDEX pages_verify ON pages USING btree (website_seq, verify_requested_at) WHERE (verify_requested_at IS NOT NULL);
CREATE INDEX pages_wanted ON pages USING btree (website_seq, submit_requested_at) WHERE (submit_requested_at IS NOT NULL);
CREATE INDEX quota_days_ends ON quota_days USING btree (ends_at);
CREATE INDEX quota_uses_claimed ON quota_uses USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX quota_uses_scope ON quota_uses USING btree (scope, used_at, kind);
CREATE INDEX quota_uses_used ON quota_uses USING btree (used_at) WHERE (claimed_by IS NULL);
CREATE INDEX quota_uses_website ON quota_uses USING btree (website_seq) WHERE (claimed_by IS NOT NULL);
CREATE INDEX scheduled_jobs_claimed ON scheduled_jobs USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX sessions_expires ON sessions USING btree (expires_at);
CREATE INDEX sessions_idle ON sessions USING btree (last_seen_at);
CREATE INDEX sessions_user ON sessions USING btree (user_seq, created_at);
CREATE INDEX short_link_days_start ON short_link_days USING btree (bucket_start);
CREATE INDEX short_links_canonical ON short_links USING btree (canonical_url, private_to);
CREATE INDEX short_links_created ON short_links USING btree (created_at, short_key, private_to) WHERE (deleted_at IS NULL);
CREATE INDEX short_links_deleted ON short_links USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX short_links_disabled ON short_links USING btree (created_at, short_key) WHERE (disabled AND (deleted_at IS NULL));
CREATE INDEX short_links_exhausted ON short_links USING btree (exhausted_at, seq, created_at, short_key, private_to, disabled, deleted_at) WHERE (exhausted_at IS NOT NULL);
CREATE INDEX short_links_expires ON short_links USING btree (expires_at, seq, created_at, short_key, private_to, disabled, deleted_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX short_links_version ON short_links USING btree (version);
CREATE INDEX sitemap_pages_page ON sitemap_pages USING btree (page_seq);
CREATE INDEX sitemaps_broken ON sitemaps USING btree (website_seq) WHERE ((last_error <> ''::text) AND (deleted_at IS NULL));
CREATE INDEX sitemaps_parent ON sitemaps USING btree (parent_seq) WHERE (parent_seq IS NOT NULL);
CREATE INDEX sitemaps_root ON sitemaps USING btree (root_seq) WHERE (root_seq IS NOT NULL);
CREATE INDEX sitemaps_website ON sitemaps USING btree (website_seq, seq);
CREATE INDEX sources_created ON sources USING btree (created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX sources_deleted ON sources USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE UNIQUE INDEX sources_external ON sources USING btree (external_id) WHERE ((external_id <> ''::text) AND (deleted_at IS NULL));
CREATE INDEX sources_host ON sources USING btree (host, created_at) WHERE (deleted_at IS NULL);
CREATE INDEX status_page_targets_target ON status_page_targets USING btree (target_seq);
CREATE INDEX submissions_created ON submissions USING btree (created_at);
CREATE INDEX submissions_page ON submissions USING btree (page_seq, seq) WHERE (page_seq IS NOT NULL);
CREATE INDEX submissions_status ON submissions USING btree (website_seq, status, seq);
CREATE INDEX submissions_website ON submissions USING btree (website_seq, seq);
CREATE INDEX tags_popular ON tags USING btree (link_count, seq);
CREATE INDEX tags_recent ON tags USING btree (last_used_at, seq);
CREATE INDEX target_schedule_claimed ON target_schedule USING btree (claimed_by) WHERE (claimed_by IS NOT NULL);
CREATE INDEX target_schedule_due ON target_schedule USING btree (next_check_at) WHERE ((next_check_at IS NOT NULL) AND (claimed_by IS NULL));
CREATE INDEX target_schedule_requested ON target_schedule USING btree (requested_at) WHERE (requested_at IS NOT NULL);
CREATE INDEX target_schedule_started ON target_schedule USING btree (started_at) WHERE (started_at IS NOT NULL);
CREATE UNIQUE INDEX targets_canonical_url ON targets USING btree (canonical_url, private_to) WHERE (deleted_at IS NULL);
CREATE INDEX targets_created ON targets USING btree (created_at, id, private_to) WHERE (deleted_at IS NULL);
CREATE INDEX targets_deleted ON targets USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX targets_down ON targets USING btree (state_since, seq, private_to) WHERE ((state = 'down'::text) AND (NOT paused) AND (deleted_at IS NULL));
CREATE INDEX targets_host ON targets USING btree (host, created_at, id, private_to) WHERE (deleted_at IS NULL);
CREATE INDEX targets_state ON targets USING btree (paused, state, created_at, id, private_to) WHERE (deleted_at IS NULL);
CREATE INDEX targets_tls ON targets USING btree (tls_expires_at, seq, created_at, id, private_to, paused, deleted_at) WHERE ((tls_expires_at IS NOT NULL) AND (NOT paused) AND (deleted_at IS NULL));
CREATE INDEX tokens_expires ON tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX tokens_user ON tokens USING btree (user_seq, created_at, id);
CREATE INDEX used_logins_expiry ON used_logins USING btree (expires_at);
CREATE INDEX users_created ON users USING btree (created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX users_deleted ON users USING btree (created_at, id) WHERE (deleted_at IS NOT NULL);
CREATE UNIQUE INDEX users_oidc ON users USING btree (oidc_issuer, oidc_subject) WHERE (oidc_subject <> ''::text);
CREATE UNIQUE INDEX users_oidc_hash ON users USING btree (oidc_issuer, oidc_subject_hash) WHERE (oidc_subject_hash IS NOT NULL);
CREATE INDEX websites_created ON websites USING btree (created_at, id, private_to, deleted_at) WHERE (deleted_at IS NULL);
CREATE INDEX websites_deleted ON websites USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX websites_indexnow_refused ON websites USING btree (created_at, id, private_to) WHERE ((indexnow_error <> ''::text) AND (indexnow_key <> ''::text) AND (deleted_at IS NULL));
CREATE INDEX websites_refused ON websites USING btree (created_at, id, private_to) WHERE (((indexing_error <> ''::text) OR (console_error <> ''::text)) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX websites_site_url ON websites USING btree (site_url, private_to) WHERE (deleted_at IS NULL);
CREATE INDEX websites_sitemaps_by ON websites USING btree (sitemaps_claimed_by) WHERE (sitemaps_claimed_by IS NOT NULL);
CREATE INDEX websites_submission_by ON websites USING btree (submission_claimed_by) WHERE (submission_claimed_by IS NOT NULL);
CREATE INDEX websites_verification_by ON websites USING btree (verification_claimed_by) WHERE (verification_claimed_by IS NOT NULL);
CREATE INDEX websites_wanted ON websites USING btree (seq) WHERE ((sitemaps_requested_at IS NOT NULL) OR (submit_requested_at IS NOT NULL) OR (verify_requested_at IS NOT NULL));
CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION audit_entries_stay();
CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION jobs_count_rows();
CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION jobs_count_rows();
CREATE TRIGGER jobs_count_update AFTER UPDATE OF source_seq, status, deleted_at ON jobs FOR EACH ROW WHEN (((old.source_seq <> new.source_seq) OR (old.status <> new.status) OR ((old.deleted_at IS NULL) <> (new.deleted_at IS NULL)))) EXECUTE FUNCTION jobs_count_update();
CREATE TRIGGER links_count_delete AFTER DELETE ON links REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION links_count_delete();
CREATE TRIGGER links_count_insert AFTER INSERT ON links REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION links_count_insert();
CREATE TRIGGER links_count_update AFTER UPDATE OF private_to, health, expired_at ON links FOR EACH ROW WHEN (((old.private_to <> new.private_to) OR (
        CASE
            WHEN (old.expired_at IS NULL) THEN old.health
            ELSE ('expired '::text || old.health)
        END <>
        CASE
            WHEN (new.expired_at IS NULL) THEN new.health
            ELSE ('expired '::text || new.health)
        END))) EXECUTE FUNCTION links_count_update();
CREATE TRIGGER sources_count_jobs AFTER UPDATE OF private_to ON sources FOR EACH ROW WHEN ((old.private_to <> new.private_to)) EXECUTE FUNCTION sources_count_jobs();
CREATE TRIGGER sources_delete_jobs BEFORE DELETE ON sources FOR EACH ROW EXECUTE FUNCTION sources_delete_jobs();
CREATE TRIGGER tags_count_delete AFTER DELETE ON tags REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tags_count();
CREATE TRIGGER tags_count_insert AFTER INSERT ON tags REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tags_count();
CREATE TRIGGER targets_count_delete AFTER DELETE ON targets REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION targets_count_rows();
CREATE TRIGGER targets_count_insert AFTER INSERT ON targets REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION targets_count_rows();
CREATE TRIGGER targets_count_update AFTER UPDATE OF private_to, paused, state, deleted_at ON targets FOR EACH ROW WHEN (((old.private_to <> new.private_to) OR (old.paused <> new.paused) OR (old.state <> new.state) OR ((old.deleted_at IS NULL) <> (new.deleted_at IS NULL)))) EXECUTE FUNCTION targets_count_update();
ALTER TABLE alert_subjects ADD CONSTRAINT alert_members_alert_seq_fkey FOREIGN KEY (alert_seq) REFERENCES alerts(seq) ON DELETE CASCADE;
ALTER TABLE alert_mentions ADD CONSTRAINT alert_mentions_alert_seq_fkey FOREIGN KEY (alert_seq) REFERENCES alerts(seq) ON DELETE CASCADE;
ALTER TABLE alert_mentions ADD CONSTRAINT alert_mentions_rule_seq_fkey FOREIGN KEY (rule_seq) REFERENCES alert_rules(seq) ON DELETE CASCADE;
ALTER TABLE alert_notices ADD CONSTRAINT alert_notices_alert_seq_fkey FOREIGN KEY (alert_seq) REFERENCES alerts(seq) ON DELETE CASCADE;
ALTER TABLE alert_notices ADD CONSTRAINT alert_notices_rule_seq_fkey FOREIGN KEY (rule_seq) REFERENCES alert_rules(seq) ON DELETE CASCADE;
ALTER TABLE alert_sent ADD CONSTRAINT alert_sent_alert_seq_fkey FOREIGN KEY (alert_seq) REFERENCES alerts(seq) ON DELETE CASCADE;
ALTER TABLE alert_sent ADD CONSTRAINT alert_sent_channel_seq_fkey FOREIGN KEY (channel_seq) REFERENCES channels(seq) ON DELETE CASCADE;
ALTER TABLE archived_bodies ADD CONSTRAINT archived_bodies_pack_seq_fkey FOREIGN KEY (pack_seq) REFERENCES archive_packs(seq);
ALTER TABLE archived_pages ADD CONSTRAINT archived_pages_hash_fkey FOREIGN KEY (hash) REFERENCES archived_bodies(hash);
ALTER TABLE archived_short_link_days ADD CONSTRAINT archived_short_link_days_short_link_seq_fkey FOREIGN KEY (short_link_seq) REFERENCES archived_short_links(seq) ON DELETE CASCADE;
ALTER TABLE archived_short_link_referrers ADD CONSTRAINT archived_short_link_referrers_short_link_seq_fkey FOREIGN KEY (short_link_seq) REFERENCES archived_short_links(seq) ON DELETE CASCADE;
ALTER TABLE broken_links ADD CONSTRAINT broken_links_execution_seq_fkey FOREIGN KEY (execution_seq) REFERENCES job_executions(seq) ON DELETE CASCADE;
ALTER TABLE channels ADD CONSTRAINT channels_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE coverage_days ADD CONSTRAINT coverage_days_website_seq_fkey FOREIGN KEY (website_seq) REFERENCES websites(seq) ON DELETE CASCADE;
ALTER TABLE crawl_hosts ADD CONSTRAINT crawl_hosts_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_alert_seq_fkey FOREIGN KEY (alert_seq) REFERENCES alerts(seq) ON DELETE CASCADE;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_channel_seq_fkey FOREIGN KEY (channel_seq) REFERENCES channels(seq) ON DELETE CASCADE;
ALTER TABLE feed_entries ADD CONSTRAINT feed_entries_feed_seq_fkey FOREIGN KEY (feed_seq) REFERENCES feeds(seq) ON DELETE CASCADE;
ALTER TABLE feeds ADD CONSTRAINT feeds_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE feeds ADD CONSTRAINT feeds_source_seq_fkey FOREIGN KEY (source_seq) REFERENCES sources(seq) ON DELETE CASCADE;
ALTER TABLE job_executions ADD CONSTRAINT job_executions_job_seq_fkey FOREIGN KEY (job_seq) REFERENCES jobs(seq) ON DELETE CASCADE;
ALTER TABLE job_logs ADD CONSTRAINT job_logs_execution_seq_fkey FOREIGN KEY (execution_seq) REFERENCES job_executions(seq) ON DELETE CASCADE;
ALTER TABLE job_runs ADD CONSTRAINT job_runs_job_id_fkey FOREIGN KEY (job_id) REFERENCES scheduled_jobs(id) ON DELETE CASCADE;
ALTER TABLE jobs ADD CONSTRAINT jobs_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE jobs ADD CONSTRAINT jobs_source_seq_fkey FOREIGN KEY (source_seq) REFERENCES sources(seq) ON DELETE CASCADE;
ALTER TABLE link_refresh_items ADD CONSTRAINT link_refresh_items_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE link_refresh_items ADD CONSTRAINT link_refresh_items_link_seq_fkey FOREIGN KEY (link_seq) REFERENCES links(seq) ON DELETE CASCADE;
ALTER TABLE link_refresh_items ADD CONSTRAINT link_refresh_items_refresh_id_fkey FOREIGN KEY (refresh_id) REFERENCES link_refreshes(id) ON DELETE CASCADE;
ALTER TABLE link_reindex ADD CONSTRAINT link_reindex_link_seq_fkey FOREIGN KEY (link_seq) REFERENCES links(seq) ON DELETE CASCADE;
ALTER TABLE link_tags ADD CONSTRAINT link_tags_link_seq_fkey FOREIGN KEY (link_seq) REFERENCES links(seq) ON DELETE CASCADE;
ALTER TABLE link_tags ADD CONSTRAINT link_tags_tag_seq_fkey FOREIGN KEY (tag_seq) REFERENCES tags(seq);
ALTER TABLE links ADD CONSTRAINT links_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE outages ADD CONSTRAINT outages_target_seq_fkey FOREIGN KEY (target_seq) REFERENCES targets(seq) ON DELETE CASCADE;
ALTER TABLE page_counts ADD CONSTRAINT page_counts_website_seq_fkey FOREIGN KEY (website_seq) REFERENCES websites(seq) ON DELETE CASCADE;
ALTER TABLE pages ADD CONSTRAINT pages_website_seq_fkey FOREIGN KEY (website_seq) REFERENCES websites(seq) ON DELETE CASCADE;
ALTER TABLE quota_uses ADD CONSTRAINT quota_uses_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_user_seq_fkey FOREIGN KEY (user_seq) REFERENCES users(seq) ON DELETE CASCADE;
ALTER TABLE scheduled_jobs ADD CONSTRAINT scheduled_jobs_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE sessions ADD CONSTRAINT sessions_user_seq_fkey FOREIGN KEY (user_seq) REFERENCES users(seq) ON DELETE CASCADE;
ALTER TABLE short_link_days ADD CONSTRAINT short_link_days_short_link_seq_fkey FOREIGN KEY (short_link_seq) REFERENCES short_links(seq) ON DELETE CASCADE;
ALTER TABLE short_link_referrers ADD CONSTRAINT short_link_referrers_short_link_seq_fkey FOREIGN KEY (short_link_seq) REFERENCES short_links(seq) ON DELETE CASCADE;
ALTER TABLE sitemap_pages ADD CONSTRAINT sitemap_pages_page_seq_fkey FOREIGN KEY (page_seq) REFERENCES pages(seq) ON DELETE CASCADE;
ALTER TABLE sitemap_pages ADD CONSTRAINT sitemap_pages_sitemap_seq_fkey FOREIGN KEY (sitemap_seq) REFERENCES sitemaps(seq) ON DELETE CASCADE;
ALTER TABLE sitemaps ADD CONSTRAINT sitemaps_parent_seq_fkey FOREIGN KEY (parent_seq) REFERENCES sitemaps(seq) ON DELETE CASCADE;
ALTER TABLE sitemaps ADD CONSTRAINT sitemaps_root_seq_fkey FOREIGN KEY (root_seq) REFERENCES sitemaps(seq) ON DELETE CASCADE;
ALTER TABLE sitemaps ADD CONSTRAINT sitemaps_website_seq_fkey FOREIGN KEY (website_seq) REFERENCES websites(seq) ON DELETE CASCADE;
ALTER TABLE status_page_targets ADD CONSTRAINT status_page_targets_page_id_fkey FOREIGN KEY (page_id) REFERENCES status_pages(id) ON DELETE CASCADE;
ALTER TABLE status_page_targets ADD CONSTRAINT status_page_targets_target_seq_fkey FOREIGN KEY (target_seq) REFERENCES targets(seq) ON DELETE CASCADE;
ALTER TABLE submissions ADD CONSTRAINT submissions_website_seq_fkey FOREIGN KEY (website_seq) REFERENCES websites(seq) ON DELETE CASCADE;
ALTER TABLE tag_scopes ADD CONSTRAINT tag_scopes_tag_seq_fkey FOREIGN KEY (tag_seq) REFERENCES tags(seq) ON DELETE CASCADE;
ALTER TABLE target_days ADD CONSTRAINT target_days_target_seq_fkey FOREIGN KEY (target_seq) REFERENCES targets(seq) ON DELETE CASCADE;
ALTER TABLE target_hours ADD CONSTRAINT target_hours_target_seq_fkey FOREIGN KEY (target_seq) REFERENCES targets(seq) ON DELETE CASCADE;
ALTER TABLE target_schedule ADD CONSTRAINT target_schedule_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE target_schedule ADD CONSTRAINT target_schedule_target_seq_fkey FOREIGN KEY (target_seq) REFERENCES targets(seq) ON DELETE CASCADE;
ALTER TABLE tokens ADD CONSTRAINT tokens_user_seq_fkey FOREIGN KEY (user_seq) REFERENCES users(seq) ON DELETE CASCADE;
ALTER TABLE websites ADD CONSTRAINT websites_sitemaps_by_fkey FOREIGN KEY (sitemaps_claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE websites ADD CONSTRAINT websites_submission_by_fkey FOREIGN KEY (submission_claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
ALTER TABLE websites ADD CONSTRAINT websites_verification_by_fkey FOREIGN KEY (verification_claimed_by) REFERENCES instances(id) ON DELETE SET NULL;
INSERT INTO schema_migrations VALUES (193);
INSERT INTO short_link_version (id, newest) VALUES (1, 0);
INSERT INTO scheduler_totals (id) VALUES (1);
INSERT INTO row_counts (counted, block, private_to, state, slot, n) VALUES ('tags', 0, '', '', 0, 0);
