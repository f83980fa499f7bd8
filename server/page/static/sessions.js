// The sessions of the server: search by state and by text, and open one.
//
//   #/sessions/JOURNEY/STATUS/PATHWAY/TEXT    each part may be empty

import { html, useEffect, useState } from "./vendor/preact.js";
import { List, Select, useList } from "./lists.js";
import { Moment, addressOf, inWords, shortId, shortVersion } from "./parts.js";

const STATUSES = [
  ["", "all but expired"],
  ["active", "active"],
  ["complete", "complete"],
  ["closed", "closed"],
  ["expired", "expired"],
];

/** The sessions. Props: `api`; `path`: journey, status, pathway and text of those to list. */
export function SessionList({ api, path }) {
  const [journey = "", status = "", pathway = "", text = ""] = path;
  const journeys = useOptions(api, "journeys", (found) => found.journeys.map((one) => one.journey_id));
  const pathways = useOptions(api, journey && `journeys/${encodeURIComponent(journey)}`, (found) =>
    found.pathways.map((one) => one.pathway_id),
  );
  const list = useList(api, "sessions", "sessions", { journey_id: journey, status, pathway_id: pathway, text });
  const choose = (changed) => {
    const chosen = { journey, status, pathway, text, ...changed };
    const parts = [chosen.journey, chosen.status, chosen.pathway, chosen.text];
    location.hash = `#/sessions/${parts.map(encodeURIComponent).join("/")}`;
  };
  return html`<div class="page">
    <h1>Sessions</h1>
    <div class="filters">
      <${Select} label="Journey" value=${journey} options=${journeys} onChange=${(journey) => choose({ journey, pathway: "" })} />
      <${Select} label="Status" value=${status} options=${STATUSES} onChange=${(status) => choose({ status })} />
      ${journey
        ? html`<${Select} label="Pathway" value=${pathway} options=${pathways} onChange=${(pathway) => choose({ pathway })} />`
        : null}
      <${Search} key=${text} text=${text} onSearch=${(text) => choose({ text })} />
    </div>
    <${List} list=${list} name="Sessions" empty="There is no such session.">
      ${list.entries.map(
        (one) => html`<li key=${one.session_id}>
          <a class="item" href=${addressOf(one.session_id)}>
            <strong class="last" dir="auto">${one.last_message || "No message yet"}</strong>
            <span class=${`tag ${one.status}`}>${one.status}</span>
            <${Moment} at=${one.updated_at} />
            <span class="small">
              <bdi title=${one.session_id}>${shortId(one.session_id)}</bdi>, ${inWords(one.journey_id)}, in ${inWords(one.pathway_id)},
              version ${one.version}
            </span>
            <span class="small">version ${shortVersion(one.journey_version)} of the journey</span>
          </a>
        </li>`,
      )}
    <//>
  </div>`;
}

function Search({ text, onSearch }) {
  const [wanted, setWanted] = useState(text);
  const search = (event) => {
    event.preventDefault();
    onSearch(wanted.trim());
  };
  return html`<form class="filter" role="search" onSubmit=${search}>
    <label for="text">Words of a message, or an id</label>
    <span class="row">
      <input id="text" type="search" maxlength="200" autocomplete="off" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
      <button>Search</button>
    </span>
  </form>`;
}

/** Return the options of a choice, read from a resource; the first of them is all. */
function useOptions(api, path, namesIn) {
  const [names, setNames] = useState([]);
  useEffect(() => {
    setNames([]);
    // A list that cannot be read says so itself.
    if (path) api.get(path).then((found) => setNames(namesIn(found)), () => {});
  }, [api, path]);
  return [["", "all"], ...names.map((name) => [name, name])];
}
