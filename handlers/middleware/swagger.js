const openapi = new URL("../openapi.json", document.currentScript.src).href;
window.onload = function () {
  window.ui = SwaggerUIBundle({
    url: openapi,
    dom_id: "#swagger-ui",
    deepLinking: true,
    defaultModelsExpandDepth: -1, // the schemas are hidden
    layout: "StandaloneLayout",
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl, function () { return { components: { Topbar: function () { return null } } } }],
    showCommonExtensions: true,
    showExtensions: true,
    validatorUrl: null,
  });
};
