// The journey of a session as it is drawn, with the place of the session, its path and its fields.

import { html, useEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { Failure, cut } from "./parts.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 1.25;
const NOTCH = 100; // pixels of a wheel that are one step
const SMALLEST = 0.1;
const LARGEST = 4;
const LEAST_TEXT = 9; // pixels of the smallest text of a picture that was made to fit
const LETTER = 0.6; // width of a letter, as a share of its height
const APART = 8; // pixels between the name of a field and its value
const LONG = 40; // places of a path that are listed
const STYLE = /<style>([^<]*)<\/style>/;
const TICK = "m-3.5 0.2l2.5 2.6l4.5 -5.4";
// Kinds of audit rows that lead to another pathway.
const MOVES = ["transition", "advanced", "arrived", "returned", "restarted", "changing", "migrated", "rollback"];

/** The picture of a journey. Props as of every view of a session. */
export function Picture({ api, session, turns, live, journey }) {
  const [drawing, setDrawing] = useState(null);
  const [fields, setFields] = useState({});
  const [problem, setProblem] = useState(null);
  const [chosen, setChosen] = useState("");
  const [tries, setTries] = useState(0);
  const version = encodeURIComponent(journey.version);
  const path = `journeys/${encodeURIComponent(session.journey_id)}/graph?version=${version}`;
  useEffect(() => {
    let isShown = true;
    setDrawing(null);
    setProblem(null);
    drawingOf(api, path).then(
      (found) => isShown && setDrawing(found),
      (problem) => isShown && setProblem(problem),
    );
    return () => {
      isShown = false;
    };
  }, [api, path, tries]);
  useEffect(() => {
    const ended = new AbortController();
    // A key that only talks draws the journey without the values of fields.
    const unread = (problem) =>
      problem.isConnection || problem.code === "out_of_scope" || quietly(setProblem)(problem);
    api
      .get(`sessions/${encodeURIComponent(session.session_id)}/fields`, {}, ended.signal)
      .then((body) => setFields(body.fields), unread);
    return () => ended.abort();
  }, [api, session.session_id, session.version, tries]);
  const latest = useRef([]);
  if (live) latest.current = live;
  const facts = useMemo(
    () => (drawing ? factsOf(session, turns, live, latest.current, fields, drawing.graph) : null),
    [session, turns, live, fields, drawing],
  );
  if (problem) return html`<${Failure} problem=${problem} onRetry=${() => setTries(tries + 1)} />`;
  if (!facts) return html`<p aria-busy="true">Drawing…</p>`;
  return html`<div class="picture">
    <${Canvas} svg=${drawing.svg} facts=${facts} chosen=${chosen} onChoose=${setChosen} />
    <p class="place" aria-live="polite">${facts.sentence}</p>
    <${Chosen}
      ...${{ api, path, facts }}
      graph=${drawing.graph}
      id=${chosen}
      onClose=${() => setChosen("")}
    />
    <${Facts} facts=${facts} fields=${fields} graph=${drawing.graph} />
  </div>`;
}

const drawings = new WeakMap(); // client -> drawings by their addresses

/** Return the drawing of a journey, as SVG and as data; it is read once. */
function drawingOf(api, path) {
  if (!drawings.has(api)) drawings.set(api, new Map());
  const known = drawings.get(api);
  if (!known.has(path)) {
    const read = [api.text(`${path}&full=true`, "image/svg+xml"), api.get(path, { format: "json" })];
    const drawing = Promise.all(read).then(([svg, graph]) => ({ svg, graph }));
    drawing.catch(() => known.delete(path));
    known.set(path, drawing);
  }
  return known.get(path);
}

function quietly(setProblem) {
  return (problem) => problem.name === "AbortError" || setProblem(problem);
}

// ---- the facts

/**
 * Return what is known of a session, for the picture and for the list. `latest` has the events of
 * the last turn: its moves are shown until its audit is there.
 */
function factsOf(session, turns, live, latest, fields, graph) {
  const past = pastOf(session, turns);
  const isRead = turns.length > 0 && turns[turns.length - 1].turn.version >= session.version;
  const running = runningOf(session, live || [], graph);
  if (!live && !isRead) running.edges = runningOf(session, latest, graph).edges;
  const asked = !live && session.asked && session.asked.field ? session.asked.field : "";
  const filled = Object.entries(fields).filter(([, field]) => field.is_collected);
  const facts = {
    place: running.place,
    paused: [...running.stack].reverse(), // the next one to continue first
    path: follow(past.path, [running.place]),
    edges: [...past.edges, ...running.edges],
    last: running.edges.length ? running.edges : past.last,
    effects: past.effects,
    filled: new Map(filled.map(([name, { value, hidden }]) => [name, hidden ? "hidden" : shown(value)])),
    asked,
    asks: [running.place, ...[...running.stack].reverse()].find((id) => hasField(graph, id, asked)),
    isWithPerson: session.phase === "escalated",
    isComplete: session.is_journey_complete && !live,
  };
  return { ...facts, sentence: sentenceOf(facts) };
}

/** Return the place, the stack and the moves of the running turn, as far as its events say. */
function runningOf(session, events, graph) {
  let place = session.pathway_id;
  let stack = session.pathway_stack;
  const edges = [];
  for (const { type, data } of events) {
    if (type === "transition") {
      edges.push({ from: data.from, to: data.to, trigger: data.intent });
      if (isDetour(graph, data.to) && !isDetour(graph, data.from)) stack = [...stack, data.from];
      place = data.to;
    } else if (type === "pathway") place = data.pathway;
    if (stack.includes(place)) stack = stack.slice(0, stack.indexOf(place));
  }
  return { place, stack, edges };
}

function nodeOf(graph, id) {
  return graph.nodes.find((node) => node.pathway_id === id);
}

function isDetour(graph, id) {
  const node = nodeOf(graph, id);
  return Boolean(node && node.is_detour);
}

function hasField(graph, id, name) {
  const node = nodeOf(graph, id);
  return Boolean(node && node.fields.some((field) => field.name === name));
}

/** Return the path, the edges and the effects of the turns; a rollback goes back in all but effects. */
function pastOf(session, turns) {
  const states = new Map();
  let state = { path: [], edges: [], last: [] };
  const effects = new Set();
  for (const { turn, events } of turns) {
    const before = states.get(turn.rolled_back_to);
    const moves = events.filter((row) => MOVES.includes(row.kind) && row.to_pathway);
    const edges = moves.map((row) => ({ from: row.from_pathway, to: row.to_pathway, trigger: row.trigger }));
    const start = moves.length ? moves[0].from_pathway : turn.pathway_id;
    state = before
      ? { ...before, last: [] }
      : {
          path: follow(state.path.length ? state.path : [start], edges.map((edge) => edge.to)),
          edges: [...state.edges, ...edges],
          last: edges,
        };
    for (const row of events) {
      if (row.kind === "effect_done") effects.add(`${row.from_pathway}.${row.trigger}`);
    }
    states.set(turn.version, state);
  }
  return { ...state, path: state.path.length ? state.path : [session.pathway_id], effects };
}

/** Return a path with further places; a place that is the last one already is not repeated. */
function follow(path, places) {
  const all = [...path];
  for (const id of places) if (id && id !== all[all.length - 1]) all.push(id);
  return all;
}

function sentenceOf(facts) {
  const words = [`The session is in ${facts.place}.`];
  if (facts.paused.length) words.push(`Paused: ${facts.paused.join(", then ")}.`);
  if (facts.isWithPerson) words.push("A person is called, or has the conversation.");
  if (facts.isComplete) words.push("The journey is complete.");
  return words.join(" ");
}

// ---- the picture

function Canvas({ svg, facts, chosen, onChoose }) {
  const frame = useRef(null);
  const drawn = useRef(null);
  const [zoom, setZoom] = useState(0); // 0: it fits
  const [scale, setScale] = useState(1);
  useEffect(() => {
    const picture = parsed(svg);
    frame.current.replaceChildren(picture);
    const unwatch = watchScheme(styled(svg));
    drawn.current = { picture, width: size(picture, "width"), height: size(picture, "height"), text: smallest(picture) };
    return () => {
      unwatch();
      drawn.current = null;
    };
  }, [svg]);
  useEffect(() => {
    const fit = () => setScale(zoom || fitting(frame.current, drawn.current));
    fit();
    const watcher = new ResizeObserver(fit);
    watcher.observe(frame.current);
    return () => watcher.disconnect();
  }, [svg, zoom]);
  useEffect(() => {
    resize(frame.current, drawn.current, scale);
  }, [svg, scale]);
  useEffect(() => show(drawn.current.picture, facts, chosen), [svg, facts, chosen]);
  useEffect(() => {
    const { picture, isPlaced } = drawn.current;
    centre(frame.current, boxOf(picture, facts.place), !isPlaced);
    drawn.current.isPlaced = true;
  }, [svg, facts.place]);
  const by = (factor) => setZoom((zoom) => Math.min(LARGEST, Math.max(SMALLEST, (zoom || scale) * factor)));
  useEffect(() => {
    const turn = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      by(STEP ** (-event.deltaY / NOTCH));
    };
    const element = frame.current;
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  });
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const box = event.target.closest("[data-pathway]");
    const done = zoomKey(event.key, by, setZoom) || (box && boxKey(event.key, box, frame.current, onChoose));
    if (done) event.preventDefault();
  };
  const click = (event) => {
    const box = event.target.closest("[data-pathway]");
    if (box) onChoose(box.dataset.pathway);
  };
  return html`<div class="canvas">
    <div class="zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Smaller" onClick=${() => by(1 / STEP)}>−</button>
      <output aria-label="Zoom">${Math.round(scale * 100)} %</output>
      <button type="button" aria-label="Larger" onClick=${() => by(STEP)}>+</button>
      <button type="button" aria-pressed=${!zoom} onClick=${() => setZoom(0)}>Fit</button>
    </div>
    <div
      class="frame"
      ref=${frame}
      tabindex="0"
      role="group"
      aria-label="Drawing of the journey. Arrow keys move it; plus, minus and zero zoom. Tab reaches the pathways; Enter shows more about one."
      onKeyDown=${press}
      onClick=${click}
    ></div>
  </div>`;
}

