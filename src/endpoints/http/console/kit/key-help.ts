/** The list of keys, which the script opens, and the switch that turns them off. */
import { words } from "../words/words.ts";
import { type Html, html } from "./html.ts";

const keys: readonly (readonly [keys: readonly string[], text: string])[] = [
  [["/"], words.keys.find],
  [["g", "t"], words.keys.today],
  [["g", "f"], words.keys.files],
  [["g", "d"], words.keys.deliveries],
  [["g", "r"], words.keys.remotes],
  [["g", "h"], words.keys.health],
  [["g", "u"], words.keys.users],
  [["g", "p"], words.keys.hosts],
  [["g", "a"], words.keys.audit],
  [["j"], words.keys.nextRow],
  [["k"], words.keys.previousRow],
  [["r"], words.keys.reload],
  [["?"], words.keys.help],
];

/** A dialog that is shown by its script alone; without it there are no keys either. */
export function keyHelp(): Html {
  const rows = keys.map(
    ([pressed, text]) =>
      html`<div><dt>${pressed.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${text}</dd></div>`,
  );
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">${words.keys.title}</h2>
<dl class="facts">${rows}</dl>
<p><label class="check"><input type="checkbox" id="keys-on" checked> <span>${words.keys.on}</span></label></p>
<form method="dialog"><button>${words.keys.close}</button></form></dialog>`;
}
