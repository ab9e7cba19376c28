package google

import (
	"testing"

	"linkwatch/models/modelstest"
)

// AwaitWaiting waits until n callers wait for a token request.
func AwaitWaiting(t *testing.T, c *Client, n int) {
	t.Helper()
	modelstest.Eventually(t, "they wait", func() bool {
		c.tokens.mu.Lock()
		defer c.tokens.mu.Unlock()
		return c.tokens.running != nil && c.tokens.running.waiting == n
	})
}