function zoomKey(key, by, setZoom) {
  if (key === "+" || key === "=") by(STEP);
  else if (key === "-") by(1 / STEP);
  else if (key === "0") setZoom(0);
  else return false;
  return true;
}

/** Move from box to box by keys; return whether the key was one of them. */
function boxKey(key, box, frame, onChoose) {
  const boxes = [...frame.querySelectorAll("[data-pathway]")];
  const at = boxes.indexOf(box);
  const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: boxes.length - 1 };
  if (key === "Enter" || key === " ") onChoose(box.dataset.pathway);
  else if (key === "Escape") {
    onChoose("");
    frame.focus();
  } else if (key in steps) {
    const next = boxes[Math.min(boxes.length - 1, Math.max(0, steps[key]))];
    for (const one of boxes) one.setAttribute("tabindex", one === next ? "0" : "-1");
    next.focus({ preventScroll: true });
    centre(frame, next);
  } else return false;
  return true;
}

/** Return the drawing as an element of this page, without its own style sheet: the policy forbids that. */
function parsed(svg) {
  const bare = svg.replace(STYLE, "");
  const root = document.importNode(new DOMParser().parseFromString(bare, "image/svg+xml").documentElement, true);
  for (const box of root.querySelectorAll("[data-pathway]")) box.setAttribute("role", "group");
  for (const edge of root.querySelectorAll("[data-edge], [data-end]")) edge.removeAttribute("role");
  return root;
}

