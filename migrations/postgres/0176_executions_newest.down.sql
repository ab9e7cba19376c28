DROP INDEX job_executions_status;
DROP INDEX job_executions_started;
