// Small parts that several views share.

import { html, useErrorBoundary } from "./vendor/preact.js";

/** Return the address of a session, or of a view of it. */
export function addressOf(session, view = "") {
  return `#/s/${encodeURIComponent(session)}${view ? `/${view}` : ""}`;
}

/** Return an identifier in plain words: "HealthcareReferral" and "healthcare_referral" alike. */
export function inWords(name) {
  if (!/^\w+$/.test(name)) return name;
  const apart = name.replace(/_+/g, " ").replace(/([a-z0-9])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return apart.trim() || name;
}

/** Return an id as it is shown: one that was made by a machine by its first characters. */
export function shortId(id) {
  return /^[0-9a-f]{8}-?[0-9a-f-]{20,}$/i.test(id) ? id.slice(0, 8) : cut(id, 24);
}

/** Return the version of a journey as it is shown: a hash by its first characters. */
export function shortVersion(version) {
  return /^[0-9a-f]{64}/.test(version) ? version.slice(0, 12) : version;
}

/** Return the beginning of a text, without half a character at its end. */
export function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** An error with its way out. Props: `problem`, any Error; `onRetry`; `children`: more buttons. */
export function Failure({ problem, onRetry, children }) {
  const { title = "Error in this page", detail = problem.message, faults = [], requestId } = problem;
  return html`<div class="failure" role="alert">
    <strong dir="auto">${title}</strong>
    <p dir="auto">${detail}</p>
    ${faults.length
      ? html`<ul>
          ${faults.map((fault) => html`<li dir="auto">${faultInWords(fault)}</li>`)}
        </ul>`
      : null}
    ${requestId ? html`<p class="small">Request ${requestId}</p>` : null}
    <div class="buttons">
      ${onRetry ? html`<button type="button" onClick=${onRetry}>Try again</button>` : null}
      ${children}
    </div>
  </div>`;
}

/** Return a fault as a sentence: one of a request by the name of its field. */
function faultInWords({ text, message, remedy, path = [] }) {
  if (path[0] !== "body" || path.length < 2) return text;
  const name = inWords(String(path[1]));
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${remedy || message}`;
}

/** A part of the page whose errors leave the other parts alone. */
export function Guarded({ children }) {
  const [error, reset] = useErrorBoundary();
  return error ? html`<${Failure} problem=${error} onRetry=${reset} />` : children;
}

/** A time as the reader writes it, with the whole time as its title. */
export function Moment({ at }) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return null;
  const day = moment.toDateString() === new Date().toDateString();
  const form = day ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  return html`<time datetime=${at} title=${moment.toLocaleString()}>${moment.toLocaleString([], form)}</time>`;
}
