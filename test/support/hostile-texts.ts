/** Texts of clients that would break or run in a page that shows them as HTML. Each sets `window.ran` where it runs. */
import { declaration, fileName, type StopFile, stopElement } from "./stop-files.ts";

const escapeXml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const script = "window.ran=1";

export const hostileTexts: Readonly<Record<string, string>> = {
  script: `</script><script>${script}</script>`,
  image: `"><img src=x onerror=${script}>`,
  attribute: `' onmouseover='${script}' onfocus='${script}' autofocus x='`,
  vector: `<svg/onload=${script}><style>*{display:none}</style>`,
  template: `\${${script}} {{constructor.constructor('${script}')()}}`,
  attributesOfHtmx: `<div hx-get="/console" hx-trigger="load" hx-on:load="${script}">x</div>`,
  address: `javascript:${script}`,
  entity: `&lt;script&gt;${script}&lt;/script&gt;&#60;b&#62;`,
  comment: `--><script>${script}</script><!--`,
  rightToLeft: "\u202Eevil\u2066lmx.exe\u200F\u2029",
  combining: `z${"\u0336\u0489".repeat(60)}`,
  spreadsheet: `=HYPERLINK("http://127.0.0.1:9/","x")`,
};

/** Without a blank or a hyphen where a line may end. */
const long = "W".repeat(2_000);

function hostileStop(stopNbr: string, name: string, text: string): string {
  const whole = escapeXml(text);
  const fields = [
    `<Reference1>${escapeXml(text.slice(0, 50))}</Reference1>`,
    `<ShipToAddr2>${whole}</ShipToAddr2>`,
    `<Accessorials><Accessorial><Code>${whole}</Code><Comments>${whole}</Comments></Accessorial></Accessorials>`,
  ];
  const comment = `<!-- ${name} ${whole.replaceAll("--", "- -")} -->`;
  return `${declaration}${comment}\n${stopElement(stopNbr, fields.join(""))}\n`;
}

/** Files that are taken, with a hostile text in a comment and in fields of their stop. */
const contents: readonly StopFile[] = Object.entries({ ...hostileTexts, long }).map(([name, text], index) => {
  const stopNbr = `66${String(index).padStart(2, "0")}`;
  return { name: fileName(stopNbr), content: hostileStop(stopNbr, name, text) };
});

/** Files that are refused, and whose names are hostile. A name has no slash, no backslash and no control character. */
const names: readonly StopFile[] = [
  `<img src=x onerror=${script}>_20261105_080000.xml`,
  `"><script>${script}<script>.xml`,
  `' autofocus onfocus='${script}.xml`,
  "\u202Elmx.exe\u2066_20261105_080000.xml",
  `${"w".repeat(200)}_20261105_080000.xml`,
  "a%2e%2e%2fb&c=d#e?f+g;h.xml",
].map((name) => ({ name, content: `<Stop><StopNbr>${escapeXml(name)}</StopNbr></Stop>` }));

/** A document whose faults carry the texts back. */
const faulty: StopFile = {
  name: fileName("6690"),
  content: `${declaration}${stopElement("6690", `<LatestStartDTTM>${escapeXml(hostileTexts["image"] ?? "")}</LatestStartDTTM>`)}\n`,
};

export const hostileFiles: readonly StopFile[] = [...contents, ...names, faulty];
