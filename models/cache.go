package models

// Cache is an otter.Cache, a bounded cache in memory. The compiler compiles the methods of a generic type, 200 here, again in
// each package that sees it. It does not do so for an interface.
type Cache[K comparable, V any] interface {
	GetIfPresent(key K) (V, bool)
	Set(key K, value V) (V, bool)
	Invalidate(key K) (V, bool)
}
