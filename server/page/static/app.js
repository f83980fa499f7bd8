// The page: its header, the router by the hash of the URL, and the views of a session.
//
//   #/                  start a session
//   #/s/SESSION_ID/TAB  a session; TAB is one of VIEWS, or nothing

import { html, render, useEffect, useMemo, useState } from "./vendor/preact.js";
import { client, key } from "./api.js";
import { useSession } from "./session.js";
import { Start } from "./start.js";
import { Talk } from "./talk.js";

// Views of a session, in the order of their tabs: name in the URL, label, component.
// Each component has the props {api, session, turns, live, journey, onChange}.
const VIEWS = [];

// Views without a session: name in the URL, label in the header, component with the prop {api}.
const PAGES = [["", "Start", Start]];

/** Return the address of a session, or of a view of it. */
export function addressOf(session, view = "") {
  return `#/s/${encodeURIComponent(session)}${view ? `/${view}` : ""}`;
}

function placeIn(hash) {
  const [kind = "", id = "", view = ""] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  return kind === "s" && id ? { kind, id, view } : { kind, id: "", view: "" };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function App() {
  const [place, setPlace] = useState(() => placeIn(location.hash));
  const [isKeyWanted, setKeyWanted] = useState(false);
  const [entered, setEntered] = useState(0);
  const api = useMemo(() => client(() => setKeyWanted(true)), [entered]);
  useEffect(() => {
    const follow = () => setPlace(placeIn(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const enter = (value) => {
    key.set(value);
    setKeyWanted(false);
    setEntered(entered + 1);
  };
  const found = PAGES.find(([name]) => name === place.kind) || PAGES[0];
  return html`<${Header} place=${place} />
    <main>
      ${isKeyWanted
        ? html`<${KeyForm} onEnter=${enter} />`
        : place.id
          ? html`<${Session} key=${place.id} api=${api} id=${place.id} view=${place.view} />`
          : html`<${found[2]} api=${api} />`}
    </main>`;
}

function Header({ place }) {
  return html`<header class="top">
    <a class="brand" href="#/">JourneyGraph</a>
    <nav aria-label="Pages">
      ${PAGES.map(
        ([name, label]) =>
          html`<a href=${`#/${name}`} aria-current=${name === place.kind ? "page" : null}>${label}</a>`,
      )}
    </nav>
    <${Theme} />
  </header>`;
}

function Theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const [theme, setTheme] = useState(document.documentElement.dataset.theme || dark);
  const other = theme === "dark" ? "light" : "dark";
  const change = () => {
    document.documentElement.dataset.theme = other;
    localStorage.setItem("journeygraph.theme", other);
    setTheme(other);
  };
  return html`<button type="button" class="theme" onClick=${change}>
    ${other === "dark" ? "Dark" : "Light"}
  </button>`;
}

function KeyForm({ onEnter }) {
  const [value, setValue] = useState("");
  const enter = (event) => {
    event.preventDefault();
    if (value.trim()) onEnter(value.trim());
  };
  return html`<form class="card" onSubmit=${enter}>
    <h1>API key</h1>
    <p>This server needs a key of JOURNEYGRAPH_API_KEYS. It is kept in this tab only.</p>
    <label for="key">Key</label>
    <input
      id="key"
      type="password"
      autocomplete="off"
      value=${value}
      onInput=${(event) => setValue(event.target.value)}
    />
    <button class="main">Continue</button>
  </form>`;
}

function Session({ api, id, view }) {
  const open = useSession(api, id);
  if (!open) return null;
  const { state } = open;
  const shown = VIEWS.find(([name]) => name === view) || VIEWS[0];
  const props = {
    api,
    session: state.session,
    turns: state.turns,
    live: state.live,
    journey: state.journey,
    onChange: () => open.read(),
  };
  const layout = shown ? (view ? "on-view" : "on-talk") : "alone";
  return html`<div class=${`session ${layout}`}>
    ${shown ? html`<${Tabs} id=${id} view=${view} />` : null}
    <${Talk} open=${open} state=${state} />
    ${shown && state.session && state.journey
      ? html`<section class="view" aria-label=${shown[1]}><${shown[2]} ...${props} /></section>`
      : null}
  </div>`;
}

function Tabs({ id, view }) {
  return html`<nav class="tabs" aria-label="Views of the session">
    <a class="tab-talk" href=${addressOf(id)} aria-current=${view ? null : "page"}>Talk</a>
    ${VIEWS.map(
      ([name, label]) =>
        html`<a href=${addressOf(id, name)} aria-current=${name === view ? "page" : null}>${label}</a>`,
    )}
  </nav>`;
}

const root = document.getElementById("app");
root.textContent = "";
render(html`<${App} />`, root);
