// Lists that are read page by page, and their filters.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { Failure } from "./parts.js";

const NONE = { entries: [], pages: 0, more: null, problem: null };

/**
 * Return a list that is read page by page: its `entries`, the number of `pages` read, `more` (the
 * next cursor), `problem`, and the functions `refresh` and `next`. Another query begins it anew.
 */
export function useList(api, path, name, query) {
  const [state, setState] = useState(NONE);
  const asked = JSON.stringify(query);
  const latest = useRef(asked);
  latest.current = asked;
  const read = async (cursor, before) => {
    const change = (made) => latest.current === asked && setState(made);
    try {
      const page = await api.get(path, { ...query, cursor });
      const entries = [...before.entries, ...page[name]];
      change({ entries, pages: before.pages + 1, more: page.next_cursor, problem: null });
    } catch (problem) {
      change((now) => ({ ...now, problem }));
    }
  };
  const refresh = () => read(null, NONE);
  useEffect(() => void refresh(), [api, path, asked]);
  return { ...state, refresh, next: () => read(state.more, state) };
}

/** A list of `useList` with its entries as children. Props: `list`, `name`, `empty`, `children`. */
export function List({ list, name, empty, children }) {
  return html`${list.problem ? html`<${Failure} problem=${list.problem} onRetry=${list.refresh} />` : null}
    ${list.pages && !list.entries.length && !list.problem ? html`<p role="status">${empty}</p>` : null}
    <ol class="items" aria-label=${name}>
      ${children}
    </ol>
    <p class="row">
      <button type="button" onClick=${list.refresh}>Refresh</button>
      ${list.more ? html`<button type="button" onClick=${list.next}>More</button>` : null}
    </p>`;
}

/** A choice with its label. `options` are pairs of a value and its text. */
export function Select({ label, value, options, onChange }) {
  const id = `filter-${label}`;
  return html`<div class="filter">
    <label for=${id}>${label}</label>
    <select id=${id} value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([one, text]) => html`<option key=${one} value=${one}>${text}</option>`)}
    </select>
  </div>`;
}
