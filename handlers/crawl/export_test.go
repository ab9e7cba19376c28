package crawl

// Comparing has a value for each comparison that runs.
var Comparing = compareSlots
