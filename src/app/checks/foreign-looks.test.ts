import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { patienceMs, waitFor } from "../../../test/support/wait-for.ts";
import { dropFolderFaults } from "./folder-faults.ts";
import { ForeignLooks } from "./foreign-looks.ts";

let folder: string;
let looks: ForeignLooks;

beforeEach(() => {
  folder = temporaryFolder();
  looks = new ForeignLooks();
});
afterEach(() => looks.end());

const placeOf = (name: string) => ({ kind: "watched", company: "ACME", path: join(folder, name) }) as const;

test("what lies in a folder is found as this process itself would find it", async () => {
  writeFileSync(join(folder, "a.xml"), "<Stops>");
  mkdirSync(join(folder, "b"));
  expect((await looks.namesIn(folder)).toSorted()).toEqual(["a.xml", "b"]);
  expect(await looks.fileAt(folder, placeOf("a.xml"))).toEqual({
    ...placeOf("a.xml"),
    ...{ isRegular: true, isReadable: true, isOpenEnded: true, size: 7, modifiedAt: expect.any(Number) },
  });
  expect(await looks.fileAt(folder, placeOf("none"))).toBeUndefined();
  const presence = (name: string) => looks.presenceOf(folder, join(folder, name));
  expect([await presence("b"), await presence("none")]).toEqual(["there", "gone"]);
  expect(await looks.namesIn(join(folder, "none"))).toEqual([]);
  expect([...looks.faults]).toEqual([]);
});

/** A program that answers for one folder, and for those to warm up with, and never for others. */
async function partlyDead(answering: string): Promise<ForeignLooks> {
  const file = join(folder, "hangs.mjs");
  await writeFile(
    file,
    `import { appendFileSync, writeFileSync } from "node:fs";
     writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(process.pid));
     process.on("message", ({ nbr, question }) => {
       appendFileSync(${JSON.stringify(join(folder, "asked"))}, question.folder + "\\n");
       const isAlive = question.folder === ${JSON.stringify(answering)} || question.folder.startsWith("/warm");
       if (isAlive) process.send({ nbr, answer: { kind: "found", found: ["x"] } });
     });`,
  );
  looks = new ForeignLooks({ timeoutMs: 8_000, file });
  let warm = 0;
  await waitFor("the process to answer", async () => {
    warm += 1;
    return (await looks.namesIn(`/warm${warm}`)).length > 0;
  });
  return looks;
}

test("a folder that does not answer in time is asked once, keeps no other, and the process that asks is ended", async () => {
  const dying = await partlyDead("/alive");
  const [dead, place, gone, alive] = await Promise.all([
    dying.namesIn("/dead"),
    dying.fileAt("/dead", placeOf("a.xml")),
    dying.presenceOf("/dead", "/dead/a"),
    dying.namesIn("/alive"),
  ]);
  expect([dead, place, gone, alive]).toEqual([[], undefined, "silent", ["x"]]);
  const asked = (await readFile(join(folder, "asked"), "utf8")).trim().split("\n");
  expect(asked.filter((path) => !path.startsWith("/warm")).toSorted()).toEqual(["/alive", "/dead"]);
  const searched = (path: string, isInbox = false) => ({ companyCode: "ACME", path, isInbox });
  expect(
    dropFolderFaults([searched("/alive"), searched("/dead"), searched("/dead", true)], dying.faults),
  ).toEqual([
    expect.stringMatching(
      /^Nothing is taken from \/dead \(company ACME\): it does not answer within 10 seconds/,
    ),
  ]);
  const pid = Number(await readFile(join(folder, "pid"), "utf8"));
  dying.end();
  await waitFor("the end of the process", () => !existsSync(`/proc/${pid}`));
});

test("a process that cannot go on is a fault of the folder that it was asked for, told by how it ended", async () => {
  const file = join(folder, "breaks.mjs");
  await writeFile(file, `process.on("message", () => process.exit(3));`);
  looks = new ForeignLooks({ timeoutMs: patienceMs, file });
  expect([await looks.namesIn("/a"), await looks.presenceOf("/a", "/a/b")]).toEqual([[], "unreadable"]);
  expect([...looks.faults]).toEqual([
    ["/a", { kind: "failed", code: "the process that looks has ended (3)" }],
  ]);
});
