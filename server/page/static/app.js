// The page: its header, the router by the hash of the URL, and the views of a session.
//
//   #/                      start a session
//   #/s/SESSION_ID/TAB/...  a session; TAB is one of VIEWS, or nothing: the conversation
//   #/NAME/...              a page without a session: NAME is one of PAGES

import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { client, key } from "./api.js";
import { Inbox } from "./inbox.js";
import { Failure, Guarded, addressOf, inWords, shortId } from "./parts.js";
import { Picture } from "./picture.js";
import { closeSession, useSession } from "./session.js";
import { SessionList } from "./sessions.js";
import { Start } from "./start.js";
import { Talk } from "./talk.js";
import { Versions } from "./versions.js";
import { Why } from "./why.js";

// Views of a session, in the order of their tabs: name in the URL, label, component.
// Each component has the props {api, path, session, turns, live, journey, onChange}; the path has
// the parts of the URL behind the name.
const VIEWS = [
  ["picture", "Picture", Picture],
  ["why", "Why", Why],
  ["versions", "Versions", Versions],
];

// Pages without a session: name in the URL, label in the header, component with the props
// {api, path}; the path has the parts of the URL behind the name.
const PAGES = [
  ["", "Start", Start],
  ["sessions", "Sessions", SessionList],
  ["inbox", "Inbox", Inbox],
];

let askForKey = () => {};
const api = client((isWrong) => askForKey(isWrong));

