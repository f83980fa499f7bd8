// Show the description of the API.

SwaggerUIBundle({
  url: new URL("openapi.json", document.baseURI).href,
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
});
