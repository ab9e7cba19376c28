DROP INDEX submissions_status;
