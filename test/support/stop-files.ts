/** Stop files as hosts write them, and the receipts that answer them. */
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sftp } from "./clients.ts";
import type { Site } from "./daemon.ts";
import { waitFor } from "./wait-for.ts";
import { rowsOf } from "./site-database.ts";

export interface StopFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

export type StopFunction = "01" | "02" | "03";

/** One `Stop` element. `more` is XML that goes in at the end. */
export function stopElement(stopNbr: string, more = "", stopFunction: StopFunction = "01"): string {
  return `<Stop>
  <Function>${stopFunction}</Function>
  <StopNbr>${stopNbr}</StopNbr>
  <ShipToName>Corner Shop</ShipToName>
  <ShipToCity>Springfield</ShipToCity>
  <EarliestStartDTTM>2026-11-06T08:00:00</EarliestStartDTTM>
  <TimeZone>America/Chicago</TimeZone>
  ${more}
</Stop>`;
}

export const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

export function stopsDocument(stops: readonly string[], head = ""): string {
  return `${declaration}<Stops>${head}${stops.join("\n")}</Stops>`;
}

/** `time` is hhmmss of one day, or the whole of date and time. */
export function fileName(stopNbr: string, time = "080000"): string {
  return `${stopNbr.toLowerCase()}_${time.includes("_") ? time : `20261105_${time}`}.xml`;
}

/** A file that creates or changes a stop, named after it. */
export function stopFile(
  stopNbr: string,
  options: { time?: string; more?: string; stopFunction?: StopFunction } = {},
): StopFile {
  const content = `${declaration}${stopElement(stopNbr, options.more, options.stopFunction)}\n`;
  return { name: fileName(stopNbr, options.time), content };
}

export function deletionFile(stopNbr: string, time: string): StopFile {
  const content = `<Stop><Function>02</Function><StopNbr>${stopNbr}</StopNbr></Stop>`;
  return { name: fileName(stopNbr, time), content };
}

export function carrier(code: string): string {
  return `<StopAssignment><CarrierCode>${code}</CarrierCode></StopAssignment>`;
}

export interface ReceiptError {
  readonly code: number;
  readonly line?: number;
  readonly path?: string;
  readonly text: string;
}

export interface Receipt {
  readonly documentId: string;
  readonly status: number;
  readonly errors: readonly ReceiptError[];
  /** Records created, updated, deleted. */
  readonly records: readonly [number, number, number];
}

function unescapeXml(text: string): string {
  const plain = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" } as const;
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => plain[entity as keyof typeof plain]);
}

function elementOf(xml: string, name: string): string {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (found === undefined) throw new Error(`no ${name} in ${xml}`);
  return unescapeXml(found);
}

/** Reads a StopResponse; for its form there is the XSD and its own tests. */
export function parseReceipt(xml: string): Receipt {
  const errors = [...xml.matchAll(/<Error ([^>]*)>([^<]*)<\/Error>/g)].map(
    ([, attributes = "", text = ""]) => {
      const attribute = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1];
      const [line, path] = [attribute("Line"), attribute("Path")];
      return {
        code: Number(attribute("ErrorMsgID")),
        ...(line === undefined ? {} : { line: Number(line) }),
        ...(path === undefined ? {} : { path: unescapeXml(path) }),
        text: unescapeXml(text),
      };
    },
  );
  const count = (name: string) => Number(elementOf(xml, name));
  return {
    documentId: elementOf(xml, "DocumentID"),
    status: count("Status"),
    errors,
    records: [count("RecordsCreated"), count("RecordsUpdated"), count("RecordsDeleted")],
  };
}

export const codesOf = (receipt: Receipt): number[] => receipt.errors.map(({ code }) => code);

export function receiptName(name: string): string {
  return `${name.replace(/\.xml$/i, "")}.receipt.xml`;
}

/** The receipt of a file, as soon as it is there. */
export async function receiptFor(site: Site, name: string, timeoutMs?: number): Promise<Receipt> {
  const path = site.path("receipts", receiptName(name));
  await waitFor(`the receipt of ${name}`, () => existsSync(path), timeoutMs);
  return parseReceipt(await readFile(path, "utf8"));
}

/** Files below `archive` or `error`, without the receipts. */
export async function filedIn(site: Site, folder: "archive" | "error"): Promise<string[]> {
  const all = await readdir(site.path(folder), { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".receipt.xml"))
    .map(({ name }) => name)
    .sort();
}

/** Everything in `inbound` but the folders that are ours. */
export async function waitingIn(site: Site): Promise<string[]> {
  const all = await readdir(site.path("inbound"), { withFileTypes: true });
  return all.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** The receipt beside a refused file, as soon as it is there. */
export async function receiptBeside(site: Site, name: string): Promise<Receipt> {
  const path = await waitFor(`the receipt beside ${name}`, async () => {
    const all = await readdir(site.path("error"), { recursive: true });
    return all.find((each) => each.endsWith(`/${receiptName(name)}`));
  });
  return parseReceipt(await readFile(site.path("error", path), "utf8"));
}

/** Waits until the entry of a file is marked as filed, which is a moment after its receipt: it can be tried again then. */
export async function filedAway(site: Site, name: string): Promise<void> {
  const unfiled = "select id from files where name = ? and is_filed = 0";
  await waitFor(`${name} to be filed`, () => rowsOf(site, unfiled, name).length === 0);
}

/** Writes files into the clients' folder. */
export async function writeLocally(site: Site, files: readonly StopFile[]): Promise<void> {
  await Promise.all(files.map(({ name, content }) => writeFile(join(site.client, name), content)));
}

/** A path as the commands of OpenSSH's client take it. */
const quoted = (path: string) => `"${path.replaceAll('"', '\\"')}"`;

/** Puts files with OpenSSH's client, one after the other in one session. */
export async function put(site: Site, ...files: readonly StopFile[]): Promise<void> {
  await writeLocally(site, files);
  const commands = files.map(({ name }) => `put ${quoted(name)} ${quoted(`inbound/${name}`)}`);
  const result = await sftp(site, commands);
  if (result.exitCode !== 0) throw new Error(`sftp ended with ${result.exitCode}: ${result.output}`);
}

/** Puts one file and gives its receipt. */
export async function send(site: Site, file: StopFile): Promise<Receipt> {
  await put(site, file);
  return await receiptFor(site, file.name);
}
