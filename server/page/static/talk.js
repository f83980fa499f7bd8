// The conversation of a session: its messages, and the field for the next one.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { Markdown } from "./markdown.js";
import { Failure, Moment, addressOf, inWords, shortVersion } from "./parts.js";

const NAMES = { user: "You", assistant: "Assistant", operator: "Person" };
const LONG_HINT = 28; // characters; a longer one does not fit into the field on a narrow screen
const NEAR_END = 80; // pixels from the end within which new messages scroll into view
const PHASES = {
  greeting: "Not begun",
  collecting: "In progress",
  escalated: "With a person",
  completed: "Complete",
};

/** The conversation. Props: `open`, an OpenSession; `onNew` begins another one, for a page of its own. */
export function Talk({ open, onNew }) {
  const { session, journey, entries, pending, live, isLost, isAway, problem } = open.state;
  const field = useRef(null);
  const waiting = session && !live ? session.waiting : [];
  const asked = session && !live && !pending && !waiting.length ? session.asked : null;
  const focus = () => {
    if (field.current && matchMedia("(pointer: fine)").matches) field.current.focus();
  };
  useEffect(focus, [open]);
  const choose = (option) => {
    focus();
    open.say(option.payload);
  };
  const answer = (value, shown) => {
    focus();
    open.resume(value, shown);
  };
  const write = (text) => {
    field.current.write(text);
    focus();
  };
  const takeBack = () => {
    const taken = open.takeBack(); // before the draft, which was written since then
    write([taken, open.draft].filter(Boolean).join("\n"));
  };
  const isBegun = Boolean(pending) || entries.some((entry) => entry.role === "user");
  const examples = session && journey && !isBegun ? journey.examples : [];
  const back = html`<button type="button" onClick=${takeBack}>Take the message back</button>`;
  return html`<section class="talk" aria-label="Conversation">
    ${session ? html`<${Status} session=${session} journey=${journey} />` : null}
    <${Messages} ...${{ session, entries, pending, live }} hasWhy=${!open.isTalk} onStop=${isLost ? null : () => open.stopReading()} />
    <${Announcer} session=${session} entries=${entries} />
    ${isLost
      ? html`<div class="note" role="status">
          <p>
            ${isAway
              ? "The server does not answer. Trying again… If the message arrived, its reply appears here later."
              : "The reply is not here yet. If the message arrived, its turn runs on in the server. Looking for it…"}
          </p>
          ${back}
        </div>`
      : null}
    ${problem
      ? html`<${Failure} problem=${problem} onRetry=${pending && !problem.isGone ? () => open.retry() : null}>
          ${pending ? back : null}${problem.isGone ? html` <${Another} onNew=${onNew} />` : null}
        <//>`
      : null}
    ${waiting.map((ask) => html`<${Waiting} key=${ask.id} ask=${ask} isOne=${waiting.length === 1} onAnswer=${answer} />`)}
    ${asked && asked.options.length ? html`<${Options} asked=${asked} onChoose=${choose} />` : null}
    ${examples.length ? html`<${Examples} examples=${examples} onChoose=${write} />` : null}
    <${Composer}
      open=${open}
      field=${field}
      isBusy=${Boolean(live || pending)}
      hint=${asked && !asked.options.length ? asked.hint : ""}
    />
  </section>`;
}

function Another({ onNew }) {
  if (!onNew) return html`<a href="#/">Start another session</a>`;
  return html`<button type="button" onClick=${onNew}>Start another conversation</button>`;
}

function Status({ session, journey }) {
  const stack = [...session.pathway_stack].reverse();
  return html`<div class="status">
    <h1 dir="auto">${inWords(journey ? journey.name : session.journey_id)}</h1>
    <span class=${`phase ${session.phase}`}>${PHASES[session.phase] || session.phase}</span>
    <span class="small" dir="auto">
      ${inWords(session.pathway_id)}${stack.length ? `, then back to ${stack.map(inWords).join(", ")}` : ""}
    </span>
    <span class="small">version ${shortVersion(session.journey_version)} of the journey</span>
    ${session.phase === "escalated"
      ? html`<p class="note">A person has this conversation, or is called for. The assistant is silent.</p>`
      : null}
  </div>`;
}

function Messages({ session, entries, pending, live, hasWhy, onStop }) {
  const list = useRef(null);
  const isAtEnd = useRef(true);
  const words = useMemo(() => spoken(live), [live]);
  useLayoutEffect(() => {
    if (isAtEnd.current) list.current.scrollTop = list.current.scrollHeight;
  }, [entries, pending, words]);
  useEffect(() => {
    const scroll = () => {
      if (isAtEnd.current) list.current.scrollTop = list.current.scrollHeight;
    };
    const resized = new ResizeObserver(scroll); // options or an error below take some of its room
    resized.observe(list.current);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    isAtEnd.current = true;
    list.current.scrollTop = list.current.scrollHeight;
  }, [pending]);
  const onScroll = () => {
    const { scrollHeight, scrollTop, clientHeight } = list.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
  };
  // Drawn once per change of what is stored, and not for each word of a stream.
  const stored = useMemo(() => {
    const why = (entry) => (hasWhy && !entry.isLocal ? addressOf(session.session_id, `why/${entry.turn}`) : "");
    const gone = takenBack(entries);
    return entries.map(
      (entry, place) => html`<${Message} key=${place} ...${entry} why=${why(entry)} isGone=${gone.has(entry.turn)} />`,
    );
  }, [entries, hasWhy]);
  return html`<ol class="messages" ref=${list} onScroll=${onScroll} tabindex="0" aria-label="Messages" aria-busy=${Boolean(live)}>
    ${session && !entries.length && !pending
      ? html`<li key="empty" class="empty">Nothing was said yet. Write the first message.</li>`
      : null}
    ${stored}
    ${pending ? html`<${Message} key="pending" role="user" content=${pending.text} />` : null}
    ${live ? html`<${Message} key="live" role="assistant" content=${words} isTyping onStop=${onStop} />` : null}
  </ol>`;
}

/** Return the turns that do not count any more since a later rollback. */
export function takenBack(entries) {
  const backs = new Map(entries.filter((one) => one.role === "rollback").map((one) => [one.turn, one.rolled_back_to]));
  const turns = new Set(entries.map((one) => one.turn));
  for (let turn = Math.max(0, ...turns); turn > 0; turn = backs.has(turn) ? backs.get(turn) : turn - 1) turns.delete(turn);
  return turns;
}

/** Return the words of a running turn so far. */
function spoken(live) {
  return (live || []).map((event) => (event.type === "token" ? event.data.text : "")).join("");
}

/** A message. `name` replaces the name of who wrote it; a click on it leads to `why`. */
export function Message({ role, content, timestamp, name = NAMES[role] || role, why, isTyping, isLocal, isGone, onStop }) {
  const gone = isGone ? " gone" : "";
  if (role === "rollback") return html`<li class=${`divider${gone}`}>${content}</li>`;
  const follow = (event) => {
    const isOther = event.target.closest("a, button") || !getSelection().isCollapsed;
    if (why && !isOther) location.hash = why;
  };
  return html`<li class=${`message ${role}${gone}${why ? " has-why" : ""}`} onClick=${follow}>
    <span class="who">
      ${name} ${timestamp ? html`<${Moment} at=${timestamp} />` : null}${isLocal ? " (not stored)" : ""}${isGone ? " (taken back)" : ""}
      ${why ? html` <a href=${why}>Why?</a>` : null}
      ${onStop ? html`<button type="button" class="stop" onClick=${onStop}>Stop reading</button>` : null}
    </span>
    ${role === "user"
      ? html`<div class="words" dir="auto">${content}</div>`
      : html`<${Markdown} text=${content}>
          ${isTyping
            ? html`<span class="typing" role="img" aria-label="The assistant is writing"><i></i><i></i><i></i></span>`
            : null}
        <//>`}
  </li>`;
}

/** Say the last reply to screen readers, once and as a whole. */
function Announcer({ session, entries }) {
  const known = useRef(null); // how many there were when the session was opened
  if (known.current === null && session) known.current = entries.length;
  const last = entries[entries.length - 1];
  const isNew = last && NAMES[last.role] && last.role !== "user" && entries.length > known.current;
  return html`<p class="hidden" aria-live="polite">${isNew ? `${NAMES[last.role]}: ${last.content}` : ""}</p>`;
}

function Options({ asked, onChoose }) {
  return html`<ul class="options" aria-label=${asked.label ? `Answers: ${asked.label}` : "Answers"}>
    ${asked.options.map(
      (one) =>
        html`<li key=${one.payload}>
          <button type="button" dir="auto" onClick=${() => onChoose(one)}>${one.label}</button>
        </li>`,
    )}
  </ul>`;
}

/** Sentences to begin with; a click writes one into the field. */
function Examples({ examples, onChoose }) {
  return html`<ul class="options examples" aria-label="Examples">
    ${examples.map(
      (text) =>
        html`<li key=${text}>
          <button type="button" dir="auto" onClick=${() => onChoose(text)}>${text}</button>
        </li>`,
    )}
  </ul>`;
}

/** The question of an agent that waits for an answer of any kind. */
function Waiting({ ask, isOne, onAnswer }) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const id = `answer-${ask.id}`;
  const send = (value, shown) => onAnswer(isOne ? value : { [ask.id]: value }, shown);
  const answer = (event) => {
    event.preventDefault();
    try {
      send(JSON.parse(text), text);
    } catch {
      setFault('This is not JSON. Examples: true, 7, "text", {"card": 7}.');
    }
  };
  return html`<form class="waiting" onSubmit=${answer}>
    <p dir="auto">
      <strong>${ask.agent || ask.pathway}</strong> asks:${" "}
      ${typeof ask.value === "string" ? ask.value : html`<code>${JSON.stringify(ask.value)}</code>`}
    </p>
    <div class="buttons">
      ${choicesOf(ask.schema).map(
        ([value, label]) =>
          html`<button type="button" key=${label} dir="auto" onClick=${() => send(value, label)}>${label}</button>`,
      )}
      <label class="hidden" for=${id}>Answer as JSON</label>
      <input
        id=${id}
        value=${text}
        placeholder="an answer as JSON, or write a message below"
        autocomplete="off"
        aria-describedby=${fault ? `${id}-fault` : null}
        onInput=${(event) => setText(event.target.value)}
      />
      <button disabled=${!text.trim()}>Answer</button>
    </div>
    ${fault ? html`<p class="fault" id=${`${id}-fault`} role="alert">${fault}</p>` : null}
  </form>`;
}

/** Return the answers that fit a schema, as [value, label]: those of an enum, else yes and no. */
function choicesOf(schema) {
  if (!schema || schema.type === "boolean") return [[true, "Yes"], [false, "No"]];
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  return values.map((value) => [value, typeof value === "string" ? value : JSON.stringify(value)]);
}

function Composer({ open, field, isBusy, hint }) {
  const [text, setText] = useState(open.draft);
  const write = (value) => {
    open.draft = value;
    setText(value);
  };
  useEffect(() => setText(open.draft), [open]);
  useEffect(() => {
    field.current.write = write;
  }, [open]);
  const say = () => {
    if (isBusy || !text.trim()) return;
    open.say(text);
    write("");
  };
  const onKeyDown = (event) => {
    // While letters are composed (IME), Enter chooses among them; 229 is how some browsers say it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    say();
  };
  const isLong = hint.length > LONG_HINT;
  return html`<div class="composer">
    <label class="hidden" for="message">Message</label>
    ${isLong ? html`<p id="hint" class="small" dir="auto">${hint}</p>` : null}
    <textarea
      id="message"
      ref=${field}
      rows="1"
      dir="auto"
      value=${text}
      placeholder=${isLong ? "Write a message" : hint || "Write a message"}
      enterkeyhint="send"
      aria-describedby=${isLong ? "hint keys" : "keys"}
      onInput=${(event) => write(event.target.value)}
      onKeyDown=${onKeyDown}
    ></textarea>
    <button type="button" class="main" disabled=${isBusy || !text.trim()} onClick=${say}>Send</button>
    <span id="keys" class="hidden">Enter sends, Shift and Enter begin a new line.</span>
  </div>`;
}
