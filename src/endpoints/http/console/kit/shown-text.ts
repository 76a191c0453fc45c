/** Texts of others on a page: names of files, comments, messages. They change neither the order nor the look of ours. */
import { visible } from "../../../../lib/logs/visible-text.ts";
import { type Content, type Html, html } from "./html.ts";
import { timeText } from "./times.ts";

/** Longest text of others in one place of a list; the page of the thing itself has the whole. */
const longestInList = 120;

/** Between marks upon one letter, more than any script has: as one letter it would be wider than a narrow screen. */
const withinPile = /(?<=\p{M}{16})(?=\p{M})/u;

/** A text of others that a line may break anywhere. */
function breakable(text: string): Content {
  const [first = "", ...rest] = text.split(withinPile);
  return rest.length === 0 ? first : [first, rest.map((part) => html`<wbr>${part}`)];
}

/**
 * A text of others, whole: isolated, so that signs of a right-to-left script turn nothing around it, and with characters that
 * nobody would see made visible.
 */
export function shown(text: string): Html {
  return html`<bdi class="foreign">${breakable(visible(text))}</bdi>`;
}

/** The same for a list: a long text is cut, and its title has more of it. */
export function shortened(text: string, length = longestInList): Html {
  const whole = visible(text);
  if (whole.length <= length) return shown(text);
  const cut = whole.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "");
  return html`<bdi class="foreign" title="${whole.slice(0, 2_000)}">${breakable(cut)}…</bdi>`;
}

/** Code, numbers and identifiers: the same in a fixed-width font. */
export function code(text: string): Html {
  return html`<code><bdi>${breakable(visible(text))}</bdi></code>`;
}

/** A command to be copied: one click selects the whole of it. */
export function command(text: string): Html {
  return html`<code class="command">${visible(text)}</code>`;
}

/** A moment as the catalogues of the commands write it; within a name of a file it is none. */
const moment = /(?<![\w.:/-])(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z)(?![\w-]|[.:/]\w)/;

/** What is between two moments is a text, what is one becomes a time in the zone of the viewer. */
function withMoments(text: string): Content {
  return text.split(moment).map((part, index) => {
    const at = index % 2 === 0 ? Number.NaN : Date.parse(part);
    return Number.isNaN(at) ? breakable(visible(part)) : timeText(at);
  });
}

/** A sentence of ours, in which moments and names of others may stand. */
export function sentence(text: string): Html {
  return html`<bdi class="foreign">${withMoments(text)}</bdi>`;
}

/**
 * A text of ours, in which commands and settings stand between backticks, as in the catalogues of the commands; moments
 * are those of `sentence`.
 */
export function prose(text: string): Html {
  const parts = text.split("`");
  // One without its end is no command.
  const whole = parts.length % 2 === 1 ? parts : [...parts.slice(0, -2), parts.slice(-2).join("`")];
  return html`${whole.map((part, index) => (index % 2 === 0 ? withMoments(part) : command(part)))}`;
}

/** Catalogues of commands begin in lower case; names of settings and commands stay as they are. */
export function capitalised(text: string): string {
  return /^[a-z]+(?=[\s,:;]|$)/.test(text) ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` : text;
}

/** A text of several lines as it is, such as a document; what does not fit scrolls, by keys too. */
export function listing(text: string, label: string): Html {
  const lines = text.replaceAll("\r\n", "\n").replace(/[^\n\t]+/g, visible);
  // The first line break after the tag is no part of the text.
  return html`<pre class="foreign" role="group" aria-label="${label}" tabindex="0">
${lines}</pre>`;
}
