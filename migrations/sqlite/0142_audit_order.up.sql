-- The entries of a user with an action are read in order.
CREATE INDEX audit_entries_actor_action ON audit_entries (actor, action, at, seq);
