package models

// Cache is an otter.Cache, a bounded cache in memory. It is an interface, because the compiler compiles the 200 methods of
// otter.Cache again in each package that sees the generic type.
type Cache[K comparable, V any] interface {
	GetIfPresent(key K) (V, bool)
	Set(key K, value V) (V, bool)
	Invalidate(key K) (V, bool)
}
