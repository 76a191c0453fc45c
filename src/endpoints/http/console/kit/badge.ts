/** A state in a few words, with a sign and a colour; never the colour alone. */
import { type Html, html } from "./html.ts";

/** ok: done, well. wait: under way, waiting. bad: refused, failed. off: switched off, over, without effect. */
export type BadgeKind = "ok" | "wait" | "bad" | "off";

const signs: Readonly<Record<BadgeKind, string>> = { ok: "✓", wait: "…", bad: "✕", off: "–" };

export function badge(kind: BadgeKind, text: string): Html {
  return html`<span class="badge ${kind}"><span aria-hidden="true">${signs[kind]}</span> ${text}</span>`;
}
