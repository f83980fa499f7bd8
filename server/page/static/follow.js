// With `serve --reload`: load the page again when the server has started again.

const LOOK_MS = 1000;
let known = "";

async function look() {
  try {
    const answer = await fetch("page/start", { cache: "no-store" });
    const start = answer.ok ? await answer.text() : `faulty ${answer.status}`;
    if (known && start !== known) location.reload();
    known = start;
  } catch {
    // The server stops or starts just now.
  }
  setTimeout(look, LOOK_MS);
}

look();
