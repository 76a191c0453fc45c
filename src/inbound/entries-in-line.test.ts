/** Entries that other nodes have made, put in line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultyPipeline, stopXml } from "../../test/support/faulty-pipeline.ts";
import { sharedDocuments } from "../../test/support/shared-documents.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { enterFile } from "../store/ledger/files.ts";
import { EntriesInLine } from "./entries-in-line.ts";
import { toWaitingFile } from "./lanes/waiting-file.ts";

const name = "a_20261105_080000.xml";
let rig: FaultyPipeline;
let companyId: number;

beforeEach(async () => {
  rig = await FaultyPipeline.start({}, sharedDocuments);
  companyId = await rig.addCompany("ACME");
});
afterEach(() => rig.end());

/** Which of the entries is in line, or was, after they have been read. */
async function read(fileId: number): Promise<readonly number[]> {
  const inLine: number[] = [];
  await rig.pipeline.readArrived({ companyId, fileIds: [fileId] }, (ids) => inLine.push(...ids));
  return inLine;
}

/** One that another node has entered, as it lies in `inbound/`. */
async function enteredElsewhere(of: string): Promise<{ readonly id: number; readonly path: string }> {
  const path = join(rig.locations.inboundDirectory("ACME"), of);
  writeFileSync(path, stopXml(["a"], of));
  const arrival = { companyId, name: of, channel: "sftp", userName: "host", size: 7, receivedAt: 1 } as const;
  const location = rig.locations.toLedger(path);
  const id = await rig.store.write(companyId, (tx) =>
    enterFile(tx, { ...arrival, nameTime: null, location }),
  );
  return { id, path };
}

test("a file that a scan is taking is left to that until it has it in line, or has it not", async () => {
  const { id, path } = await enteredElsewhere(name);
  rig.pipeline.reserve(path, { companyId, name });
  expect(await read(id)).toEqual([]);
  expect(rig.pipeline.undecidedCount(companyId)).toBe(0);
  rig.pipeline.release(path);
  expect(await read(id)).toEqual([id]);
  await waitFor("it to be decided", async () => (await rig.states(companyId))[name] === "applied");
});

test("files that are put in line together are known together: a scan takes none of them in between", async () => {
  const entered = [];
  for (const of of [name, "b_20261105_080000.xml", "c_20261105_080000.xml"])
    entered.push(await enteredElsewhere(of));
  const known = new Set<string>();
  const knownAtEachWait: number[] = [];
  const { store, locations } = rig;
  const entries = new EntriesInLine({
    ...{ store, locations, companyId },
    flushUploads: () => undefined,
    files: {
      fromLedger: (entry) => {
        known.add(entry.name);
        return toWaitingFile({
          ...entry,
          path: entry.source,
          channel: "sftp",
          sequence: entry.id,
          beganAt: undefined,
        });
      },
      ...{ isInLine: (path) => known.has(path), isBeingFiled: () => false, isReserved: () => false },
    },
    lanes: { of: async () => ({ size: 0, hold: () => () => undefined, add: () => undefined }) },
    receipts: {
      clearAll: async () => {
        knownAtEachWait.push(known.size);
      },
      removedElsewhere: () => undefined,
    },
  });
  const fileIds = entered.map(({ id }) => id);
  const inLine: number[] = [];
  await entries.readArrived({ companyId, fileIds }, (ids) => inLine.push(...ids));
  expect(knownAtEachWait).toEqual([3, 3, 3]);
  expect(inLine).toEqual(fileIds);
});
