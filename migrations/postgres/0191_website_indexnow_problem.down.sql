DROP INDEX websites_indexnow_refused;
