// Start a session: the choice of a journey, an id, first values of the context.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { Problem, newKey } from "./api.js";
import { Failure, addressOf, inWords } from "./parts.js";

/** The form that starts a session. */
export function Start({ api }) {
  const [journeys, setJourneys] = useState(null);
  const [chosen, setChosen] = useState("");
  const [id, setId] = useState("");
  const [context, setContext] = useState("");
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const sent = useRef({}); // the last request and its key: sent again, it starts the same session
  const choose = (journey) => {
    setChosen(journey.journey_id);
    setContext(sampleOf(journey));
  };
  const read = async () => {
    setProblem(null);
    try {
      const found = (await api.get("journeys")).journeys;
      setJourneys(found);
      if (found.length) choose(found[0]);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => {
    read();
  }, []);
  const start = async (event) => {
    event.preventDefault();
    setProblem(null);
    setBusy(true);
    try {
      const body = { journey_id: chosen };
      if (id.trim()) body.session_id = id.trim();
      if (context.trim()) body.context = contextIn(context);
      const asked = JSON.stringify(body);
      if (sent.current.asked !== asked) sent.current = { asked, key: newKey() };
      const begun = await api.post("sessions", body, { "Idempotency-Key": sent.current.key });
      location.hash = addressOf(begun.session_id);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  if (!journeys) {
    return html`<div class="card">
      ${problem ? html`<${Failure} problem=${problem} onRetry=${read} />` : html`<p role="status">Reading the journeys…</p>`}
    </div>`;
  }
  if (!journeys.length) {
    return html`<div class="card">
      <h1>No journey yet</h1>
      <p>This server has no journey. Store one with <code>journeygraph load PATH</code>, then reload this page.</p>
    </div>`;
  }
  const isSample = context !== "" && journeys.some((one) => one.journey_id === chosen && sampleOf(one) === context);
  return html`<form class="card" onSubmit=${start}>
    <h1>Start a session</h1>
    <fieldset class="journeys">
      <legend>Journey</legend>
      ${journeys.map(
        (one) =>
          html`<label key=${one.journey_id} class=${one.journey_id === chosen ? "pick chosen" : "pick"}>
            <input
              type="radio"
              name="journey"
              value=${one.journey_id}
              checked=${one.journey_id === chosen}
              onChange=${() => choose(one)}
            />
            <span>
              <strong dir="auto">${inWords(one.name)}</strong>
              ${one.purpose ? html`<span class="small" dir="auto">${one.purpose}</span>` : null}
            </span>
          </label>`,
      )}
    </fieldset>
    <details>
      <summary>Session id and context${isSample ? " (sample values of the journey)" : ""}</summary>
      <label for="session">Session id</label>
      <input
        id="session"
        value=${id}
        placeholder="a new one"
        autocomplete="off"
        spellcheck="false"
        onInput=${(event) => setId(event.target.value)}
      />
      <label for="context">First values of the context, as JSON</label>
      <textarea
        id="context"
        rows="4"
        class="code"
        value=${context}
        placeholder='{"insurance_id": "INS-123456"}'
        spellcheck="false"
        onInput=${(event) => setContext(event.target.value)}
      ></textarea>
    </details>
    <div class="actions">
      ${problem
        ? html`<${Failure} problem=${problem}>
            ${problem.code === "session_exists" ? html`<a href=${addressOf(id.trim())}>Open this session</a>` : null}
          <//>`
        : null}
      <button class="main" disabled=${!chosen || isBusy}>Start</button>
    </div>
  </form>`;
}

/** Return the sample context of a journey as JSON; empty if it has none. */
function sampleOf({ sample_context: sample }) {
  return Object.keys(sample).length ? JSON.stringify(sample, null, 2) : "";
}

/** Return the context in a text; throw a Problem if it is not an object. */
function contextIn(text) {
  const example = 'Write an object, such as {"name": "Ann"}.';
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Problem({ title: "The context is not JSON", detail: `${example} The browser says: ${error.message}.` });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Problem({ title: "The context is not an object", detail: example });
  }
  return value;
}
