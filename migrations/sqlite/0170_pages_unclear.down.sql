DROP INDEX pages_submitted_unclear;
