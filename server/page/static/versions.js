// The versions of a session: what was said, the state there, and the way back.

import { html, useEffect, useState } from "./vendor/preact.js";
import { Problem } from "./api.js";
import { Failure, Moment, addressOf, cut, inWords } from "./parts.js";

const KINDS = {
  start: "Start",
  turn: "Turn",
  failure: "Failed turn",
  waiting: "Turn that waits for an answer",
  rollback: "Rollback",
  operator: "Turn of a person",
  release: "Given back to the assistant",
};
const LONG = 300; // characters of a value that are shown at once
const MANY = 60; // names that are shown at once

/** The versions view. Props: those of a view of a session. */
export function Versions({ api, session, turns, live, onChange }) {
  const head = session.version;
  const path = `sessions/${encodeURIComponent(session.session_id)}`;
  const [chosen, setChosen] = useState(null); // null: the newest
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState(null);
  const version = chosen === null ? head : Math.min(chosen, head);
  const found = useVersion(api, path, version);
  const choose = (number) => {
    setChosen(number >= head ? null : Math.max(number, 0));
    setNote("");
    setProblem(null);
  };
  /** Do something with the version; `act` returns what is told of it. */
  const run = async (act) => {
    setProblem(null);
    setNote("");
    try {
      setNote(await act());
    } catch (error) {
      const isPruned = error.code === "version_not_found";
      setProblem(isPruned ? { error: pruned() } : { error, again: () => run(act) });
    }
  };
  const rollBack = () =>
    run(async () => {
      const back = await api.post(`${path}/rollback`, { version });
      await onChange();
      setChosen(null);
      focusSlider(); // the button is off now
      return `Version ${back.version} is now as version ${version} was.`;
    });
  const fork = () =>
    run(async () => {
      const begun = await api.post(`${path}/fork`, { version });
      await onChange(); // this session names its forks
      location.hash = addressOf(begun.session_id, "versions");
      return `The fork is session ${begun.session_id}.`;
    });
  const save = () =>
    run(async () => {
      const text = await api.text(`${path}/recording`, "application/yaml", undefined, "POST");
      const name = `${session.session_id.replace(/[^\w.@+-]/g, "_")}.conversation.yaml`;
      download(name, text);
      return `Saved as ${name}. Run it with: journeygraph test ${name}`;
    });
  const origin = originOf(turns, version);
  const isHead = version === head;
  return html`<div class="versions">
    <${Slider} head=${head} version=${version} turn=${turnOf(turns, version)} onChoose=${choose} />
    <div class="buttons">
      <button type="button" disabled=${isHead || origin || live} onClick=${rollBack}>Roll back to this version</button>
      <button type="button" disabled=${origin || live} onClick=${fork}>Fork from here</button>
      <button type="button" disabled=${live} onClick=${save}>Save the session as a test</button>
    </div>
    <p class="done" role="status">${note}</p>
    ${problem ? html`<${Failure} problem=${problem.error} onRetry=${problem.again} />` : null}
    ${origin
      ? html`<p class="from">
          This version is from before the fork. Its state is in session${" "}
          <a href=${addressOf(origin, "versions")}><bdi>${origin}</bdi></a>.
        </p>`
      : null}
    <${Forks} events=${eventsOf(turns, version)} />
    <${Words} turn=${turnOf(turns, version)} />
    ${found.problem ? html`<${Failure} problem=${found.problem} onRetry=${found.again} />` : null}
    ${found.state ? html`<${State} key=${found.state.turn.version} state=${found.state} />` : null}
  </div>`;
}

/** Return the state at a version, which is read again if the version changes. */
function useVersion(api, path, version) {
  const [found, setFound] = useState({ state: null, problem: null });
  const [times, setTimes] = useState(0);
  useEffect(() => {
    const reading = new AbortController();
    api.get(`${path}/versions/${version}`, {}, reading.signal).then(
      (state) => setFound({ state, problem: null }),
      (problem) => problem.name !== "AbortError" && setFound({ state: null, problem }),
    );
    return () => reading.abort();
  }, [api, path, version, times]);
  return { ...found, again: () => setTimes(times + 1) };
}

function turnOf(turns, version) {
  const found = turns.find((one) => one.turn.version === version);
  return found ? found.turn : null;
}

function eventsOf(turns, version) {
  const found = turns.find((one) => one.turn.version === version);
  return found ? found.events : [];
}

/** Return the session that has the state of a version from before a fork; null for any other. */
function originOf(turns, version) {
  for (const { turn, events } of turns) {
    const from = turn.version > version && events.find((event) => event.kind === "forked_from");
    if (from) return from.trigger;
  }
  return null;
}

function pruned() {
  return new Problem({
    title: "The state of this version is not kept",
    detail: "It can be read here, but the session cannot go back to it. The setting keep_versions is the number of versions that are kept.",
  });
}

function focusSlider() {
  document.getElementById("version").focus();
}

