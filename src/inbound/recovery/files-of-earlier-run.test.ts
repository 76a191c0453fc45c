import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { FilesOfEarlierRun } from "./files-of-earlier-run.ts";

const log = createLogger({ level: "silent" });
const companyId = 1;
const at = (stop: string, hour: string) => `${stop}_20261105_${hour}0000.xml`;

/** Looks through folders with these files; `isOver` says whether the company goes on. */
async function lookThrough(files: Readonly<Record<string, readonly string[]>>, more: readonly string[] = []) {
  const root = temporaryFolder();
  for (const folder of ["inbound", "drop"]) {
    mkdirSync(join(root, folder));
    for (const name of files[folder] ?? []) writeFileSync(join(root, folder, name), "x");
  }
  const inbound = join(root, "inbound");
  const leftBehind = new FilesOfEarlierRun(log);
  let isOver = false;
  const furtherFolders = [join(root, "drop"), ...more];
  const company = { companyId, companyCode: "ACME", inbound, furtherFolders, settleMs: 60_000 };
  await leftBehind.waitFor({ ...company, isKnown: () => false }, () => {
    isOver = true;
  });
  const arrived = (name: string, company = companyId) =>
    leftBehind.arrived({ companyId: company, name, path: join(inbound, name) });
  return { leftBehind, arrived, isOver: () => isOver };
}

test("what lies in inbound/ and in further folders is waited for, until the last of it is in line", async () => {
  const { arrived, isOver } = await lookThrough({
    inbound: [at("a", "08")],
    drop: [at("b", "08"), at("b", "09")],
  });
  for (const name of [at("a", "08"), at("b", "09")]) arrived(name);
  // Of another company.
  arrived(at("b", "08"), 2);
  expect(isOver()).toBe(false);
  arrived(at("b", "08"));
  expect(isOver()).toBe(true);
});

test("a file that stays in its folder is waited for no longer, nor the later ones of its stop, which are behind it", async () => {
  const { leftBehind, arrived, isOver } = await lookThrough({
    drop: [at("b", "08"), at("b", "09"), at("b", "10"), at("c", "08")],
  });
  leftBehind.stays({ companyId, name: at("b", "09") });
  arrived(at("c", "08"));
  expect(isOver()).toBe(false);
  arrived(at("b", "08"));
  expect(isOver()).toBe(true);
});

test("names that say nothing of a stop, unfinished ones and folders that cannot be listed are not waited for", async () => {
  const drop = ["orders.xml", `${at("a", "08")}.part`, `.${at("a", "08")}`];
  const { isOver } = await lookThrough({ drop }, ["/nowhere/at/all"]);
  expect(isOver()).toBe(true);
});

test("a further folder whose listing is under way is listed once, and waited for by all who ask", async () => {
  const root = temporaryFolder();
  for (const folder of ["inbound", "drop"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "drop", at("b", "08")), "x");
  const company = { companyId, companyCode: "ACME", settleMs: 60_000, isKnown: () => false };
  const places = { inbound: join(root, "inbound"), furtherFolders: [join(root, "drop")] };
  let over = 0;
  const leftBehind = new FilesOfEarlierRun(log);
  const release = () => {
    over += 1;
  };
  await Promise.all([1, 2].map(() => leftBehind.waitFor({ ...company, ...places }, release)));
  expect(over).toBe(0);
  leftBehind.arrived({ companyId, name: at("b", "08"), path: join(root, "inbound", at("b", "08")) });
  expect(over).toBe(2);
});
