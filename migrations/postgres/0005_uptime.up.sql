-- Uptime is measured in time: microseconds known up and known down. What was rolled up before counts for neither.

ALTER TABLE check_results ADD COLUMN interval_ms BIGINT NOT NULL DEFAULT 0; -- between checks, when it was made

-- Until when the last result says how the target does. NULL = its state is unknown.
ALTER TABLE targets ADD COLUMN known_until BIGINT;

ALTER TABLE targets ADD COLUMN hour_known_from BIGINT; -- the first moment whose state is known; NULL = none is
ALTER TABLE targets ADD COLUMN hour_up_us      BIGINT NOT NULL DEFAULT 0;
ALTER TABLE targets ADD COLUMN hour_down_us    BIGINT NOT NULL DEFAULT 0;
ALTER TABLE targets DROP COLUMN hour_up;
ALTER TABLE targets ADD COLUMN day_known_from BIGINT;
ALTER TABLE targets ADD COLUMN day_up_us      BIGINT NOT NULL DEFAULT 0;
ALTER TABLE targets ADD COLUMN day_down_us    BIGINT NOT NULL DEFAULT 0;
ALTER TABLE targets DROP COLUMN day_up;

ALTER TABLE target_hours ADD COLUMN known_from BIGINT;
ALTER TABLE target_hours ADD COLUMN up_us      BIGINT NOT NULL DEFAULT 0;
ALTER TABLE target_hours ADD COLUMN down_us    BIGINT NOT NULL DEFAULT 0;
ALTER TABLE target_hours DROP COLUMN up;

ALTER TABLE target_days ADD COLUMN known_from BIGINT;
ALTER TABLE target_days ADD COLUMN up_us      BIGINT NOT NULL DEFAULT 0;
ALTER TABLE target_days ADD COLUMN down_us    BIGINT NOT NULL DEFAULT 0;
ALTER TABLE target_days DROP COLUMN up;
