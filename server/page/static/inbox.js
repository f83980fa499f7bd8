// The inbox: calls for a person, which are claimed, answered and released; replies to review.
//
//   #/inbox            the calls, newest first
//   #/inbox/CALL_ID    one of them, with its conversation
//   #/inbox/reviews    replies that a person should review

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { newKey } from "./api.js";
import { listen } from "./listen.js";
import { List, Select, useList } from "./lists.js";
import { Failure, Moment, addressOf, cut, inWords, shortId } from "./parts.js";
import { Message } from "./talk.js";

const NAME = "journeygraph.operator";
const EVERY_MS = 4000;
const NAMES = { user: "User" };
const STATUSES = [
  ["", "open and claimed"],
  ["open", "open"],
  ["claimed", "claimed"],
  ["released", "released"],
  ["expired", "expired"],
];

/** The inbox. Props: `api`; `path`, what follows in the URL. */
export function Inbox({ api, path }) {
  const [id = ""] = path;
  const isReviews = id === "reviews";
  return html`<div class="page inbox">
    <h1>Inbox</h1>
    <nav class="tabs" aria-label="Inbox">
      <a href="#/inbox" aria-current=${isReviews ? null : "page"}>Calls</a>
      <a href="#/inbox/reviews" aria-current=${isReviews ? "page" : null}>Reviews</a>
    </nav>
    ${isReviews
      ? html`<${Reviews} api=${api} />`
      : html`<div class=${`sides ${id ? "on-one" : "on-list"}`}>
          <${Calls} api=${api} open=${id} />
          ${id ? html`<${Call} key=${id} api=${api} id=${id} />` : null}
        </div>`}
  </div>`;
}

function Calls({ api, open }) {
  const [status, setStatus] = useState("");
  const list = useList(api, "escalations", "escalations", { status });
  useEvery(EVERY_MS, () => list.pages < 2 && list.refresh());
  return html`<section aria-label="Calls">
    <${Select} label="Status" value=${status} options=${STATUSES} onChange=${setStatus} />
    <${List} list=${list} name="Calls for a person" empty="Nobody has asked for a person.">
      ${list.entries.map(
        (call) => html`<li key=${call.id}>
          <a class="item" href=${`#/inbox/${call.id}`} aria-current=${call.id === open ? "true" : null}>
            <strong class="last" dir="auto">${call.last_message || inWords(call.reason)}</strong>
            <${Status} call=${call} />
            <${Moment} at=${call.at} />
            <span class="small">
              ${inWords(call.reason)}, ${inWords(call.journey_id)}, <bdi title=${call.session_id}>${shortId(call.session_id)}</bdi>
            </span>
          </a>
        </li>`,
      )}
    <//>
  </section>`;
}

function Status({ call }) {
  const by = call.status === "claimed" && call.claimed_by ? ` by ${call.claimed_by}` : "";
  return html`<span class=${`tag ${call.status}`}>${call.status}${by}</span>`;
}

function Call({ api, id }) {
  const [{ found, unread }, setRead] = useState({ found: null, unread: null });
  const [problem, setProblem] = useState(null);
  const [name, setName] = useState(storedName);
  const path = `escalations/${encodeURIComponent(id)}`;
  const read = () =>
    api.get(path).then(
      (now) => setRead({ found: now, unread: null }),
      (error) => setRead((before) => ({ ...before, unread: error })),
    );
  useEffect(() => void read(), [api, id]);
  const session = found ? found.escalation.session_id : "";
  useEffect(() => {
    if (!session) return undefined;
    return listen(api, session, { known: () => null, onChange: read }).stop;
  }, [api, session]);
  const sent = useRef({}); // the last act without an answer and its key: sent again, it is done once
  const act = async (what, body) => {
    setProblem(null);
    storeName(name.trim());
    const acting = { by: name.trim(), ...body };
    const asked = JSON.stringify([what, acting]);
    if (sent.current.asked !== asked) sent.current = { asked, key: newKey() };
    try {
      await api.post(`${path}/${what}`, acting, { "Idempotency-Key": sent.current.key });
      sent.current = {};
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    } finally {
      await read();
    }
  };
  if (!found) {
    return html`<section aria-label="Call">
      ${unread ? html`<${Failure} problem=${unread} onRetry=${read} />` : null}
    </section>`;
  }
  const call = found.escalation;
  const last = [...found.transcript, ...found.since].filter((entry) => entry.role === "user").pop();
  return html`<section class="call" aria-label="Call">
    <p class="back"><a href="#/inbox">All calls</a></p>
    <h2><span dir="auto">${last ? cut(last.content, 200) : inWords(call.reason)}</span> <${Status} call=${call} /></h2>
    <p>
      ${inWords(call.reason)}, ${inWords(call.journey_id)}, session${" "}
      <a href=${addressOf(call.session_id)} title=${call.session_id}><bdi>${shortId(call.session_id)}</bdi></a>,
      ${" "}<${Moment} at=${call.at} />
    </p>
    <${Facts} payload=${found.payload} />
    <${Words} entries=${found.transcript} label="Messages until the call" />
    <${Words} entries=${found.since} label="Messages since the call" isLive />
    ${problem || unread ? html`<${Failure} problem=${problem || unread} />` : null}
    ${call.status === "open" || call.status === "claimed"
      ? html`<${Acts} call=${call} name=${name} setName=${setName} act=${act} />`
      : null}
  </section>`;
}