function placeIn(hash) {
  const [kind = "", ...path] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (kind !== "s" || !path[0]) return { kind, id: "", path };
  const [id, view = "", ...rest] = path;
  return { kind, id, view, path: rest };
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
  const [tabs, setTabs] = useState(storedTabs);
  const [wanted, setWanted] = useState(null); // {isWrong} while a key is asked for
  askForKey = (isWrong) => setWanted((asked) => ({ isWrong: isWrong || Boolean(asked && asked.isWrong) }));
  useEffect(() => {
    const follow = () => setPlace(placeIn(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    if (place.id && !tabs.some((tab) => tab.id === place.id)) changeTabs([...tabs, { id: place.id, name: "" }]);
  }, [place.id]);
  const changeTabs = (changed) => {
    sessionStorage.setItem("journeygraph.tabs", JSON.stringify(changed));
    setTabs(changed);
  };
  const close = (id) => {
    closeSession(id);
    const rest = tabs.filter((tab) => tab.id !== id);
    changeTabs(rest);
    if (id === place.id) location.hash = rest.length ? addressOf(rest[rest.length - 1].id) : "#/";
  };
  const nameTab = (id, name) => {
    if (tabs.some((tab) => tab.id === id && tab.name !== name)) {
      changeTabs(tabs.map((tab) => (tab.id === id ? { id, name } : tab)));
    }
  };
  const enter = (value) => {
    key.set(value);
    setWanted(null);
  };
  const page = PAGES.find(([name]) => name === place.kind) || ["unknown", "Unknown", Unknown];
  const tab = tabs.find((one) => one.id === place.id);
  const title = tab && tab.name ? inWords(tab.name) : place.id || page[1];
  useEffect(() => {
    document.title = `${title} · JourneyGraph`;
  }, [title]);
  return html`<${Header} place=${place} />
    ${tabs.length ? html`<${OpenSessions} tabs=${tabs} current=${place.id} onClose=${close} />` : null}
    <main>
      ${wanted
        ? html`<${KeyForm} isWrong=${wanted.isWrong} onEnter=${enter} />`
        : place.id
          ? html`<${Session} key=${place.id} ...${place} onName=${nameTab} />`
          : html`<${Guarded} key=${page[0]}><${page[2]} api=${api} path=${place.path} /><//>`}
    </main>`;
}

function Unknown() {
  return html`<div class="card">
    <h1>There is no such page</h1>
    <p>The address names no part of this page. Its parts are above, or <a href="#/">start a session</a>.</p>
  </div>`;
}

/** Return the sessions in tabs: the id and the name of the journey of each. */
function storedTabs() {
  try {
    const tabs = JSON.parse(sessionStorage.getItem("journeygraph.tabs"));
    return Array.isArray(tabs) ? tabs.filter((tab) => tab && typeof tab.id === "string") : [];
  } catch {
    return [];
  }
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
  const system = matchMedia("(prefers-color-scheme: dark)");
  const [theme, setTheme] = useState(document.documentElement.dataset.theme || "");
  const [, setSystem] = useState(system.matches);
  useEffect(() => {
    const follow = (event) => setSystem(event.matches);
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const other = (theme || (system.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
  const change = () => {
    document.documentElement.dataset.theme = other;
    try {
      localStorage.setItem("journeygraph.theme", other);
    } catch {
      // Storage is off: the choice holds until the page is closed.
    }
    setTheme(other);
  };
  return html`<button type="button" class="theme" onClick=${change}>
    ${other === "dark" ? "Dark" : "Light"}<span class="hidden"> colours</span>
  </button>`;
}

/** The open sessions as tabs. */
function OpenSessions({ tabs, current, onClose }) {
  const list = useRef(null);
  useEffect(() => {
    const tab = list.current.querySelector(".current");
    if (tab) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tabs, current]);
  return html`<nav class="sessions" ref=${list} aria-label="Open sessions">
    ${tabs.map(
      ({ id, name }) =>
        html`<span key=${id} class=${id === current ? "tab current" : "tab"}>
          <a href=${addressOf(id)} title=${id} aria-current=${id === current ? "page" : null}>
            ${name ? html`<bdi>${inWords(name)}</bdi>${" "}` : null}<bdi class="small">${shortId(id)}</bdi>
          </a>
          <button type="button" aria-label=${`Close the tab of ${id}`} onClick=${() => onClose(id)}>×</button>
        </span>`,
    )}
  </nav>`;
}

function KeyForm({ isWrong, onEnter }) {
  const [value, setValue] = useState("");
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const enter = (event) => {
    event.preventDefault();
    if (value.trim()) onEnter(value.trim());
  };
  return html`<form class="card" onSubmit=${enter}>
    <h1>API key</h1>
    ${isWrong ? html`<p class="fault" role="alert">The server does not accept this key.</p>` : null}
    <p>This server needs one of its API keys. It is kept until this browser tab is closed.</p>
    <label for="key">Key</label>
    <input
      id="key"
      ref=${field}
      type="password"
      autocomplete="off"
      spellcheck="false"
      value=${value}
      onInput=${(event) => setValue(event.target.value)}
    />
    <button class="main" disabled=${!value.trim()}>Continue</button>
  </form>`;
}

function Session({ id, view, path, onName }) {
  const open = useSession(api, id);
  const { session, turns, live, journey, missing, returns } = open.state;
  useEffect(() => {
    if (journey) onName(id, journey.name);
  }, [journey]);
  if (missing && !session) {
    return html`<div class="card">
      <${Failure} problem=${missing} onRetry=${() => open.open().catch(() => {})} />
      <a href="#/">Start another session</a>
    </div>`;
  }
  const shown = view ? VIEWS.find(([name]) => name === view) || ["", "Unknown", UnknownView] : VIEWS[0];
  const props = { api, path, session, turns, live, journey, onChange: () => open.read().catch(() => {}) };
  return html`<div class=${`session ${view ? "on-view" : "on-talk"}`}>
    <${Tabs} id=${id} view=${view} shown=${shown[0]} />
    <${Talk} open=${open} />
    ${session && journey
      ? html`<section class="view" aria-label=${shown[1]}>
          <${Guarded} key=${`${shown[0]} ${returns}`}><${shown[2]} ...${props} /><//>
        </section>`
      : null}
  </div>`;
}

function UnknownView() {
  return html`<p role="status">There is no such view of a session. Choose one of those above.</p>`;
}

function Tabs({ id, view, shown }) {
  return html`<nav class="tabs" aria-label="Views of the session">
    <a class="tab-talk" href=${addressOf(id)} aria-current=${view ? null : "page"}>Talk</a>
    ${VIEWS.map(
      ([name, label]) =>
        html`<a href=${addressOf(id, name)} class=${name === shown ? "shown" : ""} aria-current=${name === view ? "page" : null}>${label}</a>`,
    )}
  </nav>`;
}

const root = document.getElementById("app");
root.textContent = "";
render(html`<${App} />`, root);
