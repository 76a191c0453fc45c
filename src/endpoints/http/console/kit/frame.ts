/** The document around every page: head, scripts, style, foot. Nothing in it is inline, so that the policy allows nothing inline. */
import { assetPath, type AssetName } from "../assets/assets.ts";
import { words } from "../words/words.ts";
import { type Content, type Html, html } from "./html.ts";
import { keyHelp } from "./key-help.ts";

/** htmx evaluates nothing, adds no style of its own, asks this server alone, keeps no page, and runs no script of an answer. */
const htmxConfig = JSON.stringify({
  allowEval: false,
  allowScriptTags: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  historyRestoreAsHxRequest: false,
});

export interface Frame {
  readonly basePath: string;
  readonly title: string;
  /** Above the page, such as the navigation. */
  readonly top: Content;
  readonly content: Content;
  /** Beside those that every page has. */
  readonly scripts?: readonly AssetName[];
}

function scriptTags(basePath: string, names: readonly AssetName[]): readonly Html[] {
  return names.map((name) => html`<script src="${assetPath(basePath, name)}" defer></script>\n`);
}

/** The whole document. */
export function frame({ basePath, title, top, content, scripts = [] }: Frame): string {
  const style = (name: AssetName) => html`<link rel="stylesheet" href="${assetPath(basePath, name)}">\n`;
  const charts = scripts.includes("uPlot.iife.min.js") ? style("uPlot.min.css") : "";
  // The theme is chosen before anything is shown, so that a dark page is never light for a moment.
  return html`<!doctype html>
<html lang="${words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="htmx-config" content="${htmxConfig}">
<title>${title} · dropgate</title>
<link rel="icon" href="${assetPath(basePath, "icon.svg")}" type="image/svg+xml">
${charts}${style("console.css")}<script src="${assetPath(basePath, "theme.js")}"></script>
${scriptTags(basePath, scripts)}<script type="module" src="${assetPath(basePath, "console.js")}"></script>
</head>
<body>
<a class="skip" href="#main">${words.frame.skip}</a>
${top}
<main id="main" tabindex="-1">
${content}
</main>
<footer class="foot">
<p>${words.frame.timesIn} <span class="unbroken" data-zone>${words.frame.utc}</span></p>
<p class="scripted" hidden><label for="theme">${words.frame.theme}</label> <select id="theme"><option value="">${words.frame.themeSystem}</option><option value="light">${words.frame.themeLight}</option><option value="dark">${words.frame.themeDark}</option></select>
<button type="button" class="plain" data-keys>${words.frame.keys} <kbd>?</kbd></button></p>
</footer>
${keyHelp()}
</body>
</html>
`.text;
}