function Facts({ payload }) {
  const known = (payload.fields || []).filter((field) => field.is_collected || field.attempts.length);
  return html`${payload.summary ? html`<p class="words" dir="auto">${payload.summary}</p>` : null}
    ${known.length
      ? html`<details>
          <summary>Fields</summary>
          <dl class="facts">
            ${known.map(
              (field) => html`<div key=${`${field.pathway}.${field.name}`}>
                <dt dir="auto">${field.label || field.name}</dt>
                <dd dir="auto">
                  ${field.sensitive ? "hidden" : shown(field.value)}
                  ${field.validity === "valid" ? null : html` <span class="tag">${field.validity}</span>`}
                </dd>
              </div>`,
            )}
          </dl>
        </details>`
      : null}`;
}

function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Words({ entries, label, isLive = false }) {
  if (!entries.length && !isLive) return null;
  return html`<h3>${label}</h3>
    <ol class="messages" aria-label=${label} aria-live=${isLive ? "polite" : null}>
      ${entries.map(
        (entry, place) =>
          html`<${Message} key=${place} ...${entry} name=${NAMES[entry.role]} />`,
      )}
    </ol>`;
}

function Acts({ call, name, setName, act }) {
  const [text, setText] = useState("");
  const isNamed = Boolean(name.trim());
  const say = async (event) => {
    event.preventDefault();
    if (isNamed && text.trim() && (await act("messages", { message: text }))) setText("");
  };
  return html`<form class="acts" onSubmit=${say}>
    <label for="words">Message to the user</label>
    <textarea
      id="words"
      rows="2"
      dir="auto"
      value=${text}
      onInput=${(event) => setText(event.target.value)}
    ></textarea>
    <div class="row">
      <label for="operator">Your name</label>
      <input
        id="operator"
        maxlength="100"
        autocomplete="name"
        value=${name}
        onInput=${(event) => setName(event.target.value)}
      />
      <button class="main" disabled=${!isNamed || !text.trim()}>Send</button>
      ${call.status === "open"
        ? html`<button type="button" disabled=${!isNamed} onClick=${() => act("claim")}>Claim</button>`
        : null}
      <button type="button" disabled=${!isNamed} onClick=${() => act("release")}>Release</button>
    </div>
  </form>`;
}

function Reviews({ api }) {
  const list = useList(api, "reviews", "reviews", {});
  return html`<section aria-label="Reviews">
    <${List} list=${list} name="Replies to review" empty="No reply needs a review.">
      ${list.entries.map(
        (check) => html`<li class="item" key=${`${check.session_id} ${check.turn}`}>
          <a href=${addressOf(check.session_id, `why/${check.turn}`)} title=${check.session_id}><bdi>${shortId(check.session_id)}</bdi></a>
          ${" "}<span class="tag">${check.outcome}</span>
          <${Moment} at=${check.at} />
          <span class="small">${inWords(check.journey_id)}, ${inWords(check.pathway_id)}, turn ${check.turn}</span>
          ${check.bypassed ? html`<p>It was not judged: the model could not be asked.</p>` : null}
          <ul>
            ${check.violations.map((violation) => html`<li dir="auto">${violation}</li>`)}
          </ul>
        </li>`,
      )}
    <//>
  </section>`;
}

function storedName() {
  try {
    return localStorage.getItem(NAME) || "";
  } catch {
    return "";
  }
}

function storeName(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // Storage is off: the name holds until the page is closed.
  }
}

/** Do something again and again while the tab is in sight. */
function useEvery(milliseconds, act) {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
