/** Checks of the servers that files are fetched from: files that can be read and, when asked for, the servers themselves. */
import { remoteSettingsOf } from "../../config/company-settings.ts";
import type { Config, RemoteConfig } from "../../config/schema.ts";
import type { CallOutcome, FetchSettings } from "../../endpoints/remote/fetch-messages.ts";
import { RemoteClient } from "../../endpoints/remote/remote-client.ts";
import { messageOf } from "../../lib/errors.ts";
import { type CheckFinding, fine, problem } from "../watch/check-finding.ts";
import { faultRemedies } from "../admin/fault-remedies.ts";
import { CaFiles } from "../daemon/ca-files.ts";
import { fetchSettingsOf } from "../daemon/remotes.ts";

interface CheckedRemote {
  readonly title: string;
  readonly settings: RemoteConfig;
}

function findingOf({ title, settings }: CheckedRemote, outcome: CallOutcome): CheckFinding {
  if (outcome.kind === "listed") {
    const right = { delete: "removed", move: "moved", leave: undefined }[settings.after];
    const rest = right === undefined ? "" : `; whether files may be ${right} shows with the first one`;
    return fine(`${title} can be signed in to and listed${rest}`);
  }
  if (outcome.kind !== "failed") return problem(`${title} could not be tried`, "see the log of the server");
  return problem(
    `${title} cannot be used (${outcome.fault}): ${outcome.message}`,
    faultRemedies[outcome.fault],
  );
}

async function tryRemote(checked: CheckedRemote, fetch: FetchSettings): Promise<CheckFinding> {
  const { settings, title } = checked;
  const client = new RemoteClient(fetch, settings.timeoutMs);
  try {
    // One portion of the listing says as much as all of it.
    return findingOf(checked, await client.list(async () => false, new AbortController().signal));
  } catch (error) {
    return problem(`${title} could not be tried: ${messageOf(error)}`, "see the message");
  } finally {
    await client.close();
  }
}

/** `caFiles`: one for all, since several remotes may name one file. */
async function checkOne(
  checked: CheckedRemote,
  caFiles: CaFiles,
  isRemote: boolean,
): Promise<readonly CheckFinding[]> {
  const { settings, title } = checked;
  let fetch: FetchSettings;
  try {
    fetch = await fetchSettingsOf(settings, title, caFiles);
  } catch (error) {
    const remedy = "correct the path, or let the user of the daemon read it; until then nothing is fetched";
    return [problem(`${title}: ${messageOf(error)}`, remedy)];
  }
  return isRemote ? [await tryRemote(checked, fetch)] : [];
}

/** Whether the remotes of these companies can be used. `isRemote` connects, signs in and lists; it changes nothing there. */
export async function checkRemotes(
  config: Pick<Config, "companies">,
  companyCodes: readonly string[],
  isRemote: boolean,
): Promise<readonly CheckFinding[]> {
  const all = companyCodes.flatMap((code) =>
    [...remoteSettingsOf(config, code)].map(([name, settings]) => ({
      title: `the remote ${name} of ${code}`,
      settings,
    })),
  );
  const caFiles = new CaFiles();
  return (await Promise.all(all.map((checked) => checkOne(checked, caFiles, isRemote)))).flat();
}
