// The chat of a journey in a page of another server, by one script tag:
//
//   <script src=".../widget.js" data-journey="JOURNEY" data-token="nameOfAFunction"></script>
//
// The chat appears behind the tag, as <journeygraph-chat>. Its attributes are those of the tag
// without "data-"; docs/how-to/widget.md describes them.

(() => {
  const tag = document.currentScript;
  const place = new URL(".", tag.src).href;
  const ATTRIBUTES = ["journey", "session", "token"];

  class JourneyGraphChat extends HTMLElement {
    /** A function that returns a token of the user, now or later; null: the attribute names one. */
    token = null;

    async connectedCallback() {
      if (this.shadowRoot) return; // it was moved
      const root = this.attachShadow({ mode: "open" });
      const { show } = await import(`${place}page/chat.js`);
      await show(root, {
        place,
        journey: this.getAttribute("journey") || undefined,
        session: this.getAttribute("session") || undefined,
        token: () => (this.token || window[this.getAttribute("token")] || (() => ""))(),
      });
      this.dispatchEvent(new CustomEvent("ready"));
    }
  }

  if (!customElements.get("journeygraph-chat")) customElements.define("journeygraph-chat", JourneyGraphChat);
  const wanted = ATTRIBUTES.filter((name) => name in tag.dataset);
  if (wanted.length) {
    const chat = document.createElement("journeygraph-chat");
    for (const name of wanted) chat.setAttribute(name, tag.dataset[name]);
    tag.after(chat);
  }
})();
