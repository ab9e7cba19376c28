DROP INDEX alerts_ended;
