// Small parts that several views share.

import { html } from "./vendor/preact.js";

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

/** An error with its way out. Props: `problem`, a Problem; `onRetry`; `children`: more buttons. */
export function Failure({ problem, onRetry, children }) {
  return html`<div class="failure" role="alert">
    <strong dir="auto">${problem.title}</strong>
    <p dir="auto">${problem.detail}</p>
    ${problem.faults.length
      ? html`<ul>
          ${problem.faults.map((fault) => html`<li dir="auto">${fault.text}</li>`)}
        </ul>`
      : null}
    ${problem.requestId ? html`<p class="small">Request ${problem.requestId}</p>` : null}
    <div class="buttons">
      ${onRetry ? html`<button type="button" onClick=${onRetry}>Try again</button>` : null}
      ${children}
    </div>
  </div>`;
}

/** A time as the reader writes it, with the whole time as its title. */
export function Moment({ at }) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return null;
  const day = moment.toDateString() === new Date().toDateString();
  const form = day ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  return html`<time datetime=${at} title=${moment.toLocaleString()}>${moment.toLocaleString([], form)}</time>`;
}
