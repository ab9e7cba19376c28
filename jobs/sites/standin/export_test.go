package standin

// Key is the private key of the service account.
var Key = key
