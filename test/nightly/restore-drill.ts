/**
 * The restore drill: a backup beside work, 500 more files and their deliveries after it, the state lost, the backup restored to
 * another folder; then counts what came twice. Exit code 1 when anything was applied twice or not at all, or went out under a
 * known id or name with other bytes.
 *
 *   node test/nightly/restore-drill.ts [--files 500] [--stops 125]
 */
import { parseArgs } from "node:util";
import { restoreDrill } from "../support/restore-drill.ts";

const { values } = parseArgs({ options: { files: { type: "string" }, stops: { type: "string" } } });
const [files, stops] = [Number(values.files ?? 500), Number(values.stops ?? 125)];
const report = await restoreDrill({
  files: { before: files, after: files },
  stops: { before: stops, after: stops },
});
const { twice, restoreMs, sentAgain, duplicates, notOnce, beforeRelease, announced, ledger } = report;
console.log(
  `restored in ${(restoreMs / 1_000).toFixed(1)} s; ${announced.length} files of outbound/ told of`,
);
console.log(
  `${sentAgain} files sent again, ${duplicates} of them known; not applied exactly once: ${notOnce.length}`,
);
console.log(`went out before the release: ${beforeRelease}`);
for (const [target, { same, other, again, unknown }] of Object.entries(twice))
  console.log(
    `${target}: ${same} twice with the same id or name and bytes, ${again} of what was reported again with the same bytes ` +
      `under an id or name of its own, ${other.length} with other bytes, ${unknown.length} that were not there before`,
  );
console.log(ledger.trim().split("\n").at(-1));
const faults = [...notOnce, ...Object.values(twice).flatMap(({ other, unknown }) => [...other, ...unknown])];
for (const fault of faults) console.log(fault);
if (faults.length > 0 || beforeRelease > 0) process.exitCode = 1;
