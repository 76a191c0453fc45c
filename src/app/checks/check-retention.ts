/** Whether old files can go where `retention.moveTo` says. */
import { constants } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { type CheckFinding, fine, warning } from "../watch/check-finding.ts";
import { probeFolder, type ProbeFolder, silentText } from "./folder-probe.ts";

/** Warnings: without the folder files stay where they are, and all else works. A share may be away: a process asks it. */
export async function checkMoveTo(
  { retention }: Pick<Config, "retention">,
  probe: ProbeFolder = probeFolder,
): Promise<readonly CheckFinding[]> {
  const { moveTo: path } = retention;
  if (path === undefined) return [];
  const title = `the folder that old files are moved to, ${path} (retention.moveTo),`;
  const found = await probe({ path, rights: constants.R_OK | constants.W_OK | constants.X_OK });
  const stay = "until then old files stay where they are";
  switch (found.kind) {
    case "usable":
      return [fine(`${title} can be written`)];
    case "silent":
      return [warning(silentText(title), `check that its server runs, or mount it again; ${stay}`)];
    case "notAFolder":
      return [warning(`${title} is no folder`, `name a folder; ${stay}`)];
    case "failed":
    case "refused":
      return [
        warning(
          `${title} cannot be used (${found.code})`,
          `make it, or mount its disk, and let the user of the daemon write it; ${stay}`,
        ),
      ];
  }
}