/** Return the style sheet of a drawing; its rules apply to drawings only. */
function styled(svg) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE.exec(svg)[1]);
  return sheet;
}

/** Let the colours of a sheet follow the scheme of the page; return a function that ends it. */
function watchScheme(sheet) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const adapt = () => {
    const theme = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSMediaRule) rule.media.mediaText = theme === "dark" ? "all" : "not all";
    }
  };
  adapt();
  const watcher = new MutationObserver(adapt);
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", adapt);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return () => {
    watcher.disconnect();
    dark.removeEventListener("change", adapt);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  };
}

function size(picture, name) {
  return Number.parseFloat(picture.getAttribute(name));
}

/** Return the height of the smallest text of a picture, in pixels at its own size. */
function smallest(picture) {
  const texts = [...picture.querySelectorAll("text")];
  return Math.min(...texts.map((text) => Number.parseFloat(getComputedStyle(text).fontSize)));
}

/** Return the scale at which the whole picture is seen, or the least at which it can be read. */
function fitting(frame, { width, height, text }) {
  const room = Number.parseFloat(getComputedStyle(frame).maxHeight);
  return Math.max(LEAST_TEXT / text, Math.min(frame.clientWidth / width, room / height, 1));
}

function boxOf(picture, id) {
  return picture.querySelector(`[data-pathway="${CSS.escape(id)}"]`);
}

/** Scale a picture; its part in the middle of the frame stays there. */
function resize(frame, drawn, scale) {
  const by = scale / (drawn.scale || 1);
  const left = (frame.scrollLeft + frame.clientWidth / 2) * by - frame.clientWidth / 2;
  const top = (frame.scrollTop + frame.clientHeight / 2) * by - frame.clientHeight / 2;
  drawn.picture.setAttribute("width", drawn.width * scale);
  drawn.picture.setAttribute("height", drawn.height * scale);
  drawn.scale = scale;
  frame.scrollTo({ left, top, behavior: "instant" });
}

