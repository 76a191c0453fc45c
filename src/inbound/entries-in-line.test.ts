/** Entries that other nodes have made, put in line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultyPipeline, stopXml } from "../../test/support/faulty-pipeline.ts";
import { sharedDocuments } from "../../test/support/shared-documents.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { enterFile } from "../store/ledger/files.ts";

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

test("a file that a scan is taking is left to that until it has it in line, or has it not", async () => {
  const path = join(rig.locations.inboundDirectory("ACME"), name);
  writeFileSync(path, stopXml(["a"]));
  const arrival = { companyId, name, channel: "sftp", userName: "host", size: 7, receivedAt: 1 } as const;
  const location = rig.locations.toLedger(path);
  const id = await rig.store.write(companyId, (tx) =>
    enterFile(tx, { ...arrival, nameTime: null, location }),
  );
  rig.pipeline.reserve(path, { companyId, name });
  expect(await read(id)).toEqual([]);
  expect(rig.pipeline.undecidedCount(companyId)).toBe(0);
  rig.pipeline.release(path);
  expect(await read(id)).toEqual([id]);
  await waitFor("it to be decided", async () => (await rig.states(companyId))[name] === "applied");
});
