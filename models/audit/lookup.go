package audit

import "context"

// Lookup returns an item by its ID. The error has CodeNotFound if the actor of ctx may not see the item.
type Lookup func(ctx context.Context, id string) (Subject, error)

// LookupOf returns the Lookup of a kind of items.
func LookupOf[T any](kind string, get func(ctx context.Context, id string) (T, error), name func(T) string) Lookup {
	return func(ctx context.Context, id string) (Subject, error) {
		item, err := get(ctx, id)
		if err != nil {
			return Subject{}, err
		}
		return Subject{Kind: kind, ID: id, Name: name(item)}, nil
	}
}
