package links

import (
	"context"

	"linkwatch/models"
)

// Bulk actions. All except ActionRefresh can be undone.
const (
	ActionDelete  = "delete"
	ActionExpire  = "expire"
	ActionRevive  = "revive"
	ActionTag     = "tag"
	ActionRefresh = "refresh"
)

// Bulk applies an action to up to MaxBulk links. tags are for ActionTag only. Unknown ids are ignored. The error
// is CodeInvalid for an unknown action or missing tags, or an error of the action.
//
// ID of the returned Change is for Undo. For ActionRefresh, which runs in the background, it is for RefreshOf.
func (s *Store) Bulk(ctx context.Context, action string, tags []string, ids ...string) (Change, error) {
	switch action {
	case ActionDelete:
		return s.Delete(ctx, ids...)
	case ActionExpire, ActionRevive:
		return s.SetExpired(ctx, action == ActionExpire, ids...)
	case ActionTag:
		if len(tags) == 0 {
			return Change{}, models.Invalid("tags", "must have at least one tag")
		}
		return s.TagAll(ctx, tags, ids...)
	case ActionRefresh:
		r, err := s.StartRefresh(ctx, ids...)
		return Change{ID: r.ID, Action: action, Links: r.Total, CreatedAt: r.CreatedAt}, err
	}
	return Change{}, models.Invalid("action", "must be tag, expire, revive, refresh or delete")
}
