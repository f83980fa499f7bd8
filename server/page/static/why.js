// The reasons of a turn: one sentence, what was considered, and what ran, with times and tokens.
//
//   #/s/SESSION_ID/why/VERSION    of the turn with this number; without it, of the last turn

import { html } from "./vendor/preact.js";
import { Moment, addressOf, cut } from "./parts.js";

const MOVES = {
  advanced: (event) => `${event.from_pathway} was complete, so the session continued in ${event.to_pathway}`,
  returned: (event) => `the session returned from ${event.from_pathway} to ${event.to_pathway}`,
  restarted: (event) => `the session started again at ${event.to_pathway}`,
  changing: (event) => `the session went to ${event.to_pathway} to change what was done`,
  migrated: (event) => `a new version of the journey moved the session to ${event.to_pathway}`,
};
const SHORT = 90; // characters of an agent's words that are shown without opening them
const MOST_QUOTED = 600; // characters of message and reply, which the conversation shows whole
const MOST_NAMED = 3; // agents that the sentence names
const LEAST = 0.4; // width of the shortest bar, in percent
const EXPECTED = ["model_not_configured"]; // flags of a choice, and not of a failure

/** Props as of all views of a session. */
export function Why({ session, turns, path: [version = ""] }) {
  if (!turns.length) return html`<p>No turn is stored yet.</p>`;
  const last = turns.length - 1;
  const found = turns.findIndex((one) => String(one.turn.version) === version);
  const at = found < 0 ? last : found;
  const go = (place) => {
    const view = place === last ? "why" : `why/${turns[place].turn.version}`;
    location.hash = addressOf(session.session_id, view);
  };
  return html`<div class="why">
    <${Turns} turns=${turns} at=${at} onGo=${go} />
    ${version && found < 0 ? html`<p class="note">The session has no turn ${version}. This is its last one.</p>` : null}
    <${Turn} key=${turns[at].turn.version} audited=${turns[at]} />
  </div>`;
}

function Turns({ turns, at, onGo }) {
  return html`<nav class="turns" aria-label="Turns">
    <button type="button" disabled=${at === 0} onClick=${() => onGo(at - 1)}>Previous</button>
    <label class="hidden" for="why-turn">Turn</label>
    <select id="why-turn" value=${at} onChange=${(event) => onGo(Number(event.target.value))}>
      ${turns.map(
        ({ turn }, place) => html`<option key=${turn.version} value=${place} selected=${place === at}>${titleOf(turn)}</option>`,
      )}
    </select>
    <button type="button" disabled=${at === turns.length - 1} onClick=${() => onGo(at + 1)}>Next</button>
  </nav>`;
}

function titleOf(turn) {
  const text = turn.message === null ? turn.kind : cut(turn.message, 60);
  return `${turn.version} · ${text}`;
}

function Turn({ audited }) {
  const { turn, decision, events, attempts, checks, steps } = audited;
  const calls = steps.filter((step) => step.kind === "model");
  const rules = events.filter((event) => event.kind.startsWith("guideline"));
  const done = events.filter((event) => /^(effect|tool|knowledge)/.test(event.kind));
  const others = events.filter((event) => !rules.includes(event) && !done.includes(event));
  return html`<p class="because" dir="auto" aria-live="polite">${because(audited)}</p>
    <${Facts} audited=${audited} />
    ${turn.message === null ? null : html`<${Quote} who="You" text=${turn.message} />`}
    ${turn.reply ? html`<${Quote} who="Reply" text=${turn.reply} />` : null}
    <${Candidates} candidates=${decision.candidates} />
    <${List} title="Understood as" items=${decision.commands.map(commandInWords)} />
    <${Attempts} attempts=${attempts} />
    <${List} title="Rules" items=${[...rules.map(ruleInWords), ...decision.denied.map((id) => `${id}: does not hold`)]} />
    <${List} title="Tools and effects" items=${done.map(eventInWords)} />
    <${Errors} errors=${audited.errors} />
    <${List} title="Checks of the reply" items=${checks.map(checkInWords)} />
    <${Calls} calls=${calls} />
    <${Steps} steps=${steps} dropped=${audited.steps_dropped} />
    <${List} title="Moves and notes" items=${others.map(eventInWords)} />`;
}

