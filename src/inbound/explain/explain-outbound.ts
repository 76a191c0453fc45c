/** The stories of what goes out: of what it was made, to whom it went, and where it lies. */
import { join } from "node:path";
import type { Reader } from "../../store/database/database.ts";
import { listFiles } from "../../store/ledger/file-lists.ts";
import type { ListedDelivery } from "../../store/outbound/delivery-queries.ts";
import { countWindow, findExport } from "../../store/outbound/exports.ts";
import {
  type CompletionOrigin,
  type ContainingExport,
  findCompletionOfName,
  findCompletionOrigin,
  listExportsWith,
  listWindow,
} from "../../store/outbound/outbound-origins.ts";
import type { FolderLooks, PathPresence } from "../recovery/folder-looks.ts";

export interface TargetFolder {
  readonly path: string;
  /** Whether it is the company's own, of which is recorded which host fetches what. */
  readonly isOwn: boolean;
  /** Look at it: it may be on a share whose server is gone. */
  readonly looks: Pick<FolderLooks, "presenceOf">;
}

/** The folder that a target of that name delivers into; undefined when it is none. */
export type FolderOfTarget = (target: {
  readonly company: string;
  readonly name: string;
}) => Promise<TargetFolder | undefined>;

export interface OutboundDeps {
  readonly read: Reader;
  readonly folderOfTarget: FolderOfTarget;
}

/**
 * Where a delivered file is: `done` when a host has moved it into the folder of that name, `silent` when the folder does
 * not answer.
 */
export interface OutboundPlace {
  readonly path: string;
  readonly presence: PathPresence | "done";
  /** Whether it is recorded who fetches files from there. */
  readonly isOwn: boolean;
}

export interface ToldDelivery extends ListedDelivery {
  /** Of what was delivered into a folder. */
  readonly place?: OutboundPlace;
}

/** A completion: which files its stop came from, and which exports have it. */
export interface CompletionStory {
  readonly stopNbr: string;
  readonly triggerCode: number;
  readonly madeAt: number;
  /** Files that were applied to the stop before, the newest first, at most 5. */
  readonly files: readonly { readonly id: number; readonly name: string }[];
  readonly exports: readonly ContainingExport[];
}

export interface ExportStory {
  readonly name: string;
  readonly sequenceNbr: number;
  readonly madeAt: number;
  readonly count: number;
  /** The first 20 of them. */
  readonly completions: readonly CompletionOrigin[];
}

/** Something that goes out, and its deliveries; without any, it goes out with exports alone. */
export interface OutboundStory {
  readonly company: string;
  readonly name: string;
  /** Undefined when it was removed with its age, and of messages. */
  readonly completion?: CompletionStory;
  readonly export?: ExportStory;
  readonly deliveries: readonly ToldDelivery[];
}

const maxFiles = 5;
const maxExports = 5;
const maxCompletions = 20;

async function placeOf({ path: folder, isOwn, looks }: TargetFolder, name: string): Promise<OutboundPlace> {
  const path = join(folder, name);
  const presence = await looks.presenceOf(folder, path);
  if (presence !== "gone") return { path, isOwn, presence };
  const done = join(folder, "done", name);
  const inDone = await looks.presenceOf(folder, done);
  if (inDone === "silent") return { path, isOwn, presence: inDone };
  return inDone === "there" ? { path: done, isOwn, presence: "done" } : { path, isOwn, presence };
}

async function tellDelivery(
  { folderOfTarget }: OutboundDeps,
  delivery: ListedDelivery,
): Promise<ToldDelivery> {
  const { company, target: name } = delivery;
  const folder = delivery.state === "delivered" ? await folderOfTarget({ company, name }) : undefined;
  return folder === undefined ? delivery : { ...delivery, place: await placeOf(folder, delivery.name) };
}

async function tellCompletion({ read }: OutboundDeps, origin: CompletionOrigin): Promise<CompletionStory> {
  const { companyId, stopNbr, triggerCode, createdAt } = origin;
  const applied = { companyId, stopNbr, states: ["applied"], until: createdAt, limit: maxFiles } as const;
  const files = (await listFiles(read, applied)).map(({ id, name }) => ({ id, name }));
  const exports = await listExportsWith(read, { ...origin, limit: maxExports });
  return { stopNbr, triggerCode, madeAt: createdAt, files, exports };
}

async function tellExport({ read }: OutboundDeps, id: number): Promise<ExportStory | undefined> {
  const made = await findExport(read, id);
  if (made === undefined) return undefined;
  const { name, sequenceNbr, createdAt } = made;
  const completions = await listWindow(read, { ...made, limit: maxCompletions });
  return { name, sequenceNbr, madeAt: createdAt, count: await countWindow(read, made), completions };
}

async function originOf(deps: OutboundDeps, { kind, subjectId }: ListedDelivery) {
  if (kind === "export") return { export: await tellExport(deps, subjectId) };
  if (kind === "message") return {};
  const origin = await findCompletionOrigin(deps.read, subjectId);
  return { completion: origin && (await tellCompletion(deps, origin)) };
}

/** The stories of these deliveries, those of the same completion or export in one. */
export async function tellOutbound(
  deps: OutboundDeps,
  deliveries: readonly ListedDelivery[],
): Promise<readonly OutboundStory[]> {
  const groups = new Map<string, ListedDelivery[]>();
  for (const delivery of deliveries) {
    const key = `${delivery.kind} ${delivery.subjectId} ${delivery.name}`;
    groups.set(key, [...(groups.get(key) ?? []), delivery]);
  }
  const stories: OutboundStory[] = [];
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const { completion, export: made } = {
      completion: undefined,
      export: undefined,
      ...(await originOf(deps, first)),
    };
    stories.push({
      ...{ company: first.company, name: first.name },
      ...(completion === undefined ? {} : { completion }),
      ...(made === undefined ? {} : { export: made }),
      deliveries: await Promise.all(group.map((one) => tellDelivery(deps, one))),
    });
  }
  return stories;
}

/** The story of a completion that no target gets at once. */
export async function tellCompletionAlone(
  deps: OutboundDeps,
  key: { readonly companyId: number; readonly company: string; readonly name: string },
): Promise<readonly OutboundStory[]> {
  const origin = await findCompletionOfName(deps.read, key);
  if (origin === undefined) return [];
  const { company, name } = key;
  return [{ company, name, completion: await tellCompletion(deps, origin), deliveries: [] }];
}
