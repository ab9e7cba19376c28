-- A run counts when it starts. Runs that have not ended were not counted yet.
UPDATE scheduled_jobs SET runs = runs + 1 WHERE run_id <> '';
