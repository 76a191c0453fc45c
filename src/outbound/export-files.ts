/** From the row of an export to its files: rendered once into a spool, from which they are read at each attempt. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { xmlContentType } from "../documents/writing/element-writer.ts";
import { renderExportDocument } from "../documents/writing/export-document.ts";
import {
  type ExportedFile,
  type ExportHead,
  type ExportManifest,
  renderExportManifest,
} from "../documents/writing/export-manifest.ts";
import { unlink } from "../lib/files/changes.ts";
import { makeDirectoryDurably } from "../lib/files/durable-file.ts";
import { listCompletions, type StoredCompletion } from "../store/outbound/completions.ts";
import type { Store } from "../store/database/database.ts";
import { countWindow, type ExportRecord, findExport, listOpenExports } from "../store/outbound/exports.ts";
import { type ExportNames, exportNames } from "./export-runs.ts";
import { Spool, type SpooledFile } from "./export-spool.ts";
import type { ReadCompletionDocument } from "./completion-documents.ts";
import type { RenderDelivery } from "./delivery-to-render.ts";
import { completionText, renderable } from "./render-delivery.ts";
import type { DeliveryFile } from "./target.ts";

/** How the files are written. The same arguments give the same text. */
export interface ExportRendering {
  /** The file of one completion, as it is delivered by itself. */
  completion(stored: StoredCompletion, companyCode: string): Promise<string>;
  /** One document of all completions, in pieces. */
  document(head: ExportHead, completions: AsyncIterable<StoredCompletion>): AsyncIterable<string>;
  manifest(manifest: ExportManifest): string;
}

/** Each completion as in the file that is delivered of it by itself. */
export function createExportRendering(readDocument: ReadCompletionDocument): ExportRendering {
  async function* renderables(completions: AsyncIterable<StoredCompletion>) {
    for await (const stored of completions) yield renderable(stored, readDocument);
  }
  return {
    completion: (stored, companyCode) => completionText(stored, companyCode, readDocument),
    document: (head, completions) => renderExportDocument({ head, completions: renderables(completions) }),
    manifest: renderExportManifest,
  };
}

interface ExportFilesDeps {
  readonly store: Pick<Store, "read">;
  readonly rendering: ExportRendering;
  /** The folder of the spools; nothing else is in it. */
  readonly directory: string;
}

const completionsAtOnce = 64;

type Read = Store["read"];

/** The completions of a window in their order, a page at a time, with a turn of the event loop between two pages. */
async function* completionsOf(read: Read, made: ExportRecord, signal: AbortSignal) {
  const { companyId, lastCompletionId: lastId } = made;
  let afterId = made.afterCompletionId;
  for (;;) {
    const page = await listCompletions(read, { companyId, afterId, lastId, limit: completionsAtOnce });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    afterId = last.id;
    await setImmediate();
    signal.throwIfAborted();
  }
}

interface Rendered {
  readonly spool: Spool;
  readonly directory: string | undefined;
  /** The manifest last. */
  readonly files: readonly SpooledFile[];
}

interface Rendering {
  readonly deps: ExportFilesDeps;
  readonly made: ExportRecord;
  readonly names: ExportNames;
  readonly spool: Spool;
  readonly signal: AbortSignal;
}

function headOf(made: ExportRecord, count: number): ExportHead {
  const { companyCode, name, sequenceNbr, windowBegin: begin, windowEnd: end, dueAt, createdAt } = made;
  const window = { begin, end, dueAt, createdAt };
  return { companyCode, name, sequenceNbr, window, count };
}

interface Content {
  readonly count: number;
  readonly spooled: readonly SpooledFile[];
  readonly listed: readonly ExportedFile[];
}

function listedFile({ name, sha256, length }: SpooledFile, stopNbr?: string): ExportedFile {
  return { name, sha256, bytes: length, ...(stopNbr === undefined ? {} : { stopNbr }) };
}

async function writeSingleFiles({ deps, made, spool, signal }: Rendering): Promise<Content> {
  const spooled: SpooledFile[] = [];
  const listed: ExportedFile[] = [];
  for await (const stored of completionsOf(deps.store.read, made, signal)) {
    const text = await deps.rendering.completion(stored, made.companyCode);
    const file = await spool.write(stored.name, [text]);
    spooled.push(file);
    listed.push(listedFile(file, stored.stopNbr));
  }
  return { count: spooled.length, spooled, listed };
}

