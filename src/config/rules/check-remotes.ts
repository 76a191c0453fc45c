/** Rules of remotes: settings that do not go together. */
import { checkServer, warnOfHostKeys } from "./check-server.ts";
import {
  checkTimes,
  ofEachCompany,
  type Placed as PlacedSettings,
  placedIn,
  type RuleFault,
  when,
} from "./rule-fault.ts";
import type { Config, RemoteConfig } from "../schema.ts";

type Placed = PlacedSettings<RemoteConfig>;

function remotesOf(config: Config): Placed[] {
  return ofEachCompany(config, "remotes", placedIn);
}

function checkSchedule({ settings, path }: Placed): RuleFault[] {
  return [
    ...checkTimes(settings, path),
    ...when(settings.schedule !== undefined && settings.everyMs !== undefined, {
      path: `${path}.everyMs`,
      message: "and schedule are two ways to say when; remove one of them",
    }),
  ];
}

/** Without slashes at the end and beginnings that mean nothing. */
function plainPath(path: string): string {
  return path.replace(/\/+$/, "").replace(/^(\.\/+)+/, "") || "/";
}

function checkMove({ settings, path }: Placed): RuleFault[] {
  const { after, moveTo, directory } = settings;
  const isSame = moveTo !== undefined && plainPath(moveTo) === plainPath(directory);
  return [
    ...when(after === "move" && moveTo === undefined, {
      path: `${path}.after`,
      message: "needs to know where to; set moveTo",
    }),
    ...when(after !== "move" && moveTo !== undefined, {
      path: `${path}.moveTo`,
      message: `has no effect with after: ${after}; remove it, or set after to move`,
    }),
    ...when(isSame, {
      path: `${path}.moveTo`,
      message: "is the polled folder, so that its files would come again; name another",
    }),
  ];
}

/** Two that poll the same folder would take each file twice. */
function checkPlaces(remotes: readonly Placed[]): RuleFault[] {
  const firstUse = new Map<string, string>();
  return remotes.flatMap(({ settings, path }) => {
    const { type, host, port, user, directory } = settings;
    const place = JSON.stringify([type, host.toLowerCase(), port, user, plainPath(directory)]);
    const first = firstUse.get(place);
    firstUse.set(place, first ?? path);
    return when(first !== undefined, {
      path: `${path}.directory`,
      message: `is the same folder as that of ${first}; a file can be taken only once`,
    });
  });
}

/** What cannot work. */
export function checkRemoteSettings(config: Config): RuleFault[] {
  const remotes = remotesOf(config);
  return [
    ...remotes.flatMap(checkServer),
    ...remotes.flatMap(checkSchedule),
    ...remotes.flatMap(checkMove),
    ...checkPlaces(remotes),
  ];
}

/** What will not work as it is. */
export function warnOfRemoteSettings(config: Config): RuleFault[] {
  const withoutKeys =
    "nothing is fetched; add the fingerprint of the server's host key, which `dropgate check --remote` prints";
  return remotesOf(config).flatMap((remote) => warnOfHostKeys(remote, withoutKeys));
}
