// The sessions of the server: search by state, and open one.
//
//   #/sessions/JOURNEY/STATUS/PATHWAY    each part may be empty

import { html, useEffect, useState } from "./vendor/preact.js";
import { List, Select, useList } from "./lists.js";
import { Moment, addressOf, shortVersion } from "./parts.js";

const STATUSES = [
  ["", "all but expired"],
  ["active", "active"],
  ["complete", "complete"],
  ["closed", "closed"],
  ["expired", "expired"],
];

/** The sessions. Props: `api`; `path`: journey, status and pathway of those to list. */
export function SessionList({ api, path }) {
  const [journey = "", status = "", pathway = ""] = path;
  const journeys = useOptions(api, "journeys", (found) => found.journeys.map((one) => one.journey_id));
  const pathways = useOptions(api, journey && `journeys/${encodeURIComponent(journey)}`, (found) =>
    found.pathways.map((one) => one.pathway_id),
  );
  const list = useList(api, "sessions", "sessions", { journey_id: journey, status, pathway_id: pathway });
  const choose = (...parts) => {
    location.hash = `#/sessions/${parts.map(encodeURIComponent).join("/")}`;
  };
  return html`<div class="page">
    <h1>Sessions</h1>
    <div class="filters">
      <${Select} label="Journey" value=${journey} options=${journeys} onChange=${(one) => choose(one, status, "")} />
      <${Select} label="Status" value=${status} options=${STATUSES} onChange=${(one) => choose(journey, one, pathway)} />
      ${journey
        ? html`<${Select} label="Pathway" value=${pathway} options=${pathways} onChange=${(one) => choose(journey, status, one)} />`
        : null}
      <${OpenById} />
    </div>
    <${List} list=${list} name="Sessions" empty="There is no such session.">
      ${list.entries.map(
        (one) => html`<li key=${one.session_id}>
          <a class="item" href=${addressOf(one.session_id)}>
            <strong>${one.session_id}</strong> <span class=${`tag ${one.status}`}>${one.status}</span>
            <${Moment} at=${one.updated_at} />
            <span class="small">${one.journey_id}, ${one.pathway_id}, version ${one.version}</span>
            <span class="small">version ${shortVersion(one.journey_version)} of the journey</span>
          </a>
        </li>`,
      )}
    <//>
  </div>`;
}

function OpenById() {
  const [id, setId] = useState("");
  const open = (event) => {
    event.preventDefault();
    if (id.trim()) location.hash = addressOf(id.trim());
  };
  return html`<form class="filter" onSubmit=${open}>
    <label for="by-id">Session id</label>
    <span class="row">
      <input id="by-id" autocomplete="off" value=${id} onInput=${(event) => setId(event.target.value)} />
      <button disabled=${!id.trim()}>Open</button>
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
