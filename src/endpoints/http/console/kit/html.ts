/**
 * HTML that is escaped unless it was made here: a template takes texts, numbers and other templates, and only the latter
 * keep their tags. Attributes are always quoted, so one way of escaping serves texts and attributes alike.
 */
import { escapeHtml } from "../../../../domain/messages/message-template.ts";

/** A piece of HTML whose texts are escaped. */
export class Html {
  readonly text: string;

  /** Only for what is known to be HTML: everything else goes through the template. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What a template takes; nothing is shown for `undefined`, `null` and `false`. */
export type Content = Html | string | number | undefined | null | false | readonly Content[];

function textOf(content: Content): string {
  if (content === undefined || content === null || content === false) return "";
  if (content instanceof Html) return content.text;
  if (typeof content === "string") return escapeHtml(content);
  if (typeof content === "number") return String(content);
  return content.map(textOf).join("");
}

/** The template: html`<p class="${name}">${text}</p>`. */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(strings.reduce((all, part, index) => all + textOf(contents[index - 1]) + part));
}
