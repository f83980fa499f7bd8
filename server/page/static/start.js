// Start a session: the choice of a journey, an id, first values of the context.

import { html, useEffect, useState } from "./vendor/preact.js";

/** The form that starts a session. */
export function Start({ api }) {
  const [journeys, setJourneys] = useState(null);
  const [chosen, setChosen] = useState("");
  const [id, setId] = useState("");
  const [context, setContext] = useState("");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    api.get("journeys").then(
      (found) => {
        setJourneys(found.journeys);
        setChosen(found.journeys.length ? found.journeys[0].journey_id : "");
      },
      (error) => setProblem(error.message),
    );
  }, [api]);
  const start = async (event) => {
    event.preventDefault();
    setProblem("");
    try {
      const body = { journey_id: chosen };
      if (id.trim()) body.session_id = id.trim();
      if (context.trim()) body.context = contextIn(context);
      const begun = await api.post("sessions", body);
      location.hash = `#/s/${encodeURIComponent(begun.session_id)}`;
    } catch (error) {
      setProblem(error.message);
    }
  };
  if (!journeys) return html`<p class="card" role="status">${problem || "Reading the journeys…"}</p>`;
  const shown = journeys.find((one) => one.journey_id === chosen);
  return html`<form class="card" onSubmit=${start}>
    <h1>Start a session</h1>
    <label for="journey">Journey</label>
    <select id="journey" value=${chosen} onChange=${(event) => setChosen(event.target.value)}>
      ${journeys.map((one) => html`<option key=${one.journey_id} value=${one.journey_id}>${one.name}</option>`)}
    </select>
    ${shown && shown.purpose ? html`<p dir="auto">${shown.purpose}</p>` : null}
    <details>
      <summary>Session id and context</summary>
      <label for="session">Session id</label>
      <input id="session" value=${id} placeholder="a new one" autocomplete="off" onInput=${(event) => setId(event.target.value)} />
      <label for="context">First values of the context, as JSON</label>
      <textarea id="context" rows="4" value=${context} placeholder='{"insurance_id": "INS-123456"}' onInput=${(event) => setContext(event.target.value)}></textarea>
    </details>
    ${problem ? html`<p class="failure" role="alert">${problem}</p>` : null}
    <button class="main" disabled=${!chosen}>Start</button>
  </form>`;
}

function contextIn(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("The context is not JSON. Write an object, such as {\"name\": \"Ann\"}.");
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Error("The context must be an object, such as {\"name\": \"Ann\"}.");
  }
  return value;
}