/** Return why the turn ended as it did, in a sentence. */
export function because({ turn, decision, events, steps }) {
  const here = turn.pathway_id;
  if (turn.kind === "start") return `The session started in ${here}.`;
  if (turn.kind === "rollback") return `The session was rolled back to version ${turn.rolled_back_to}, in ${here}.`;
  if (turn.kind === "operator") return "A person has the conversation, and acted.";
  if (turn.kind === "release") return `The person gave the conversation back, so it continues in ${here}.`;
  if (turn.kind === "failure") {
    const failed = steps.length && steps[0].error ? ` (${steps[0].error})` : "";
    return `The turn failed${failed}, so the session stayed in ${here}, and the reply does not come from its agents.`;
  }
  if (turn.kind === "waiting") return `An agent in ${here} asked something and waits for the answer.`;
  if (turn.flags.includes("with_person")) return "A person has the conversation, or is called for, so the assistant was silent.";
  const fired = decision.candidates.find((one) => one.fired);
  const event = events.find((one) => one.kind === "event");
  if (event && !fired) return `The event ${event.trigger} came from outside. It triggered no transition, so the session stayed in ${here}.`;
  const timer = events.find((one) => one.kind === "timer");
  if (timer && !fired) return silence(timer, events, here);
  const move = events.find((event) => event.kind === "transition");
  const parts = [];
  if (fired) parts.push(`${reasonOf(fired)}, so the session ${wayOf(move, fired)}`);
  else if (move) parts.push(`${move.trigger} led the session from ${move.from_pathway} to ${move.to_pathway}`);
  else if (decision.commands.length) {
    parts.push(`The message was understood as: ${decision.commands.map(commandInWords).join(", ")}`);
  }
  parts.push(...events.filter((event) => MOVES[event.kind]).map((event) => MOVES[event.kind](event)));
  const answers = [...new Set(steps.filter((step) => step.kind === "agent" && step.outcome === "ok").map((step) => step.name))];
  const isMoved = fired || move || events.some((event) => MOVES[event.kind]);
  if (!isMoved) parts.push(parts.length ? `the session stayed in ${here}` : `No transition held, so the session stayed in ${here}`);
  if (answers.length) parts.push(`${inList(answers)} answered`);
  if (events.some((event) => event.kind === "escalated")) parts.push("a person was called");
  if (events.some((event) => event.kind === "journey_completed")) parts.push("the journey is complete");
  const sentence = parts.join("; ");
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function inList(names) {
  if (names.length > MOST_NAMED) return `${names.length} agents`;
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
}

function reasonOf({ intent, tier, confidence, reason }) {
  if (tier === "pattern") return `The message ${reason.replace(/^matched '(.*)'$/s, "matched the pattern “$1”")}`;
  if (tier === "condition") return `The condition “${intent}” became true`;
  if (tier === "always") return `The transition “${intent}” always holds here`;
  if (tier === "event") return `The ${intent} came from outside`;
  if (tier === "timer") return `The user sent no message, and the time “${intent}” passed`;
  if (tier === "own") return `The trigger “${intent}” held`;
  const said = tier === "cache" ? "An earlier answer of the model, for the same message," : "The model";
  return `${said} understood the message as “${intent}” (${share(confidence)})`;
}

/** Return why a timer that triggered no transition was taken. */
function silence(timer, events, here) {
  const closed = events.some((event) => event.kind === "closed");
  const what = closed ? "the session was closed" : `a reminder was due, and the session stayed in ${here}`;
  const since = timer.reason.replace(/^no message since (\S{10})T(\S{5}).*$/s, "$1 $2");
  return `The user sent no message since ${since} UTC, so ${what}.`;
}

function wayOf(move, fired) {
  if (!move || move.from_pathway === move.to_pathway) return `stayed in ${fired.pathway}`;
  return `moved from ${move.from_pathway} to ${move.to_pathway}`;
}

function Facts({ audited }) {
  const { turn, steps } = audited;
  const { model_calls: calls, input_tokens: read, output_tokens: written } = turn.usage;
  return html`<ul class="figures">
    <li><${Moment} at=${turn.at} /></li>
    ${steps.length ? html`<li>${time(steps[0].ms)}</li>` : null}
    <li>${calls ? `${count(calls, "model call")}, ${read} tokens read, ${written} written` : "no model call"}</li>
    ${turn.flags.map((flag) => html`<li class=${EXPECTED.includes(flag) ? "flag expected" : "flag"} key=${flag}>${flag}</li>`)}
  </ul>`;
}

function Quote({ who, text }) {
  return html`<div class="quote"><span class="who">${who}</span><p dir="auto">${cut(text, MOST_QUOTED)}</p></div>`;
}

function Candidates({ candidates }) {
  if (!candidates.length) return null;
  return html`<section>
    <h2>Considered</h2>
    <ul class="considered">
      ${candidates.map(
        (one) => html`<li class=${one.fired ? "fired" : ""}>
          <span class="answer">${answerOf(one)}</span>
          <span><strong dir="auto">${one.intent}</strong> → ${one.pathway}</span>
          <span class="small" dir="auto">${[one.tier && `by ${one.tier}`, sureOf(one), one.reason].filter(Boolean).join(" · ")}</span>
        </li>`,
      )}
    </ul>
  </section>`;
}

function answerOf({ fired, holds }) {
  if (fired) return "fired";
  if (holds === null) return "not judged";
  return holds ? "holds" : "no";
}

function sureOf({ tier, confidence }) {
  const isModel = ["model", "cache", "command"].includes(tier);
  return isModel && confidence !== null ? share(confidence) : "";
}

function Attempts({ attempts }) {
  if (!attempts.length) return null;
  return html`<section>
    <h2>Fields</h2>
    <table>
      <thead>
        <tr><th scope="col">Field</th><th scope="col">Value</th><th scope="col">From</th><th scope="col">Result</th></tr>
      </thead>
      <tbody>
        ${attempts.map(
          (one) => html`<tr>
            <th scope="row">${one.field}</th>
            <td dir="auto">${one.hidden ? "not shown" : valueOf(one.value)}</td>
            <td dir="auto">${one.hidden ? "not shown" : `“${one.raw}”`} <span class="small">${one.source.replace("_", " ")}</span></td>
            <td>${one.validation_status}${one.reason ? html` <span class="small" dir="auto">${one.reason}</span>` : null}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function valueOf(value) {
  if (value === null || value === undefined) return "—";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function List({ title, items }) {
  if (!items.length) return null;
  return html`<section>
    <h2>${title}</h2>
    <ul class="plain">
      ${items.map((item) => html`<li dir="auto">${item}</li>`)}
    </ul>
  </section>`;
}

/** The tracebacks of a turn, which a server under development has. */
function Errors({ errors }) {
  if (!errors.length) return null;
  return html`<section>
    <h2>Errors</h2>
    ${errors.map((error) => html`<pre class="error" dir="ltr" tabindex="0">${error}</pre>`)}
  </section>`;
}

function commandInWords({ command, about, confidence }) {
  const sure = confidence < 1 ? ` (${share(confidence)})` : "";
  return `${command.replace("_", " ")}${about ? ` ${about}` : ""}${sure}`;
}

function ruleInWords(event) {
  const held = event.kind === "guideline" ? "holds" : event.kind.replace("guideline_", "").replace("_", " ");
  const sure = event.confidence !== null && event.confidence < 1 ? ` (${share(event.confidence)})` : "";
  return `${event.trigger || ""}: ${held}${sure}${event.reason ? `, ${event.reason}` : ""}`;
}

function checkInWords(check) {
  const parts = [check.outcome, check.is_valid ? "valid" : "invalid", ...check.violations];
  if (check.confidence !== null) parts.push(share(check.confidence));
  if (check.bypassed) parts.push("no model was able to check it");
  if (check.review) parts.push("needs a review");
  return [...parts, time(check.latency_ms)].join(" · ");
}

function eventInWords(event) {
  const way = event.to_pathway ? `${event.from_pathway} → ${event.to_pathway}` : "";
  const sure = event.confidence === null ? "" : share(event.confidence);
  const about = [way, event.trigger, event.reason, sure].filter(Boolean).join(" · ");
  return `${event.kind.replaceAll("_", " ")}${about ? `: ${about}` : ""}`;
}

function Calls({ calls }) {
  if (!calls.length) return null;
  return html`<section>
    <h2>Model calls</h2>
    <table class="calls">
      <thead>
        <tr>
          <th scope="col">Purpose</th>
          <th scope="col" class="number">Read</th>
          <th scope="col" class="number">Written</th>
          <th scope="col" class="number">Time</th>
        </tr>
      </thead>
      <tbody>
        ${calls.map(
          (call) => html`<tr>
            <th scope="row">
              ${call.purpose}${call.attempt > 1 ? `, try ${call.attempt}` : ""} <span class="small">${call.name}</span>
              ${call.outcome === "ok" ? null : html` <strong class="fault">${endOf(call)}</strong>`}
            </th>
            <td class="number">${number(call.input_tokens)}${call.cached_tokens ? html` <span class="small">${call.cached_tokens} cached</span>` : null}</td>
            <td class="number">${number(call.output_tokens)}</td>
            <td class="number">${time(call.ms)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function number(value) {
  return value === null ? "—" : String(value);
}

function endOf({ outcome, error }) {
  return error ? `${outcome}: ${error}` : outcome;
}

function Steps({ steps, dropped }) {
  const [first, ...rest] = steps;
  return html`<section>
    <h2 id="why-steps">Steps</h2>
    ${first
      ? html`<${Branch} of=${first} all=${rest} whole=${first} depth=${0} label="why-steps" />`
      : html`<p>No steps are stored of this version.</p>`}
    ${dropped ? html`<p class="note">${count(dropped, "more step")} of this turn were not stored.</p>` : null}
  </section>`;
}

/** The steps within a step, as a list. */
function Branch({ of, all, whole, depth, label }) {
  const within = all.filter((step) => step.parent === of.number);
  if (!within.length) return null;
  return html`<ul class="steps" aria-labelledby=${label}>
    ${within.map(
      (step) => html`<li key=${step.number}>
        <${Step} step=${step} whole=${whole} depth=${depth} />
        <${Branch} of=${step} all=${all} whole=${whole} depth=${depth + 1} />
      </li>`,
    )}
  </ul>`;
}

function Step({ step, whole, depth }) {
  const left = (100 * step.start_ms) / whole.ms;
  const width = Math.max((100 * step.ms) / whole.ms, LEAST);
  const place = { left: `${Math.min(left, 100 - LEAST)}%`, width: `${Math.min(width, 100 - Math.min(left, 100 - LEAST))}%` };
  const about = [step.pattern, step.status, step.purpose].filter(Boolean).join(" · ");
  return html`<div class="step">
      <span class="what" style=${{ paddingInlineStart: `${Math.min(depth, 8) * 0.9}rem` }}>
        <span class="kind">${step.kind}</span> ${step.name}
        ${about ? html` <span class="small">${about}</span>` : null}
        ${step.outcome === "ok" ? null : html` <strong class="fault">${endOf(step)}</strong>`}
      </span>
      <span class="track" aria-hidden="true"><span class=${`bar ${step.kind}`} style=${place}></span></span>
      <span class="took">${time(step.ms)}<span class="hidden">, from ${time(step.start_ms)} on</span></span>
    </div>
    ${step.words ? html`<${Words} step=${step} depth=${depth} />` : null}`;
}

function Words({ step, depth }) {
  const indent = { marginInlineStart: `${Math.min(depth, 8) * 0.9 + 0.9}rem` };
  return html`<details class="said" style=${indent}>
    <summary dir="auto">“${cut(step.words, SHORT)}”</summary>
    <p dir="auto">${step.words}${step.cut ? "…" : ""}</p>
    ${step.cut ? html`<p class="small">Only the beginning is stored.</p>` : null}
  </details>`;
}

function share(value) {
  return value === null ? "" : `${Math.round(value * 100)} % sure`;
}

function count(value, noun) {
  return `${value} ${noun}${value === 1 ? "" : "s"}`;
}

function time(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(2)} ms`;
}
