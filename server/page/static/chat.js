// The chat of one session, without the rest of the page: for pages of other servers.

import { html, render, useEffect, useMemo, useState } from "./vendor/preact.js";
import { client, newKey, renewed } from "./api.js";
import { Failure, Guarded } from "./parts.js";
import { OpenSession, useOpened } from "./session.js";
import { Talk } from "./talk.js";

/** Draw the chat in a shadow root; return when it has its style. */
export async function show(root, { place, journey, session, token }) {
  const style = document.createElement("link");
  const drawn = document.createElement("div");
  drawn.className = "widget";
  const isStyled = new Promise((done) => {
    style.onload = style.onerror = done;
  });
  Object.assign(style, { rel: "stylesheet", href: new URL("page/style.css", place).href });
  root.append(style);
  await isStyled;
  root.append(drawn);
  render(html`<${Guarded}><${Chat} ...${{ place, journey, session, token }} /><//>`, drawn);
}

function Chat({ place, journey, session, token }) {
  const api = useMemo(() => client(() => {}, { keys: renewed(token), place }), []);
  const [id, setId] = useState("");
  const [problem, setProblem] = useState(null);
  const begin = async (isNew) => {
    setProblem(null);
    setId("");
    try {
      setId(await sessionOf(api, { place, journey, session }, isNew));
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => {
    begin(false);
  }, []);
  if (problem) return html`<${Failure} problem=${problem} onRetry=${() => begin(false)} />`;
  if (!id) return html`<p class="small" role="status">One moment…</p>`;
  return html`<${Open} key=${id} api=${api} id=${id} onNew=${session ? null : () => begin(true)} />`;
}

function Open({ api, id, onNew }) {
  const open = useOpened(useMemo(() => new OpenSession(api, id, true), []));
  const { missing, session } = open.state;
  if (missing && !session) {
    return html`<${Failure} problem=${missing} onRetry=${() => open.open().catch(() => {})} />`;
  }
  return html`<${Talk} open=${open} onNew=${onNew} />`;
}

/** Return the id of the session: the given one, that of this tab, or a new one. */
async function sessionOf(api, { place, journey, session }, isNew) {
  const storedAs = `journeygraph.chat.${place}.${journey || ""}.${session || ""}`;
  const known = session || (isNew ? "" : sessionStorage.getItem(storedAs));
  if (known && (await isThere(api, known))) return known;
  const body = {};
  if (journey) body.journey_id = journey;
  if (session) body.session_id = session;
  const begun = await api.post("sessions", body, { "Idempotency-Key": newKey() });
  sessionStorage.setItem(storedAs, begun.session_id);
  return begun.session_id;
}

/** Return whether the session exists, is of this user, and is not over. */
async function isThere(api, id) {
  try {
    await api.get(`sessions/${encodeURIComponent(id)}`);
    return true;
  } catch (problem) {
    if (problem.isGone) return false;
    throw problem;
  }
}
