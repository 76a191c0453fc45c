/**
 * The restore drill on PostgreSQL: a base backup and a copy of the tree beside work, all of it lost, the database put back to a
 * moment, the tree to its copy. Exit code 1 when anything of before the moment is missing, anything was applied twice or not at
 * all, a delivery went out before its release, or the ledger has another difference than files of after the moment.
 *
 *   node test/nightly/postgres-restore.ts [--files 500]
 */
import { parseArgs } from "node:util";
import { postgresDrill } from "../support/postgres-drill.ts";

const { values } = parseArgs({ options: { files: { type: "string" } } });
const report = await postgresDrill(Number(values.files ?? 500));
const { restoreMs, sentBefore, sentAfter, notThere, unknown, wronglyUnknown, otherwise } = report;
const { noticed, missing, sentAgain, duplicates, notOnce, beforeRelease, wentAgain, otherBytes } = report;
console.log(
  `restored in ${(restoreMs / 1_000).toFixed(1)} s; ${sentBefore} files before the moment, of which ${notThere.length} are not ` +
    `there exactly once; ${sentAfter} after it`,
);
console.log(
  `ledger verify: ${unknown.length} files in no entry, ${wronglyUnknown.length} of them of before the moment; ` +
    `${missing.length} entries whose file was filed away after it; ${otherwise.length} other differences`,
);
console.log(
  `${sentAgain} files sent again, ${duplicates} duplicates; not applied exactly once: ${notOnce.length}`,
);
console.log(
  `went out before the release: ${beforeRelease}; after it again: ${wentAgain}, with other bytes: ${otherBytes.length}`,
);
const faults = [...notThere, ...wronglyUnknown, ...otherwise, ...notOnce, ...otherBytes];
for (const fault of faults) console.log(fault);
const isNoticed = noticed.check && noticed.log && noticed.readyz === 503;
console.log(`that the database was put back is noticed: ${isNoticed ? "yes" : JSON.stringify(noticed)}`);
if (faults.length > 0 || beforeRelease > 0 || !isNoticed) process.exitCode = 1;
