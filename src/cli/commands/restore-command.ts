import { resolve } from "node:path";
import type { RestoredView } from "../../app/admin/backup-admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { progressOn } from "../progress.ts";

interface RestoreOptions extends CommonOptions {
  readonly to: string;
}

const shownFiles = 20;

/** Nobody knows which of them hosts have collected since: that was lost with the state. */
function outboundLines(outbound: readonly string[]): readonly string[] {
  if (outbound.length === 0) return [];
  const more = outbound.length - shownFiles;
  return [
    `In outbound/ ${outbound.length === 1 ? "lies" : "lie"} ${counted(outbound.length, "file")} as at the backup. What hosts ` +
      "have collected since can be collected twice, with the same name and bytes: remove it before the start.",
    ...outbound.slice(0, shownFiles).map((path) => `  ${path}`),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
  ];
}

function restoredLines(restored: RestoredView): readonly string[] {
  const {
    folder,
    stateDir,
    files,
    ledgerEntries,
    isProved,
    schema,
    sendAgain,
    configuration,
    isOfRoot,
    outbound,
  } = restored;
  const proof = isProved
    ? `Its ledger of ${counted(ledgerEntries, "entry", "entries")} is correct.`
    : `Its database has schema ${schema} of an older version: the first start migrates it.`;
  return [
    `The backup ${folder} is restored to ${stateDir}: ${counted(files, "file")}. ${proof}`,
    `The configuration of that time is in ${configuration}; stateDir in yours has to be ${stateDir}.`,
    ...(isOfRoot
      ? [
          `All of it belongs to root. When the daemon runs as another user: chown -R dropgate:dropgate ${stateDir}`,
        ]
      : []),
    "Then: `dropgate check`, and start dropgate.",
    `Remember: ${sendAgain}.`,
    ...outboundLines(outbound),
    "Deliveries are held: what went out since the backup would go out again. See `dropgate deliveries`, give up what is",
    "not wanted, then `dropgate delivery release`.",
  ];
}

/** `dropgate restore` */
export function declareRestore(program: CliCommand): void {
  const { run } = program;
  program
    .declare("restore", "restore a backup to a state directory that is empty or not there")
    .withJson()
    .argument("<backup>", "the backup, or a folder of backups, whose newest is taken")
    .requiredOption("--to <folder>", "the new state directory")
    .addHelpText(
      "after",
      "\nRun as root it goes on as the owner of the folder: make it first, for the user of the daemon.",
    )
    .action(async (backup: string, options: RestoreOptions) => {
      const { restoreTo } = await import("../../app/admin/backup-admin.ts");
      const { cwd, stderr } = run.io;
      const progress = progressOn(stderr);
      const restored = await restoreTo(resolve(cwd, backup), resolve(cwd, options.to), ({ done, total }) =>
        progress.show(() => `${done} of ${total} files restored`),
      );
      progress.end();
      run.printResult(options, restored, restoredLines);
    });
}
