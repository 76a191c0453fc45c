import type { CopiedStoreView, StoreCopyProgressView } from "../../app/admin/store-copy-admin.ts";
import { counted } from "../../lib/counted.ts";
import { type CliCommand, type CommonOptions, exitCodes, FaultyConfigError } from "../command-line.ts";
import { progressOn } from "../progress.ts";
import { tableLines } from "../table.ts";

interface CopyOptions extends CommonOptions {
  readonly from?: string;
  readonly to: string;
  readonly anew?: true;
}

const verdict = (isSame: boolean) => (isSame ? "same" : "DIFFERS");

const nextSteps: Readonly<Record<CopiedStoreView["direction"], readonly string[]>> = {
  "to postgres": [
    "Next: name the database in `store` of the configuration, run `dropgate check`, and start dropgate.",
    "dropgate.db in the state directory is unchanged. Move it away, with dropgate.db-wal and -shm, once dropgate has",
    "started on PostgreSQL: what is taken from then on it does not have.",
  ],
  "to sqlite": [
    "Next: remove `store` from the configuration, run `dropgate check`, and start dropgate.",
    "The database on PostgreSQL is unchanged. Drop it once dropgate has started on SQLite: what is taken from then on it",
    "does not have.",
  ],
};

function copyLines({ tables, areCountersSame, isComplete, direction }: CopiedStoreView): readonly string[] {
  const head = ["TABLE", "ROWS", "HASH", "COPY"];
  const body = tables.map((one) => [one.table, one.rows, one.sha256.slice(0, 16), verdict(one.isSame)]);
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const total = `${counted(rows, "row")} in ${counted(tables.length, "table")}`;
  return [
    ...tableLines(head, body),
    `Next ids of the tables: ${verdict(areCountersSame)}`,
    "",
    ...(isComplete
      ? [`The copy is complete: ${total}, read again and compared.`, ...nextSteps[direction]]
      : ["The copy is not what was copied, and is left unfinished: no start takes it."]),
  ];
}

function progressText({ step, table, rows }: StoreCopyProgressView): string {
  return `${step} ${table}: ${rows} rows`;
}

async function copy(options: CopyOptions, command: CliCommand): Promise<void> {
  const { run } = command;
  const { copyDatabaseOf } = await import("../../app/admin/store-copy-admin.ts");
  const loaded = await command.loadConfig(false);
  if (loaded.kind === "faulty") throw new FaultyConfigError(loaded.faults, loaded.file);
  const { from, to, anew } = options;
  const progress = progressOn(run.io.stderr);
  const copied = await copyDatabaseOf(loaded.config, {
    ...{ from, to, isAnew: anew === true, env: run.io.env, configFile: loaded.file },
    onProgress: (now) => progress.show(() => progressText(now)),
  });
  progress.end();
  run.printResult(options, copied, copyLines);
  if (!copied.isComplete) run.exitCode = exitCodes.failure;
}

/** `dropgate store copy` */
export function declareStore(program: CliCommand): void {
  const store = program.declare("store", "the database of the state");
  store
    .declare("copy", "copy the database between SQLite and PostgreSQL, while dropgate is stopped")
    .withJson()
    .option("--from <database>", "what is copied, named as in --to; else what the configuration names")
    .requiredOption(
      "--to <database>",
      "sqlite, for the file of the state directory, or an empty database of PostgreSQL: env:NAME, file:PATH or credential:NAME with its address, or the address postgres://…",
    )
    .option("--anew", "begin anew where a copy was not finished")
    .addHelpText(
      "after",
      "\nEach table is read again from the copy and compared. Exit code 1 and no usable copy when anything differs.",
    )
    .action(async (options: CopyOptions, command: CliCommand) => await copy(options, command));
}
