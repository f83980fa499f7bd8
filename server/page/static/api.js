// Requests to the server, and the events of a turn.

const KEY = "journeygraph.key";
const SILENT_MS = 45_000; // after which a stream counts as lost

// Headings of errors for people, by their status; those of the server are the names of HTTP.
const HEADINGS = {
  401: "A key is needed",
  403: "This key may not do that",
  404: "It is not there",
  409: "That is not possible now",
  410: "It is no longer there",
  413: "It is too long",
  422: "That cannot be taken",
  429: "Too many requests",
  500: "The server has a fault",
  503: "The server cannot do it now",
};
// What the API says to programs, as sentences for people.
const SENTENCES = {
  invalid_request: "Please change what is named here, and send it again.",
  session_not_found: "There is no session with this id, or it was deleted.",
  escalation_not_found: "There is no call with this id, or its session has ended.",
  journey_not_found: "This server has no journey with this id.",
  session_exists: "A session with this id exists already.",
  outcome_unknown: "The server did not finish its answer: it may or may not have acted. Try again.",
};

/** An error of the server (problem+json), or of the connection. */
export class Problem extends Error {
  constructor(body, status = 0) {
    super(body.detail || body.title || "The request failed.");
    this.status = status;
    this.title = HEADINGS[status] || body.title || "Error";
    this.code = body.code || "";
    this.detail = SENTENCES[this.code] || body.detail || "The answer has no reason.";
    this.requestId = body.request_id || "";
    this.faults = body.faults || [];
  }

  /** Whether the server was not reached, or the connection was lost. */
  get isConnection() {
    return this.status === 0;
  }

  /** Whether the thing was deleted, or has expired. */
  get isGone() {
    return this.status === 404 || this.status === 410;
  }
}

function lost() {
  return new Problem({
    title: "No connection",
    detail: "The server does not answer. Check that it runs, then try again.",
    code: "no_connection",
  });
}

function foreign(answer) {
  return new Problem(
    {
      title: "Not an answer of this server",
      detail: "A proxy before the server may have answered. Reload the page.",
      code: "foreign_answer",
    },
    answer.status,
  );
}

/** The key of this tab; it is forgotten when the tab is closed, or when the server refuses it. */
export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (value) => sessionStorage.setItem(KEY, value),
  /** Forget a key, unless another one was entered meanwhile. */
  forget: (used) => used === key.get() && sessionStorage.removeItem(KEY),
  isRenewed: false,
};

/** Return the key of a page of another server: `ask()` returns a token, now or later. */
export function renewed(ask) {
  let token = null; // a promise, so that requests at the same time ask once
  const none = () => {
    token = null; // the next request asks again
    throw lost();
  };
  return {
    get: () => (token ||= Promise.resolve().then(ask).then((given) => given || "", none)),
    forget: () => {
      token = null;
    },
    isRenewed: true,
  };
}

/** Return a key that names one request, so that sending it twice does it once. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Return the client of the API at an address. `onKey(isWrong)` is called when the server asks for a
 * key; before that, a key that is renewed is tried once more.
 */
export function client(onKey, { keys = key, place = document.baseURI } = {}) {
  const base = new URL("v1/", place);

  async function request(path, options = {}, isAgain = false) {
    const { method = "GET", body, headers = {}, query, signal } = options;
    const url = new URL(path, base);
    for (const [name, value] of Object.entries(query || {})) {
      if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
    }
    const sent = { Accept: "application/json", ...headers };
    const used = await keys.get();
    if (used) sent.Authorization = `Bearer ${used}`;
    if (body !== undefined) sent["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(url, {
        method,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        cache: "no-store",
        redirect: "error",
      });
    } catch (error) {
      throw error.name === "AbortError" ? error : lost();
    }
    if (answer.ok) return answer;
    const problem = await problemOf(answer);
    if (answer.status === 401) {
      keys.forget(used);
      if (keys.isRenewed && !isAgain) return request(path, options, true);
      onKey(Boolean(used));
    }
    throw problem;
  }

  const json = async (path, options) => {
    const answer = await request(path, options);
    if (answer.status === 204) return null;
    try {
      return await answer.json();
    } catch (error) {
      throw error.name === "AbortError" ? error : foreign(answer);
    }
  };

  return {
    /** Return the JSON of a resource; `query` has the parameters. */
    get: (path, query, signal) => json(path, { query, signal }),
    post: (path, body, headers) => json(path, { method: "POST", body, headers }),
    delete: (path) => json(path, { method: "DELETE" }),
    /** Return a resource as text, in the media type `accept`. */
    text: async (path, accept, signal, method = "GET") =>
      (await request(path, { method, headers: { Accept: accept }, signal })).text(),
    /** Return all entries `name` of a resource with pages, from a cursor on, and the last cursor. */
    async pages(path, name, cursor = null, query = {}) {
      const entries = [];
      for (;;) {
        const page = await json(path, { query: { ...query, cursor } });
        if (!page.next_cursor) return { entries, last: page[name], cursor };
        entries.push(...page[name]);
        cursor = page.next_cursor;
      }
    },
    /** Call `onEvent(type, data, id)` for each event of a stream, and wait for it; with a body, it is a POST. */
    async stream(path, { body, headers = {}, onEvent, signal }) {
      const method = body === undefined ? "GET" : "POST";
      const accept = { Accept: "text/event-stream", ...headers };
      const answer = await request(path, { method, body, headers: accept, signal });
      if (!(answer.headers.get("Content-Type") || "").startsWith("text/event-stream")) throw foreign(answer);
      try {
        for await (const event of events(answer.body)) await onEvent(...event);
      } catch (error) {
        throw error instanceof TypeError ? lost() : error;
      }
    },
  };
}

async function problemOf(answer) {
  let body = {};
  try {
    body = await answer.json();
  } catch {
    // Not from this server, perhaps from a proxy before it.
  }
  return new Problem({ title: answer.statusText, ...body }, answer.status);
}

/** Yield the events of a stream as [type, data, id]; an id alone has the type "id". */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await unlessSilent(reader.read());
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      for (const block of blocks) {
        const event = eventIn(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Return what comes next; a server that is there sends a comment every 15 seconds. */
async function unlessSilent(next) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(lost()), SILENT_MS);
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function eventIn(block) {
  let type = "message";
  let id = "";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) type = line.slice(6).trim();
    else if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (data.length) return [type, JSON.parse(data.join("\n")), id];
  return id ? ["id", null, id] : null;
}
