// Words in Markdown. Their tokens become elements of a closed set: nothing in them is read as HTML.

import { html, useMemo } from "./vendor/preact.js";
import { lexer } from "./vendor/marked.js";

const LONGEST = 50_000; // characters; longer words are shown as they are
const PROTOCOLS = ["https:", "http:", "mailto:", "tel:"];
const IN_WORD = /[\p{L}\p{N}]/u;

/** Words as elements. Props: `text`; `children` come at their end. */
export function Markdown({ text, children }) {
  const shown = useMemo(() => read(text), [text]);
  return html`<div class="words" dir="auto">${shown}${children}</div>`;
}

function read(text) {
  if (text.length > LONGEST) return text;
  try {
    return all(lexer(text));
  } catch {
    return text; // nested too deep
  }
}

function all(tokens) {
  return tokens.map((token, place) => {
    // In "3*4*5" no author meant the stars as marks.
    const isInWord = IN_WORD.test(end(tokens[place - 1])) && IN_WORD.test(begin(tokens[place + 1]));
    if (isInWord && ["em", "strong", "del"].includes(token.type)) return token.raw;
    return (SHOWN[token.type] || asWritten)(token);
  });
}

function end(token) {
  return token ? token.raw.slice(-1) : "";
}

function begin(token) {
  return token ? token.raw.slice(0, 1) : "";
}

const inner = (token) => (token.tokens ? all(token.tokens) : token.text);
const asWritten = (token) => token.raw;
const within = (name) => (token) => html`<${name} dir=${name === "p" ? "auto" : null}>${inner(token)}<//>`;

// Raw HTML, definitions of links and whatever else is not here are shown as they are written.
const SHOWN = {
  space: () => null,
  text: inner,
  paragraph: within("p"),
  blockquote: within("blockquote"),
  strong: within("strong"),
  em: within("em"),
  heading: (token) => html`<p dir="auto"><strong>${inner(token)}</strong></p>`,
  del: (token) => (token.raw.startsWith("~~") ? html`<del>${inner(token)}</del>` : token.raw),
  codespan: (token) => html`<code>${token.text}</code>`,
  code: (token) => html`<pre tabindex="0"><code>${token.text}</code></pre>`,
  escape: (token) => token.text,
  br: () => "\n", // as in all words, the style shows it
  hr: () => html`<hr />`,
  link: (token) => link(token, inner(token)),
  image: (token) => link(token, token.text || token.href), // the picture itself would ask another server
  list: (token) => {
    const items = token.items.map((item) => html`<li dir="auto">${inner(item)}</li>`);
    return token.ordered ? html`<ol start=${token.start}>${items}</ol>` : html`<ul>${items}</ul>`;
  },
  checkbox: (token) => (token.checked ? "☑ " : "☐ "),
  table: ({ header, rows }) => {
    const row = (cells, name) => html`<tr>${cells.map((cell) => html`<${name} dir="auto">${all(cell.tokens)}<//>`)}</tr>`;
    return html`<div class="table" tabindex="0" role="group" aria-label="Table"><table>
      <thead>${row(header, "th")}</thead>
      <tbody>${rows.map((cells) => row(cells, "td"))}</tbody>
    </table></div>`;
  },
};

function link(token, words) {
  const address = addressIn(token.href);
  if (!address) return token.raw;
  return html`<a href=${address} title=${address} target="_blank" rel="noopener noreferrer">${words}</a>`;
}

/** Return a whole address of a protocol that runs nothing; empty for any other. */
function addressIn(href) {
  try {
    const { protocol, href: whole } = new URL(href);
    return PROTOCOLS.includes(protocol) ? whole : "";
  } catch {
    return "";
  }
}
