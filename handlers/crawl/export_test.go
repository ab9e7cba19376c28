package crawl

// Comparing has a value for each running comparison.
var Comparing = compareSlots
