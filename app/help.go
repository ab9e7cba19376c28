package app

import (
	"linkwatch/handlers"
	helphandlers "linkwatch/handlers/help"
)

// newHelp wires the system of the guides. They are files of the program, so it has no store.
func newHelp(c *core) System {
	pages := helphandlers.Pages{Frame: c.frame}
	return System{System: handlers.System{Nav: helphandlers.Nav(), Finders: pages.Finders(), Routes: pages.Routes()}}
}
