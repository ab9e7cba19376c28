package handlers

import "github.com/gin-gonic/gin"

// Engine returns the router of the main host.
func (r *Router) Engine() *gin.Engine { return r.engine }
