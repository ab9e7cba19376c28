package send

import (
	"context"
	"encoding/json"
)

// workflow posts a card to a webhook of Microsoft Teams Workflows. The library supports only the older connectors.
func (s *Sender) workflow(ctx context.Context, c channel, m Message) (Answer, error) {
	title, text := texts(styles["teams"], m)
	block := func(text string, more map[string]any) map[string]any {
		out := map[string]any{"type": "TextBlock", "text": text, "wrap": true}
		for key, value := range more {
			out[key] = value
		}
		return out
	}
	card := map[string]any{
		"type": "AdaptiveCard", "version": "1.2", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
		"body": []any{block(title, map[string]any{"weight": "bolder", "size": "medium"}), block(text, nil)},
	}
	body, err := json.Marshal(map[string]any{
		"type": "message", "attachments": []any{map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}},
	})
	if err != nil {
		return Answer{}, err
	}
	return s.post(ctx, c, c.workflow, body, nil)
}