/** Scroll the frame so that a box is in its middle. */
function centre(frame, box, isInstant = false) {
  if (!box) return;
  const outer = frame.getBoundingClientRect();
  const inner = box.getBoundingClientRect();
  frame.scrollBy({
    left: inner.left + inner.width / 2 - outer.left - outer.width / 2,
    top: inner.top + inner.height / 2 - outer.top - outer.height / 2,
    behavior: isInstant || matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth",
  });
}

/** Mark the parts of a picture by classes. */
function show(picture, facts, chosen) {
  const focusable = picture.querySelector('[data-pathway][tabindex="0"]');
  for (const box of picture.querySelectorAll("[data-pathway]")) {
    const id = box.dataset.pathway;
    const isHere = id === facts.place;
    const order = facts.paused.indexOf(id) + 1;
    box.classList.toggle("is-here", isHere);
    box.classList.toggle("is-paused", order > 0);
    box.classList.toggle("is-visited", facts.path.includes(id));
    box.classList.toggle("is-chosen", id === chosen);
    box.setAttribute("aria-label", `${stateIn(facts, id)} ${box.querySelector("title").textContent}`);
    box.setAttribute("aria-current", isHere ? "location" : "false");
    if (!focusable) box.setAttribute("tabindex", isHere ? "0" : "-1");
    badge(box, isHere ? "●" : order ? String(order) : "");
  }
  showFields(picture, facts);
  for (const effect of picture.querySelectorAll("[data-effect]")) {
    const isTaken = facts.effects.has(effect.dataset.effect);
    effect.classList.toggle("is-taken", isTaken);
    const note = effect.querySelector(".kind");
    if (note) note.textContent = isTaken ? "done" : "effect";
  }
  for (const edge of picture.querySelectorAll("[data-edge]")) {
    const [sources, target] = edge.dataset.edge.split(" ");
    const along = (one) => one.to === target && (sources === "*" || sources.split(",").includes(one.from));
    edge.classList.toggle("is-taken", facts.edges.some(along));
    edge.classList.toggle("is-last", facts.last.some(along));
    for (const label of edge.querySelectorAll("[data-trigger]")) {
      const fits = (one) => along(one) && one.trigger === label.dataset.trigger;
      label.classList.toggle("is-last", facts.last.some(fits));
    }
  }
  for (const end of picture.querySelectorAll("[data-end]")) {
    end.classList.toggle("is-last", facts.isComplete && end.dataset.end === facts.place);
  }
  for (const box of picture.querySelectorAll(".handover")) {
    box.classList.toggle("is-here", facts.isWithPerson && appliesTo(box.dataset.handover, facts.place));
  }
}

function appliesTo(sources, id) {
  return sources === "*" || sources.split(",").includes(id);
}

function showFields(picture, facts) {
  for (const field of picture.querySelectorAll("[data-field]")) {
    const pathway = field.closest("[data-pathway]").dataset.pathway;
    const name = field.dataset.field.slice(pathway.length + 1);
    const isFilled = facts.filled.has(name);
    field.classList.toggle("is-filled", isFilled);
    note(field, facts.filled.get(name));
    field.classList.toggle("is-asked", name === facts.asked && pathway === facts.asks);
    const sign = field.querySelector(".sign");
    const outline = (sign.dataset.outline ||= sign.getAttribute("d"));
    const [middle] = outline.match(/^M[-\d.]+ [-\d.]+/);
    sign.setAttribute("d", isFilled ? middle + TICK : outline);
  }
}

/** Write the value of a field at its right, as far as there is room; without one, its type. */
function note(field, value) {
  const [name, kind] = [field.querySelector(".field-name"), field.querySelector(".kind")];
  if (!kind) return;
  const type = (kind.dataset.type ||= kind.textContent);
  const [left, right] = [name, kind].map((text) => Number(text.getAttribute("x")));
  const [height, ownHeight] = [name, kind].map((text) => Number.parseFloat(getComputedStyle(text).fontSize));
  const room = (right - left - APART - name.textContent.length * height * LETTER) / (ownHeight * LETTER);
  kind.textContent = value === undefined ? type : cut(value, Math.max(type.length, Math.floor(room)));
}

