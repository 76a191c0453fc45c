/**
 * What pages load: style, scripts and pictures, each by its exact name. The address has the beginning of the SHA-256 of the
 * content, so that browsers keep it for good, and a new version is a new address.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

/** Our own files lie in `web`, five folders up from here, built or not. */
const own = (name: string) => fileURLToPath(new URL(`../../../../../web/${name}`, import.meta.url));

/** The parts of the style sheet, in the order in which they hold. */
const styles = ["tokens", "base", "lead", "frame", "parts", "tables", "forms", "pictures", "media"];

const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";

interface Source {
  readonly type: string;
  /** The files that it consists of. */
  find(): readonly string[];
}

const ours = (type: string, name: string): Source => ({ type, find: () => [own(name)] });
const installed = (type: string, name: string): Source => ({ type, find: () => [require.resolve(name)] });

const sources = {
  "console.css": { type: style, find: () => styles.map((name) => own(`style/${name}.css`)) },
  "docs.css": { type: style, find: () => [own("style/tokens.css"), own("style/lead.css"), own("docs.css")] },
  "docs.js": ours(script, "docs.js"),
  "theme.js": ours(script, "theme.js"),
  "console.js": ours(script, "console.js"),
  "live.js": ours(script, "live.js"),
  "charts.js": ours(script, "charts.js"),
  "icon.svg": ours("image/svg+xml", "icon.svg"),
  "htmx.min.js": installed(script, "htmx.org/dist/htmx.min.js"),
  "idiomorph-ext.min.js": installed(script, "idiomorph/dist/idiomorph-ext.min.js"),
  "uPlot.iife.min.js": installed(script, "uplot/dist/uPlot.iife.min.js"),
  "uPlot.min.css": installed(style, "uplot/dist/uPlot.min.css"),
} satisfies Readonly<Record<string, Source>>;

export type AssetName = keyof typeof sources;

/** What a page needs that changes while it is looked at: its parts are put in place of the former ones. */
export const live = ["htmx.min.js", "idiomorph-ext.min.js"] as const satisfies AssetName[];

/** What a page with charts needs. */
export const charts = ["uPlot.iife.min.js"] as const satisfies AssetName[];

export interface Asset {
  readonly type: string;
  /** The beginning of the SHA-256 of the content. */
  readonly version: string;
  readonly content: Uint8Array;
}

const versionLength = 16;
const read = new Map<AssetName, Asset>();

function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(sources, name);
}

/** Read at the first use. Throws when the program is not whole. */
function assetOf(name: AssetName): Asset {
  const known = read.get(name);
  if (known !== undefined) return known;
  const { type, find } = sources[name];
  const content = Buffer.concat(find().map((path) => readFileSync(path)));
  const version = createHash("sha256").update(content).digest("hex").slice(0, versionLength);
  const asset = { type, version, content };
  read.set(name, asset);
  return asset;
}

/** The asset of that name; undefined when there is none. */
export function findAsset(name: string): Asset | undefined {
  return isAssetName(name) ? assetOf(name) : undefined;
}

/** Its address, as `src` and `href` take it. */
export function assetPath(basePath: string, name: AssetName): string {
  return `${basePath}/console/assets/${assetOf(name).version}/${name}`;
}
