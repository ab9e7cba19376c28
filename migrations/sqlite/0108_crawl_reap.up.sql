-- Jobs that may have executions beyond the newest 100, which the reaper deletes.
CREATE INDEX jobs_many ON jobs (executions) WHERE executions > 100;
