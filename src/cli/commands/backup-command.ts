import { resolve } from "node:path";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import { stepBack, stepsFarBack } from "../../lib/threads/background-thread.ts";
import { readVersion } from "../../lib/program-version.ts";
import type { BackupOutcome, BackupProgressView, VerifiedBackupView } from "../../app/admin/backup-admin.ts";
import { type CliCommand, type CommonOptions, exitCodes, FaultyConfigError } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { progressOn } from "../progress.ts";

interface BackupOptions extends CommonOptions {
  readonly incremental?: true;
  readonly full?: true;
  readonly verify?: true;
}

const stepNames: Readonly<Record<BackupProgressView["step"], string>> = {
  database: "copying the database, page",
  files: "files of the ledger, entry",
  proof: "proving the copy",
  disk: "waiting for the disk",
  removal: "removing what is not kept, file",
};

function progressText({ step, done, total }: BackupProgressView): string {
  if (step === "removal") return `${stepNames[step]} ${done}`;
  return total === 1 ? stepNames[step] : `${stepNames[step]} ${done} of ${total}`;
}

function sizeText(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

function listed(texts: readonly string[]): readonly string[] {
  return texts.map((text) => `  ${text}`);
}

function backupLines(made: BackupOutcome): readonly string[] {
  const { folder, files, bytes, base, shared, reread, ledgerEntries, discrepancies, begunAt, removed } = made;
  const again = reread === 0 ? "" : ` (${reread} of these read again)`;
  const sharing = base === null ? "" : `, ${shared} of them shared with ${base}${again}`;
  const proof =
    discrepancies.length === 0
      ? `The copy is proved: its ledger of ${counted(ledgerEntries, "entry", "entries")} is correct.`
      : "The backup is whole, but ledger and files of the state itself disagree; see `dropgate ledger verify`:";
  return [
    `Backup ${folder}: ${counted(files, "file")}, ${sizeText(bytes)}${sharing}.`,
    `It has all that was answered before ${begunAt}.`,
    proof,
    ...listed(discrepancies),
    ...(removed.length === 0
      ? []
      : [`Removed, for no rule of backup.keep keeps them: ${removed.join(", ")}.`]),
  ];
}

function verifiedLines(verified: VerifiedBackupView): readonly string[] {
  const { folder, files, bytes, faults, isProved, discrepancies, schema } = verified;
  const read = `${counted(files, "file")}, ${sizeText(bytes)}`;
  if (faults.length > 0) return [`Backup ${folder} is damaged (${read} read):`, ...listed(faults)];
  const proof = isProved
    ? "its ledger is correct"
    : `its database has schema ${schema} of an older version, so that its ledger is proved only after a restore`;
  const known =
    discrepancies.length === 0
      ? []
      : ["The state had these discrepancies when it was made:", ...listed(discrepancies)];
  return [`Backup ${folder} is whole: ${read} read, ${proof}.`, ...known];
}

interface Given {
  readonly folder: string | undefined;
  readonly options: BackupOptions;
  readonly command: CliCommand;
}

async function verify({ folder, options, command }: Given): Promise<void> {
  const { run } = command;
  const { verifyBackupIn } = await import("../../app/admin/backup-admin.ts");
  const progress = progressOn(run.io.stderr);
  const config = await command.requireConfig();
  const verified = await verifyBackupIn(config, folder, ({ done, total }) =>
    progress.show(() => `${done} of ${total} files read`),
  );
  progress.end();
  run.printResult(options, verified, verifiedLines);
  if (verified.faults.length > 0) run.exitCode = exitCodes.failure;
}

/** Undefined when nothing is said. */
function incrementalOf({ incremental, full }: BackupOptions): boolean | undefined {
  if (incremental === true && full === true)
    throw new WrongUseError("--incremental and --full exclude each other");
  return full === true ? false : incremental;
}

async function make({ folder: destination, options, command }: Given): Promise<void> {
  const { run } = command;
  const isIncremental = incrementalOf(options);
  const { backUp } = await import("../../app/admin/backup-admin.ts");
  const loaded = await command.loadConfig(false);
  if (loaded.kind === "faulty") throw new FaultyConfigError(loaded.faults, loaded.file);
  const progress = progressOn(run.io.stderr);
  const made = await backUp(loaded.config, {
    ...{ destination, isIncremental, configFile: loaded.file },
    version: readVersion(),
    onProgress: (now) => progress.show(() => progressText(now)),
  });
  progress.end();
  run.printResult(options, made, backupLines);
  if (made.notRemoved !== undefined)
    run.printError(
      `(older backups could not be removed, the next backup tries it again: ${made.notRemoved})`,
    );
  for (const warning of made.warnings) run.printError(`(${warning})`);
  for (const why of made.leftOut) run.printError(`(not in the backup: ${why})`);
  if (made.discrepancies.length > 0) run.exitCode = exitCodes.failure;
}

/** `dropgate backup` */
export function declareBackup(program: CliCommand): void {
  program
    .declare("backup", "back the state up, while the daemon runs or not; proved on the copy")
    .withJson()
    .argument(
      "[folder]",
      "the folder of backups, else backup.folder: a new one is made in it; with --verify also one backup",
    )
    .option(
      "--incremental",
      "share files that have not changed with the newest backup in the folder, by hard links",
    )
    .option("--full", "share none, whatever backup.incremental says")
    .option("--verify", "make none, but read all of the newest backup in the folder and prove it")
    .addHelpText("after", "\nExit code 1 when ledger and files disagree, or a verified backup is damaged.")
    .action(async (named: string | undefined, options: BackupOptions, command: CliCommand) => {
      // Beside a daemon, whose clients are not to wait for it.
      stepBack(stepsFarBack);
      const folder = named === undefined ? undefined : resolve(command.run.io.cwd, named);
      await (options.verify === true ? verify : make)({ folder, options, command });
    });
}
