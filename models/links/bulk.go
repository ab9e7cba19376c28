package links

import (
	"context"

	"linkwatch/models"
)

// The bulk actions. All but ActionRefresh can be undone.
const (
	ActionDelete  = "delete"
	ActionExpire  = "expire"
	ActionRevive  = "revive"
	ActionTag     = "tag"
	ActionRefresh = "refresh"
)

// Bulk does an action to up to MaxBulk links. tags are the tags that ActionTag
// adds; other actions ignore them. Unknown ids are ignored. Errors are
// CodeInvalid for an unknown action or no tags, and those of the action.
//
// The ID of the Change is for Undo, or for RefreshOf if the action is
// ActionRefresh, which continues in the background.
func (s *Store) Bulk(ctx context.Context, action string, tags []string, ids ...string) (Change, error) {
	switch action {
	case ActionDelete:
		return s.Delete(ctx, ids...)
	case ActionExpire, ActionRevive:
		return s.SetExpired(ctx, action == ActionExpire, ids...)
	case ActionTag:
		if len(tags) == 0 {
			return Change{}, models.Invalid("tags", "is missing: the action tag needs at least one")
		}
		return s.TagAll(ctx, tags, ids...)
	case ActionRefresh:
		r, err := s.StartRefresh(ctx, ids...)
		return Change{ID: r.ID, Action: action, Links: r.Total, CreatedAt: r.CreatedAt}, err
	}
	return Change{}, models.Invalid("action", "must be tag, expire, revive, refresh or delete")
}
