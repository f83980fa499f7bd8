// The open sessions: what is stored of each, and its running turn.

import { useEffect, useMemo, useState } from "./vendor/preact.js";
import { Problem, newKey } from "./api.js";
import { listen } from "./listen.js";

const PAGE = 50; // turns read at once; after a turn, the last page is read again
const LOST_MS = 1500; // between two looks for the reply to a lost request
const LOOKS = 4; // without a reply, until the user decides
const RELOAD_MS = 45_000; // a turn that is known to run on in the server has this time

const EMPTY = {
  session: null, // GET sessions/{id}
  journey: null, // GET journeys/{id}
  entries: [], // GET .../history, and replies that the server did not store: {..., isLocal: true}
  turns: [], // GET .../audit
  pending: null, // the message without a reply: {route, body, text, key, version, at}
  live: null, // events of the running turn: [{type, data}]; null without one
  isLost: false, // the connection was lost during the turn
  isAway: false, // since then, the server does not answer
  returns: 0, // how often it answered again
  problem: null, // the error of the last message
  missing: null, // the error of the first reading
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Return a function that acts at once, but no more than once while a frame is painted. */
function oncePerFrame(act) {
  let isPainting = false;
  let isLate = false;
  return function run() {
    isLate = isPainting;
    if (isPainting) return;
    isPainting = true;
    act();
    requestAnimationFrame(() => {
      isPainting = false;
      if (isLate) run();
    });
  };
}

function noReply() {
  return new Problem({
    title: "No reply",
    detail: "The connection was lost, and no reply is stored. Send the message again, or take it back.",
    code: "no_reply",
  });
}

export class OpenSession {
  /** With `isTalk`, the key of `api` has only the scope "talk": the audit is not read. */
  constructor(api, id, isTalk = false) {
    this.api = api;
    this.id = id;
    this.isTalk = isTalk;
    this.path = `sessions/${encodeURIComponent(id)}`;
    this.state = EMPTY;
    this.draft = "";
    this.listeners = new Set();
    this.local = []; // [number of stored entries before it, entry]
    this.kept = { history: { entries: [], cursor: null }, audit: { entries: [], cursor: null } };
    this.reading = 0; // number of the newest reading
    this.stream = null; // AbortController of the events that are read
    this.listening = null; // to what others do in the session, while it is shown
    this.missed = 0; // the version of a change while the own turn ran
    this.first = this.open();
  }

  set(patch) {
    this.state = { ...this.state, ...patch };
    for (const listener of this.listeners) listener(this.state);
    const { session } = this.state;
    if (this.isBusy || !session || this.missed <= session.version) return;
    this.missed = 0;
    if (this.listening) this.listening.again();
  }

  get isBusy() {
    return Boolean(this.state.live || this.state.problem);
  }

  /** Show what others do, and the end of the session; return what stops it. */
  follow() {
    const listening = listen(this.api, this.id, {
      known: () => (this.state.session ? this.state.session.version : undefined),
      onChange: async (version) => {
        if (version <= this.state.session.version) return;
        if (this.isBusy) this.missed = version;
        else await this.look();
      },
      onEnd: (problem) => this.state.live || this.set({ problem }),
    });
    this.listening = listening;
    return () => {
      listening.stop();
      if (this.listening === listening) this.listening = null;
    };
  }

  /** Read the session; continue with a message that had no reply before a reload. */
  async open() {
    await this.read();
    const pending = this.stored();
    if (!pending || !this.state.session) return;
    if (this.isAnswered(pending)) this.clear();
    else {
      this.set({ pending, live: [], isLost: true });
      this.find(pending, Math.max(1, (pending.at + RELOAD_MS - Date.now()) / LOST_MS));
    }
  }

  /** Read the session, its messages and its turns as they are stored. */
  async read() {
    this.reading += 1;
    const number = this.reading;
    try {
      const [session, entries, turns] = await Promise.all([
        this.api.get(this.path),
        this.pages("history", "entries"),
        this.audit(),
      ]);
      const known = this.state.session;
      const isSame = known && known.journey_version === session.journey_version;
      const journey = (isSame && this.state.journey) || (await this.journeyOf(session));
      // What is older than the last reply, or than another reading, is not shown.
      if (number !== this.reading) return;
      this.set({ session, entries: this.withLocal(entries), turns, journey, missing: null });
    } catch (problem) {
      if (!this.state.session) this.set({ missing: problem });
      throw problem;
    }
  }

  /** Return the journey of a session in its version; without that, as it is for new sessions. */
  async journeyOf(session) {
    const path = `journeys/${encodeURIComponent(session.journey_id)}`;
    try {
      return await this.api.get(path, { version: session.journey_version });
    } catch (problem) {
      if (!problem.isGone) throw problem;
      return this.api.get(path);
    }
  }

  /** Read all anew if the session has changed. */
  async look() {
    const session = await this.api.get(this.path);
    const known = this.state.session;
    if (!known || session.version !== known.version) await this.read();
  }

  /** Return the turns with their reasons; none for a key that only talks. */
  async audit() {
    if (this.isTalk) return [];
    try {
      return await this.pages("audit", "turns");
    } catch (problem) {
      if (problem.code !== "out_of_scope") throw problem;
      this.isTalk = true;
      return [];
    }
  }

  /** Return all entries of a list; pages that are full are read only once. */
  async pages(route, name) {
    const { entries, cursor } = this.kept[route];
    const found = await this.api.pages(`${this.path}/${route}`, name, cursor, { limit: PAGE });
    const full = found.entries.length ? [...entries, ...found.entries] : entries;
    this.kept[route] = { entries: full, cursor: found.cursor };
    return [...full, ...found.last];
  }

  withLocal(entries) {
    if (!this.local.length) return entries;
    const all = [...entries];
    for (const [before, entry] of [...this.local].reverse()) all.splice(before, 0, entry);
    return all;
  }

  say(text) {
    return this.send("messages", { message: text }, text);
  }

  /** Answer the question of an agent that waits. */
  resume(value, shown) {
    return this.send("resume", { value }, shown);
  }

  async send(route, body, text) {
    await this.first.catch(() => {});
    if (!this.state.session || this.state.live) {
      this.draft = route === "messages" ? text : this.draft; // for when it can be read
      return;
    }
    const { version } = this.state.session;
    await this.run({ route, body, text, key: newKey(), version, at: Date.now() });
  }

  /** Send the message without a reply again, unless its reply is stored by now. */
  async retry() {
    const { pending } = this.state;
    try {
      await this.read();
    } catch (problem) {
      this.set({ problem });
      return;
    }
    if (this.isAnswered(pending)) this.clear();
    else await this.run(pending);
  }

  /** Forget what has no reply; return the text of a message. If it arrived, its turn appears later. */
  takeBack() {
    const { pending } = this.state;
    this.clear();
    return pending && pending.route === "messages" ? pending.text : "";
  }

  /** Read no more of the reply. The turn runs on in the server. */
  stopReading() {
    this.stream.abort();
  }

  async run(pending) {
    this.store(pending);
    this.stream = new AbortController();
    this.set({ pending, live: [], isLost: false, problem: null });
    let done = null;
    const events = [];
    const show = oncePerFrame(() => {
      if (this.state.live && this.state.pending === pending) this.set({ live: [...events] });
    });
    const hear = (type, data) => {
      if (type === "error") throw new Problem(data, data.status);
      if (type === "done") done = data;
      events.push({ type, data });
      show();
    };
    try {
      await this.listenTo(pending, hear);
    } catch (problem) {
      if (!this.stream.signal.aborted && !problem.isConnection) {
        this.forget();
        this.set({ live: null, problem });
        return;
      }
    }
    if (done) await this.finish(pending, done);
    else {
      this.set({ isLost: true });
      await this.find(pending, this.stream.signal.aborted ? RELOAD_MS / LOST_MS : LOOKS);
    }
  }

  /** Send a message and read the events of its turn; continue after the last one if the connection is lost. */
  async listenTo(pending, onEvent) {
    const { signal } = this.stream;
    let last = ""; // id of the last event: TURN:NUMBER:RUN
    const hear = (type, data, id) => {
      last = id;
      if (this.state.isLost) this.set({ isLost: false });
      onEvent(type, data);
    };
    let [path, options] = [pending.route, { body: pending.body, headers: { "Idempotency-Key": pending.key } }];
    for (let left = LOOKS; ; left -= 1) {
      try {
        await this.api.stream(`${this.path}/${path}`, { ...options, onEvent: hear, signal });
        return;
      } catch (problem) {
        if (!problem.isConnection || !last || !left) throw problem;
        this.set({ isLost: true });
        await pause(LOST_MS);
        if (this.state.pending !== pending) throw problem; // it was taken back
        [path, options] = [`turns/${last.split(":")[0]}/events`, { headers: { "Last-Event-ID": last } }];
      }
    }
  }

  /** Show a reply, then read what is stored of its turn. */
  async finish(pending, done) {
    const { session, entries } = this.state;
    const { version, phase, pathway_stack, returning, waiting, asked } = done.metadata;
    const isStored = version > pending.version;
    const common = { timestamp: new Date().toISOString(), turn: version, isLocal: !isStored };
    const pair = [{ role: "user", content: pending.text, ...common }];
    if (done.message) pair.push({ role: "assistant", content: done.message, ...common });
    if (!isStored) {
      const before = entries.length - this.local.length;
      this.local.push(...pair.map((entry) => [before, entry]));
    }
    this.forget();
    this.reading += 1;
    this.set({
      session: {
        ...session,
        ...{ version, phase, pathway_stack, returning, waiting, asked },
        pathway_id: done.pathway_id,
        is_journey_complete: done.is_journey_complete,
      },
      entries: [...entries, ...pair],
      pending: null,
      live: null,
    });
    if (isStored) await this.read().catch(() => {});
  }

  /** Look for the reply to a lost request: the turn continues in the server, or is gone. */
  async find(pending, looks) {
    for (let look = 0; look < looks && this.state.pending === pending; ) {
      await pause(LOST_MS);
      try {
        await this.look();
        if (this.state.isAway) this.set({ isAway: false, returns: this.state.returns + 1 });
        look += 1;
      } catch (problem) {
        if (this.state.pending === pending) this.set({ isAway: Boolean(problem.isConnection) });
        if (!problem.isConnection) look += 1;
      }
      if (this.state.pending === pending && this.isAnswered(pending)) {
        this.clear();
        return;
      }
    }
    if (this.state.pending === pending) this.set({ live: null, isLost: false, problem: noReply() });
  }

  isAnswered(pending) {
    const { session, entries } = this.state;
    if (!session || session.version <= pending.version) return false;
    if (pending.route === "resume") return true;
    const text = pending.body.message.trim();
    return entries.some(
      (entry) => entry.role === "user" && entry.turn > pending.version && entry.content.trim() === text,
    );
  }

  clear() {
    this.forget();
    this.set({ pending: null, live: null, isLost: false, isAway: false, problem: null });
  }

  // The message without a reply is stored in the tab, so that a reload does not lose it.

  store(pending) {
    sessionStorage.setItem(this.storedAs, JSON.stringify(pending));
  }

  stored() {
    try {
      return JSON.parse(sessionStorage.getItem(this.storedAs));
    } catch {
      return null;
    }
  }

  forget() {
    sessionStorage.removeItem(this.storedAs);
  }

  get storedAs() {
    return `journeygraph.pending.${this.id}`;
  }
}

const opened = new Map();

/** Return the open session of an id; one for all views, also while another session is shown. */
function sessionOf(api, id) {
  const known = opened.get(id);
  if (known && known.api === api) return known;
  const made = new OpenSession(api, id);
  made.first.catch(() => {});
  opened.set(id, made);
  return made;
}

/** Forget a session whose tab was closed. */
export function closeSession(id) {
  opened.delete(id);
}

/** Return the open session of an id; the view is drawn again whenever it changes. */
export function useSession(api, id) {
  return useOpened(useMemo(() => sessionOf(api, id), [api, id]));
}

/** Draw the view again whenever an open session changes, and follow what others do in it. */
export function useOpened(open) {
  const [, setState] = useState(open.state);
  useEffect(() => {
    open.listeners.add(setState);
    setState(open.state);
    const { missing, problem } = open.state; // after a key was entered
    if (missing) open.open().catch(() => {});
    else if (problem && problem.status === 401) open.retry();
    const stop = open.follow();
    return () => {
      open.listeners.delete(setState);
      stop();
    };
  }, [open]);
  return open;
}
