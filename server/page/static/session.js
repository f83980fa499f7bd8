// The open session: what is stored of it, and the turn that runs now.

import { useEffect, useState } from "./vendor/preact.js";

const EMPTY = {
  session: null, // GET sessions/{id}
  journey: null, // GET journeys/{id}
  entries: [], // GET .../history
  turns: [], // GET .../audit
  asked: null, // metadata.asked of the last reply
  pending: null, // what was sent and has no reply yet: {route, body, text, key, version}
  live: null, // events of the running turn: [{type, data}], null without one
  problem: null, // why the last request failed
};

/** Return a key that names one message, so that sending it twice is one turn. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class OpenSession {
  constructor(api, id) {
    this.api = api;
    this.id = id;
    this.path = `sessions/${encodeURIComponent(id)}`;
    this.state = EMPTY;
    this.listeners = new Set();
    this.first = null; // the first reading
    this.kept = { history: { entries: [], cursor: null }, audit: { entries: [], cursor: null } };
  }

  set(patch) {
    this.state = { ...this.state, ...patch };
    for (const listener of this.listeners) listener(this.state);
  }

  /** Read the session, its messages and its turns as they are stored. */
  async read() {
    try {
      const [session, entries, turns] = await Promise.all([
        this.api.get(this.path),
        this.pages("history", "entries"),
        this.pages("audit", "turns"),
      ]);
      const journey = this.state.journey || (await this.api.get(`journeys/${session.journey_id}`));
      this.set({ session, entries, turns, journey, problem: null });
    } catch (problem) {
      this.set({ problem });
    }
  }

  /** Return all entries of a list; pages that are full are read only once. */
  async pages(route, name) {
    const kept = this.kept[route];
    const found = await this.api.pages(`${this.path}/${route}`, name, kept.cursor);
    kept.entries.push(...found.entries);
    kept.cursor = found.cursor;
    return [...kept.entries, ...found.last];
  }

  say(text, shown = text) {
    return this.send("messages", { message: text }, shown);
  }

  /** Answer the question of an agent that waits. */
  resume(value, shown) {
    return this.send("resume", { value }, shown);
  }

  async send(route, body, text) {
    await this.first;
    if (!this.state.session) return;
    const version = this.state.session.version;
    return this.run({ route, body, text, key: newKey(), version });
  }

  /** Send the message again that has no reply. */
  retry() {
    return this.state.pending ? this.run(this.state.pending) : this.read();
  }

  async run(pending) {
    this.set({ pending, live: [], problem: null });
    const hear = (type, data) => {
      if (type === "error") throw data;
      this.set({ live: [...this.state.live, { type, data }] });
    };
    try {
      await this.api.stream(`${this.path}/${pending.route}`, pending.body, {
        headers: { "Idempotency-Key": pending.key },
        onEvent: hear,
      });
      const done = this.state.live.find((event) => event.type === "done");
      await this.read();
      this.set({ pending: null, asked: done ? done.data.metadata.asked : null, live: null });
    } catch (problem) {
      this.set({ problem, live: null });
    }
  }
}

/** Return the open session of an id with its state, read once and shared by all views. */
export function useSession(api, id) {
  const [open, setOpen] = useState(null);
  const [, setState] = useState(null);
  useEffect(() => {
    const opened = new OpenSession(api, id);
    opened.listeners.add(setState);
    setOpen(opened);
    opened.first = opened.read();
    return () => opened.listeners.delete(setState);
  }, [api, id]);
  return open && open.id === id ? open : null;
}
