package models_test

import (
	"context"
	"errors"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// A transaction that expects something reads it in the transaction, stores nothing if it does not hold, and expects it once.
func TestExpect(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		create := func(ctx context.Context, key string, write func(context.Context, func(*gorm.DB) error) error) error {
			return write(ctx, func(tx *gorm.DB) error {
				return tx.Exec("INSERT INTO idempotency_keys (scope, key, resource_id, created_at) VALUES ('test', ?, 'x', 1)", key).Error
			})
		}
		count := func(ctx context.Context) (n int64) {
			if err := db.Read(ctx).Raw("SELECT count(*) FROM idempotency_keys").Scan(&n).Error; err != nil {
				t.Fatal(err)
			}
			return n
		}
		refused := errors.New("not as expected")
		for name, write := range map[string]func(context.Context, func(*gorm.DB) error) error{"Write": db.Write, "WriteSmall": db.WriteSmall} {
			before := count(t.Context())
			ctx := models.Expect(t.Context(), func(ctx context.Context) error {
				if count(ctx) != before {
					return refused
				}
				return nil
			})
			if err := create(ctx, name+"1", write); err != nil {
				t.Fatalf("%s: got %v", name, err)
			}
			if err := create(ctx, name+"2", write); err != nil { // expected only once
				t.Errorf("%s, again: got %v", name, err)
			}
			before++
			ctx = models.Expect(t.Context(), func(ctx context.Context) error {
				if count(ctx) != before {
					return refused
				}
				return nil
			})
			if err := create(ctx, name+"3", write); !errors.Is(err, refused) || count(t.Context()) != before+1 {
				t.Errorf("%s: got %v and %d rows, want %d", name, err, count(t.Context()), before+1)
			}
		}
	})
}
