UPDATE scheduled_jobs SET runs = successes + failures;
