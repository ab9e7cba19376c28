package api

import "encoding/json"

// strict30 removes what huma's Downgrade leaves of OpenAPI 3.1 and 3.0 does not allow.
func strict30(doc []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		return nil, err
	}
	if info, ok := root["info"].(map[string]any); ok {
		if license, ok := info["license"].(map[string]any); ok {
			delete(license, "identifier")
		}
	}
	tidy30(root)
	return json.Marshal(root)
}

// schemaWords31 are schema keywords that OpenAPI 3.0 does not have. patternDescription is an extension of huma.
var schemaWords31 = []string{"contentMediaType", "contentEncoding", "dependentRequired", "patternDescription"}

func tidy30(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			tidy30(inner)
			if object, ok := inner.(map[string]any); ok && name != "properties" {
				for _, word := range schemaWords31 {
					delete(object, word)
				}
			}
		}
		// OpenAPI 3.0 ignores all other members of an object with $ref.
		if ref, ok := v["$ref"].(string); ok && len(v) > 1 {
			delete(v, "$ref")
			v["allOf"] = []any{map[string]any{"$ref": ref}}
		}
	case []any:
		for _, inner := range v {
			tidy30(inner)
		}
	}
}
