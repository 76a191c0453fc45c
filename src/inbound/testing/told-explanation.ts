/** What is told of a subject, of a ledger that a test has made. */
import { join } from "node:path";
import { explain } from "../explain/explain.ts";
import { explanationLines } from "../explain/explain-words.ts";
import { directLooks } from "../recovery/folder-looks.ts";
import type { UntakenOfRemote } from "../remotes/untaken-files.ts";
import type { ledgerOfEachTest } from "./ledger-fixture.ts";

export interface TellOptions {
  readonly daemonPid?: number;
  readonly companyId?: number;
  readonly freeBytes?: number;
  readonly isTargetSilent?: boolean;
  readonly untaken?: readonly UntakenOfRemote[];
}

type Ledger = Pick<ReturnType<typeof ledgerOfEachTest>, "store" | "locations" | "stateDir">;

/** Its lines. ACME has a drop folder `share` and a target that delivers into `outbound`, both below the state directory. */
export async function tellOf(
  { store, locations, stateDir }: Ledger,
  subject: string,
  options: TellOptions = {},
): Promise<string> {
  const { daemonPid, freeBytes = 5e9, isTargetSilent = false, untaken = [] } = options;
  const folders = [
    { companyCode: "ACME", path: locations.inboundDirectory("ACME"), isInbox: true },
    { companyCode: "ACME", path: join(stateDir, "share"), isInbox: false },
  ];
  const looks = isTargetSilent ? { presenceOf: async () => "silent" as const } : directLooks;
  const deps = {
    ...{ store, locations, folders, daemonPid, untaken, foreignLooks: directLooks },
    partialFolderName: ".partial",
    space: { freeBytes, minFreeBytes: 2e9 },
    folderOfTarget: async () => ({ path: join(stateDir, "outbound"), isOwn: true, looks }),
    now: Date.UTC(2026, 10, 5, 12),
  };
  const query = options.companyId === undefined ? { subject } : { subject, companyId: options.companyId };
  return explanationLines(await explain(deps, query)).join("\n");
}