function stateIn(facts, id) {
  const order = facts.paused.indexOf(id) + 1;
  if (id === facts.place) return "The session is here.";
  if (order) return `Paused, number ${order} to continue.`;
  return facts.path.includes(id) ? "Visited." : "Not visited.";
}

/** Put a badge on the corner of a box, or remove it. */
function badge(box, text) {
  const known = box.querySelector(".badge");
  if (known && known.textContent === text) return;
  if (known) known.remove();
  if (!text) return;
  const frame = box.querySelector(".box");
  const x = Number(frame.getAttribute("x")) + Number(frame.getAttribute("width"));
  const y = Number(frame.getAttribute("y"));
  const group = made("g", { class: "badge" });
  const words = made("text", { x, y: y + 4, "text-anchor": "middle" });
  words.textContent = text;
  group.append(made("circle", { cx: x, cy: y, r: 9 }), words);
  box.append(group);
}

function made(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// ---- the same as text

function Chosen({ api, path, graph, id, facts, onClose }) {
  const [opened, setOpened] = useState({}); // the pathway whose agents were asked for; their drawing, or an error
  const node = nodeOf(graph, id);
  if (!node) return null;
  const { svg, problem } = opened.id === id ? opened : {};
  const open = () => {
    setOpened({});
    api.text(`${path}&pathway=${encodeURIComponent(id)}`, "image/svg+xml").then(
      (svg) => setOpened({ id, svg }),
      (problem) => setOpened({ id, problem }),
    );
  };
  return html`<section class="chosen" aria-label=${`Pathway ${id}`}>
    <p>${stateIn(facts, id)} ${node.about}</p>
    ${node.agents.length > 1 && !svg && !problem
      ? html`<button type="button" onClick=${open}>Show how its agents work together</button>`
      : null}
    <button type="button" onClick=${onClose}>Close</button>
    ${problem ? html`<${Failure} problem=${problem} onRetry=${open} />` : null}
    ${svg ? html`<${Agents} svg=${svg} />` : null}
  </section>`;
}

function Agents({ svg }) {
  const frame = useRef(null);
  useEffect(() => frame.current.replaceChildren(parsed(svg)), [svg]);
  return html`<div class="frame" ref=${frame} tabindex="0" role="group" aria-label="Agents"></div>`;
}

function Facts({ facts, fields, graph }) {
  const effects = graph.nodes.flatMap((node) => node.effects.map((effect) => [node.pathway_id, effect.tool]));
  return html`<details class="facts" open>
    <summary>The session in words</summary>
    <dl>
      <dt>Place</dt>
      <dd>${facts.place}</dd>
      <dt>Paused, the next one to continue first</dt>
      <dd>${facts.paused.join(", ") || "none"}</dd>
      <dt>Path so far</dt>
      <dd>${[...(facts.path.length > LONG ? ["…"] : []), ...facts.path.slice(-LONG)].join(" → ")}</dd>
      <dt>Last move</dt>
      <dd>${facts.last.map(inWords).join("; ") || "none"}</dd>
      ${effects.length
        ? html`<dt>Effects</dt>
            ${effects.map(
              ([id, tool]) =>
                html`<dd>${tool} in ${id}: ${facts.effects.has(`${id}.${tool}`) ? "done" : "not done"}</dd>`,
            )}`
        : null}
      <dt>Person</dt>
      <dd>${facts.isWithPerson ? "called, or has the conversation" : "not called"}</dd>
    </dl>
    ${graph.nodes
      .filter((node) => node.fields.length)
      .map((node) => html`<${Form} key=${node.pathway_id} node=${node} facts=${facts} fields=${fields} />`)}
  </details>`;
}

function inWords({ from, to, trigger }) {
  return `${from || "start"} → ${to}${trigger ? `, by “${trigger}”` : ""}`;
}

function Form({ node, facts, fields }) {
  return html`<h2>Fields of ${node.pathway_id}</h2>
    <ul class="fields">
      ${node.fields.map(
        (field) => html`<li key=${field.name}><span dir="auto">${field.title}</span>: ${stateOf(field)}</li>`,
      )}
    </ul>`;

  function stateOf({ name }) {
    const known = fields[name] || {};
    if (facts.asked === name && facts.asks === node.pathway_id) return html`<strong>asked now</strong>`;
    if (!known.is_collected) return known.skipped ? "left open" : known.live === false ? "not needed" : "open";
    return known.hidden ? "filled, hidden" : html`<span dir="auto">${shown(known.value)}</span>`;
  }
}

function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
