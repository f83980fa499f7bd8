// Listen to what anyone does in a session.

const AGAIN_MS = 1000; // before the first try to connect again; each further one waits twice as long
const MOST_MS = 15_000;

/**
 * Call `onChange(version)` for each change of a session while the page is in sight; return { again, stop }.
 *
 * `known()` returns the version that is known: the stream begins after it. A change for which
 * `onChange` fails comes again. Without a version (null) the stream begins now, with one call;
 * undefined: not yet. At the end of the session the version is Infinity. `onEnd(problem)` is called
 * when the session is gone. `again()` connects anew.
 */
export function listen(api, id, { known, onChange, onEnd = () => {} }) {
  const path = `sessions/${encodeURIComponent(id)}/events`;
  let stream = null; // AbortController of the open stream
  let timer = 0;
  let wait = AGAIN_MS;
  let isOver = false;

  async function open() {
    clearTimeout(timer);
    const version = known();
    if (isOver || stream || document.hidden) return;
    if (version === undefined) {
      timer = setTimeout(open, wait);
      return;
    }
    const mine = new AbortController();
    stream = mine;
    try {
      await api.stream(path, {
        headers: version === null ? {} : { "Last-Event-ID": String(version) },
        signal: mine.signal,
        onEvent: async (type, _, last) => {
          wait = AGAIN_MS;
          if (type !== "error" && (type !== "id" || version === null)) await onChange(last ? Number(last) : Infinity);
        },
      });
    } catch (problem) {
      if (stream === mine) await ended(problem);
    }
    mine.abort();
    if (stream !== mine) return;
    stream = null;
    if (isOver) return;
    timer = setTimeout(open, wait);
    wait = Math.min(2 * wait, MOST_MS);
  }

  async function ended(problem) {
    if (problem.code === "events_gone") await onChange(Infinity).catch(() => {}); // another session of this id
    else if (problem.isGone || problem.status === 401) {
      isOver = true;
      onEnd(problem);
    }
  }

  function close() {
    clearTimeout(timer);
    if (stream) stream.abort();
    stream = null;
  }

  function again() {
    close();
    open();
  }

  // A browser has few connections to a server, for all its tabs: a hidden one needs none.
  const turned = () => (document.hidden ? close() : again());
  document.addEventListener("visibilitychange", turned);
  open();
  return {
    again,
    stop() {
      isOver = true;
      close();
      document.removeEventListener("visibilitychange", turned);
    },
  };
}