function Slider({ head, version, turn, onChoose }) {
  const step = (number) => {
    onChoose(number);
    if (number === 0 || number === head) focusSlider();
  };
  const kind = turn ? KINDS[turn.kind] || turn.kind : "";
  const said = turn ? `, ${kind}, in ${inWords(turn.pathway_id)}` : "";
  return html`<div class="slider">
    <label for="version">Version <strong>${version}</strong> of ${head}</label>
    <div class="row">
      <button type="button" aria-label="Version before" disabled=${version === 0} onClick=${() => step(version - 1)}>‹</button>
      <input
        id="version"
        type="range"
        min="0"
        max=${head}
        step="1"
        value=${version}
        aria-valuetext=${`Version ${version}${said}`}
        onInput=${(event) => onChoose(Number(event.target.value))}
      />
      <button type="button" aria-label="Version after" disabled=${version === head} onClick=${() => step(version + 1)}>›</button>
    </div>
    ${turn
      ? html`<p class="small">
          ${kind}${turn.rolled_back_to === null ? "" : ` to version ${turn.rolled_back_to}`}, in
          <bdi> ${inWords(turn.pathway_id)}</bdi>, <${Moment} at=${turn.at} />
        </p>`
      : null}
  </div>`;
}

function Forks({ events }) {
  const from = events.filter((event) => event.kind === "forked_from");
  const to = events.filter((event) => event.kind === "forked_to");
  const links = (found) =>
    found.map((event) => html`<li><a href=${addressOf(event.trigger, "versions")}><bdi>${event.trigger}</bdi></a></li>`);
  return [
    from.length ? html`<div class="from">This session is a fork of <ul>${links(from)}</ul></div>` : null,
    to.length ? html`<div class="from">Forks from here: <ul>${links(to)}</ul></div>` : null,
  ];
}

function Words({ turn }) {
  if (!turn || turn.rolled_back_to !== null || !(turn.message || turn.reply)) return null;
  return html`<div class="said">
    ${turn.message ? html`<p><span class="who">You</span><span class="text" dir="auto">${turn.message}</span></p>` : null}
    ${turn.reply
      ? html`<p>
          <span class="who">${turn.kind === "operator" ? "Person" : "Assistant"}</span>
          <span class="text" dir="auto">${turn.reply}</span>
        </p>`
      : null}
  </div>`;
}

function State({ state }) {
  const { context, added, changed, removed } = state;
  const count = [added, changed, removed].reduce((sum, one) => sum + Object.keys(one).length, 0);
  const before = state.turn.version - 1;
  return html`<section aria-labelledby="difference">
      <h2 id="difference">Difference to ${before < 0 ? "an empty session" : `version ${before}`}</h2>
      ${count ? null : html`<p class="small">Nothing in the context changed.</p>`}
      <${Names} of=${added} label="Added" sign="+" mark="added" />
      <${Names} of=${changed} label="Changed" sign="±" mark="changed" after=${context} />
      <${Names} of=${removed} label="Removed" sign="−" mark="removed" />
    </section>
    <section aria-labelledby="state">
      <h2 id="state">Context at version ${state.turn.version}</h2>
      ${Object.keys(context).length ? null : html`<p class="small">It is empty.</p>`}
      <${Names} of=${context} label="Context" />
    </section>`;
}

/** Names with their values. Props: `after`: the values that replaced them. */
function Names({ of, label, sign, mark, after }) {
  const [isWhole, setWhole] = useState(false);
  const names = Object.keys(of);
  if (!names.length) return null;
  const shown = isWhole ? names : names.slice(0, MANY);
  return [
    html`<dl class=${`names ${mark || ""}`} aria-label=${label}>
      ${shown.map(
        (name) =>
          html`<div key=${name}>
            <dt>${sign ? html`<span class="sign" aria-hidden="true">${sign}</span><span class="hidden">${label}: </span>` : null}<bdi>${name}</bdi></dt>
            <dd>
              ${after
                ? html`<del><${Value} value=${of[name]} /></del><span aria-hidden="true"> → </span><ins><${Value} value=${after[name]} /></ins>`
                : html`<${Value} value=${of[name]} />`}
            </dd>
          </div>`,
      )}
    </dl>`,
    shown.length < names.length
      ? html`<button type="button" onClick=${() => setWhole(true)}>Show ${names.length - shown.length} more</button>`
      : null,
  ];
}

function Value({ value }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  const flat = text.length <= 80 ? text.replace(/\s*\n\s*/g, " ") : text;
  const shown = typeof value === "string" ? text : flat;
  if (shown.length <= LONG) return html`<span class="value" dir="auto">${shown}</span>`;
  return html`<details>
    <summary><span class="value" dir="auto">${cut(shown, 80)}</span></summary>
    <span class="value" dir="auto">${shown}</span>
  </details>`;
}

/** Give a text to the browser as a file. */
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
