package alerts

// Services are the services with a form, in display order.
var Services = []Service{
	{
		Kind: "smtp", Label: "Email", Help: "Use the outgoing mail server (SMTP) of your provider.", url: smtpURL,
		Fields: []Field{
			{Name: "host", Label: "Mail server", Placeholder: "smtp.example.com", Type: Text, Required: true},
			{Name: "port", Label: "Port", Placeholder: "587", Hint: "Default: 587. With TLS from the start: 465.", Type: Number},
			{Name: "encryption", Label: "Encryption", Type: Choice, Options: []Option{
				{"starttls", "STARTTLS, required"}, {"tls", "TLS from the start (port 465)"}, {"auto", "STARTTLS if the server offers it"},
			}},
			{Name: "user", Label: "User", Type: Text},
			{Name: "password", Label: "Password", Type: Password, Secret: true},
			{Name: "from", Label: "Sender", Placeholder: "linkwatch@example.com", Type: Email, Required: true},
			{Name: "from_name", Label: "Sender name", Placeholder: "Linkwatch", Hint: "Shown instead of the address.", Type: Text},
			{Name: "to", Label: "Recipients", Placeholder: "you@example.com", Hint: "Separate addresses with commas.", Type: Text, Required: true},
		},
	},
	{
		Kind: "slack", Label: "Slack", Help: "Add an app with an incoming webhook to your workspace, or a bot that can post messages.", url: slackURL,
		Fields: []Field{
			{Name: "webhook", Label: "Incoming webhook URL", Placeholder: "https://hooks.slack.com/services/…", Type: URL, Secret: true},
			{Name: "token", Label: "Bot token", Placeholder: "xoxb-…", Hint: "Use this instead of a webhook URL.", Type: Password, Secret: true},
			{Name: "channel", Label: "Channel", Placeholder: "C0123456789", Hint: "Channel ID. Only used with a bot token.", Type: Text},
		},
	},
	{
		Kind: "discord", Label: "Discord", Help: "Create a webhook in the channel settings, under Integrations.", url: discordURL,
		Fields: []Field{{Name: "webhook", Label: "Webhook URL", Placeholder: "https://discord.com/api/webhooks/…", Type: URL, Secret: true, Required: true}},
	},
	{
		Kind: "telegram", Label: "Telegram", Help: "Create a bot with @BotFather and add it to the chat.", url: telegramURL,
		Fields: []Field{
			{Name: "token", Label: "Bot token", Placeholder: "123456:ABC…", Type: Password, Secret: true, Required: true},
			{Name: "chat", Label: "Chat", Placeholder: "-1001234567890", Hint: "A chat ID, or a channel name with @. Add a channel for each chat.", Type: Text, Required: true},
		},
	},
	{
		Kind: "ntfy", Label: "ntfy", Help: "Choose a topic that is hard to guess. On a public server, anyone who knows it can read the alerts.", url: ntfyURL,
		Fields: []Field{
			{Name: "server", Label: "Server", Placeholder: "https://ntfy.sh", Hint: "Default: https://ntfy.sh.", Type: URL},
			{Name: "topic", Label: "Topic", Type: Text, Required: true, Secret: true},
			{Name: "token", Label: "Access token", Placeholder: "tk_…", Type: Password, Secret: true},
			{Name: "user", Label: "User", Hint: "Use this instead of an access token.", Type: Text},
			{Name: "password", Label: "Password", Type: Password, Secret: true},
			{Name: "priority", Label: "Priority", Type: Choice, Options: []Option{
				{"default", "Default"}, {"min", "Lowest"}, {"low", "Low"}, {"high", "High"}, {"max", "Highest"},
			}},
		},
	},
	{
		Kind: "gotify", Label: "Gotify", Help: "Create an application in Gotify and copy its token.", url: gotifyURL,
		Fields: []Field{
			{Name: "server", Label: "Server", Placeholder: "https://gotify.example.com", Type: URL, Required: true},
			{Name: "token", Label: "Application token", Type: Password, Secret: true, Required: true},
		},
	},
	{
		Kind: "matrix", Label: "Matrix", Help: "Use a separate account for alerts, and invite it to the room.", url: matrixURL,
		Fields: []Field{
			{Name: "server", Label: "Server", Placeholder: "https://matrix.example.com", Type: URL, Required: true},
			{Name: "token", Label: "Access token", Type: Password, Secret: true},
			{Name: "user", Label: "User", Hint: "Use this instead of an access token. Linkwatch logs in for each alert.", Type: Text},
			{Name: "password", Label: "Password", Type: Password, Secret: true},
			{Name: "room", Label: "Room", Placeholder: "#alerts:example.com", Hint: "An alias with #, or a room ID with !. Add a channel for each room.", Type: Text, Required: true},
		},
	},
	{
		Kind: "teams", Label: "Microsoft Teams", Help: "Add the workflow “Post to a channel when a webhook request is received” to the channel and copy its URL.", url: teamsURL,
		Fields: []Field{{Name: "webhook", Label: "Webhook URL", Placeholder: "https://…", Type: URL, Secret: true, Required: true}},
	},
	{
		Kind: "pagerduty", Label: "PagerDuty", Help: "Add the integration “Events API v2” to a service and copy its key.", url: pagerdutyURL,
		Fields: []Field{
			{Name: "key", Label: "Integration key", Type: Password, Secret: true, Required: true},
			{Name: "region", Label: "Region", Type: Choice, Options: []Option{{"us", "US"}, {"eu", "EU"}}},
		},
	},
	{
		Kind: "pushover", Label: "Pushover", Help: "Create an application in Pushover.", url: pushoverURL,
		Fields: []Field{
			{Name: "user", Label: "User or group key", Type: Password, Secret: true, Required: true},
			{Name: "token", Label: "API token", Type: Password, Secret: true, Required: true},
			{Name: "devices", Label: "Devices", Hint: "Separate devices with commas. Default: all devices.", Type: Text},
			{Name: "priority", Label: "Priority", Type: Choice, Options: []Option{{"0", "Normal"}, {"-2", "Lowest"}, {"-1", "Low"}, {"1", "High"}}},
		},
	},
	{
		Kind: "mattermost", Label: "Mattermost", Help: "Create an incoming webhook under Integrations.", url: mattermostURL,
		Fields: []Field{
			{Name: "webhook", Label: "Incoming webhook URL", Placeholder: "https://mattermost.example.com/hooks/…", Type: URL, Secret: true, Required: true},
			{Name: "channel", Label: "Channel", Hint: "Default: the webhook's channel.", Type: Text},
		},
	},
	{
		Kind: "rocketchat", Label: "Rocket.Chat", Help: "Create an incoming webhook under Integrations.", url: rocketchatURL,
		Fields: []Field{
			{Name: "webhook", Label: "Webhook URL", Placeholder: "https://chat.example.com/hooks/…", Type: URL, Secret: true, Required: true},
			{Name: "channel", Label: "Channel", Placeholder: "alerts", Hint: "A channel, or a user with @. Default: the webhook's channel.", Type: Text},
		},
	},
	{
		Kind: "googlechat", Label: "Google Chat", Help: "Create a webhook under Apps & integrations of the space.", url: googlechatURL,
		Fields: []Field{{Name: "webhook", Label: "Webhook URL", Placeholder: "https://chat.googleapis.com/v1/spaces/…", Type: URL, Secret: true, Required: true}},
	},
	{
		Kind: "opsgenie", Label: "Opsgenie", Help: "Add an API integration to your team and copy its key.", url: opsgenieURL,
		Fields: []Field{
			{Name: "key", Label: "API key", Type: Password, Secret: true, Required: true},
			{Name: "region", Label: "Region", Type: Choice, Options: []Option{{"us", "US"}, {"eu", "EU"}}},
			{Name: "priority", Label: "Priority", Type: Choice, Options: []Option{
				{"P3", "P3, moderate"}, {"P1", "P1, critical"}, {"P2", "P2, high"}, {"P4", "P4, low"}, {"P5", "P5, informational"},
			}},
		},
	},
}
