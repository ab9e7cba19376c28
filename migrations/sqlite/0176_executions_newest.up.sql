-- Executions of all jobs, the newest first, also by status.
CREATE INDEX job_executions_started ON job_executions (started_at, id);
CREATE INDEX job_executions_status  ON job_executions (status, started_at, id) WHERE status <> 'running';
