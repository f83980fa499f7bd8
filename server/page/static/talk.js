// The conversation of a session: what was said, and the field for the next message.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";

const NAMES = { user: "You", assistant: "Assistant", operator: "Person" };

/** The conversation. Props: `open`, the OpenSession; `state`, its state. */
export function Talk({ open, state }) {
  const { session, entries, pending, live, problem, asked } = state;
  const end = useRef(null);
  const words = (live || []).map((event) => (event.type === "token" ? event.data.text : "")).join("");
  useEffect(() => end.current.scrollIntoView({ block: "end" }), [entries.length, pending, words]);
  return html`<section class="talk" aria-label="Conversation">
    <ol class="messages" aria-live="polite" tabindex="0" aria-label="Messages">
      ${session && session.greeting && !entries.length
        ? html`<${Message} role="assistant" text=${session.greeting} />`
        : null}
      ${entries.map(
        (entry, place) => html`<${Message} key=${place} role=${entry.role} text=${entry.content} />`,
      )}
      ${pending ? html`<${Message} key="pending" role="user" text=${pending.text} />` : null}
      ${live ? html`<${Message} key="live" role="assistant" text=${words || "…"} />` : null}
    </ol>
    <div ref=${end}></div>
    ${problem ? html`<${Failure} problem=${problem} onRetry=${() => open.retry()} />` : null}
    <${Options} asked=${live ? null : asked} onChoose=${(one) => open.say(one.payload, one.label)} />
    <${Composer} isBusy=${Boolean(live)} hint=${asked ? asked.hint : ""} onSay=${(text) => open.say(text)} />
  </section>`;
}

function Message({ role, text }) {
  return html`<li class=${`message ${role}`}>
    <span class="who">${NAMES[role] || role}</span>
    <p class="words" dir="auto">${text}</p>
  </li>`;
}

function Failure({ problem, onRetry }) {
  return html`<div class="failure" role="alert">
    <strong>${problem.title}</strong>
    <p>${problem.detail}</p>
    ${problem.faults.map((fault) => html`<p>${fault.text}</p>`)}
    <button type="button" onClick=${onRetry}>Try again</button>
  </div>`;
}

function Options({ asked, onChoose }) {
  if (!asked || !asked.options.length) return null;
  return html`<ul class="options" aria-label="Answers">
    ${asked.options.map(
      (one) =>
        html`<li key=${one.payload}>
          <button type="button" dir="auto" onClick=${() => onChoose(one)}>${one.label}</button>
        </li>`,
    )}
  </ul>`;
}

function Composer({ isBusy, hint, onSay }) {
  const [text, setText] = useState("");
  const say = () => {
    if (isBusy || !text.trim()) return;
    onSay(text);
    setText("");
  };
  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    say();
  };
  return html`<div class="composer">
    <label class="hidden" for="message">Message</label>
    <textarea
      id="message"
      rows="2"
      dir="auto"
      value=${text}
      placeholder=${hint || "Write a message"}
      onInput=${(event) => setText(event.target.value)}
      onKeyDown=${onKeyDown}
    ></textarea>
    <button type="button" class="main" disabled=${isBusy || !text.trim()} onClick=${say}>Send</button>
  </div>`;
}