async function writeDocument(rendering: Rendering): Promise<Content> {
  const { deps, made, names, spool, signal } = rendering;
  // Counted before: it stands at the document's head.
  const count = await countWindow(deps.store.read, made);
  const completions = completionsOf(deps.store.read, made, signal);
  const file = await spool.write(names.delivery, deps.rendering.document(headOf(made, count), completions));
  return { count, spooled: [file], listed: [listedFile(file)] };
}

async function writeAll(rendering: Rendering): Promise<Rendered> {
  const { deps, made, names, spool } = rendering;
  const isSingle = made.form === "files";
  const { count, spooled, listed } = await (isSingle ? writeSingleFiles : writeDocument)(rendering);
  const text = deps.rendering.manifest({ ...headOf(made, count), files: listed });
  const manifest = await spool.write(names.manifest, [text]);
  await spool.flush();
  return { spool, directory: names.directory, files: [...spooled, manifest] };
}

async function renderInto(deps: ExportFilesDeps, exportId: number, signal: AbortSignal): Promise<Rendered> {
  const made = await findExport(deps.store.read, exportId);
  if (made === undefined) throw new Error(`there is no export ${exportId}`);
  const spool = await Spool.create(join(deps.directory, `${exportId}.spool`));
  try {
    return await writeAll({ deps, made, names: exportNames(made), spool, signal });
  } catch (error) {
    await spool.remove();
    throw error;
  }
}

function deliveryFileOf(spool: Spool, file: SpooledFile): DeliveryFile {
  return { name: file.name, contentType: xmlContentType, read: () => spool.read(file) };
}

/** Renders exports for the queue. */
export class ExportFiles {
  readonly #deps: ExportFilesDeps;
  readonly #rendered = new Map<number, Promise<Rendered>>();
  readonly #closing = new AbortController();

  constructor(deps: ExportFilesDeps) {
    this.#deps = deps;
  }

  /** Removes what an earlier run has left. Before anything else, once. */
  async start(): Promise<void> {
    const { directory } = this.#deps;
    await makeDirectoryDurably(directory);
    for (const name of await readdir(directory)) await unlink(join(directory, name));
  }

  /** A delivery of the kind `export`: its files, the manifest last; the same bytes each time. */
  readonly render: RenderDelivery = async ({ guid, companyCode, subjectId }) => {
    const { spool, directory, files } = await this.#renderOnce(subjectId);
    const delivery = {
      id: guid,
      companyCode,
      ...(directory === undefined ? {} : { directory }),
      files: files.map((file) => deliveryFileOf(spool, file)),
    };
    return { delivery, sha256: null, size: files.reduce((sum, { length }) => sum + length, 0) };
  };

  /** Gives up what is being rendered, so that nobody has to wait for it; from then on nothing is rendered. */
  stopRendering(): void {
    this.#closing.abort(new Error("dropgate is stopping"));
  }

  /** Removes the files of exports whose deliveries are all done. */
  async tidy(): Promise<void> {
    const known = [...this.#rendered.keys()];
    const open = await listOpenExports(this.#deps.store.read, known);
    for (const exportId of known) if (!open.has(exportId)) await this.#forget(exportId);
  }

  /** Removes all. Nothing may be reading any more. */
  async close(): Promise<void> {
    this.stopRendering();
    for (const exportId of [...this.#rendered.keys()]) await this.#forget(exportId);
  }

  #renderOnce(exportId: number): Promise<Rendered> {
    const known = this.#rendered.get(exportId);
    if (known !== undefined) return known;
    const rendering = renderInto(this.#deps, exportId, this.#closing.signal);
    this.#rendered.set(exportId, rendering);
    // The next attempt renders it again.
    rendering.catch(() => this.#rendered.delete(exportId));
    return rendering;
  }

  async #forget(exportId: number): Promise<void> {
    const rendering = this.#rendered.get(exportId);
    this.#rendered.delete(exportId);
    // One that failed has removed its spool.
    const done = await rendering?.catch(() => undefined);
    await done?.spool.remove();
  }
}
