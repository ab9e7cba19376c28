package audit

import "context"

// Item is a kind of items that can be private.
type Item struct {
	Kind string // Subject.Kind
	// Name returns the name of an item. The error has CodeNotFound if the actor of ctx may not see the item.
	Name func(ctx context.Context, id string) (string, error)
}

// ItemOf returns the Item of a kind that get loads.
func ItemOf[T any](kind string, get func(ctx context.Context, id string) (T, error), name func(T) string) Item {
	return Item{kind, func(ctx context.Context, id string) (string, error) {
		item, err := get(ctx, id)
		if err != nil {
			return "", err
		}
		return name(item), nil
	}}
}
