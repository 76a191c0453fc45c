/** What the detectors of times find, and when it is over: by a real store, and a clock that the test sets. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { detectors } from "../../src/app/alerts/detectors.ts";
import type { AlertSources, Detector } from "../../src/app/alerts/detector.ts";
import { ArrivalWatch } from "../../src/app/watch/arrival-watch.ts";
import type { PartnerCertificate } from "../../src/app/daemon/partner-certificates.ts";
import type { RetentionOutcome } from "../../src/app/retention/retention.ts";
import {
  type BackupFailure,
  type BackupRun,
  noteBackupState,
} from "../../src/store/database/backup-state.ts";
import { countRefusedSignIns } from "../../src/app/watch/refused-sign-ins.ts";
import { alertKind, type AlertKindName } from "../../src/domain/alerts/alert-kinds.ts";
import { operatorCode, operatorId } from "../../src/domain/alerts/audience.ts";
import type { Config } from "../../src/config/schema.ts";
import type { Incident } from "../../src/domain/alerts/incident.ts";
import { weekdays } from "../../src/domain/time/weekday.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import type { SignInProtocol } from "../../src/sign-in/sign-in.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { noteLastBackup } from "../../src/store/database/last-backup.ts";
import { createBackupSchedule } from "../../src/app/watch/backup-schedule.ts";
import type { BackupConfig } from "../../src/app/watch/backup-task.ts";
import { notePruneClock } from "../../src/store/database/prune-clock.ts";
import { enterFile } from "../../src/store/ledger/files.ts";
import { type RemoteRounds, saveRemoteRounds } from "../../src/store/ledger/remote-states.ts";
import { pauseByHand, resumeByHand } from "../../src/store/outbound/hand-pauses.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dayMs, hourMs, minuteMs } from "../../src/lib/durations.ts";

/** A Thursday, 08:00 in UTC. */
const start = Date.UTC(2026, 10, 5, 8);

let store: Store;
let config: Partial<Config>;
let certificates: Map<SignInProtocol, number>;
let failure: BackupFailure | undefined;
let partners: readonly PartnerCertificate[];
let retention: RetentionOutcome;
let running: BackupRun | undefined;
let bans: number;
let refused: number;
let sources: AlertSources;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  [config, certificates, failure, running, bans, refused] = [{}, new Map(), undefined, undefined, 0, 0];
  const configOf = () => config as Config;
  [partners, retention] = [[], { hasPassed: false, failure: undefined }];
  const partnerCertificates = async () => partners;
  const log = createLogger({ level: "silent" });
  const arrivalWatch = new ArrivalWatch({ store, log, config: configOf, clock: { now: () => start } });
  const counts = () => ({ accepted: 0, refused, turned_away: 0 });
  const none = { accepted: 9, refused: 0, turned_away: 0 };
  const statistics = () => ({
    bans: { active: bans, begun: bans },
    signIns: { http: none, ftp: none, sftp: counts() },
  });
  sources = {
    retention: {
      get figures() {
        return { outcome: retention };
      },
    },
    ...{ config: configOf, arrivalWatch, certificates, partnerCertificates, signIn: { statistics } },
    ...{
      backups: { failure: () => failure, running: () => running },
      refusedSignIns: countRefusedSignIns(statistics),
    },
  } as unknown as AlertSources;
  onTestFinished(() => arrivalWatch.stop());
  return () => store.close();
});

/** What is found at a moment with the thresholds of the kind. */
async function find<Name extends AlertKindName>(kind: Name, now: number, open?: Incident) {
  const { scope, thresholds } = alertKind(kind);
  const settings = Object.fromEntries(
    Object.entries(thresholds).map(([name, { default: value }]) => [name, value]),
  );
  const subject = scope === "company" ? { id: 1, code: "ACME" } : { id: operatorId, code: operatorCode };
  const detect = detectors[kind] as unknown as Detector;
  const whole = { enabled: true, urgent: false, ...settings };
  const known = new Map(open === undefined ? [] : [[open.cause, open]]);
  return await detect({ subject, settings: whole as never, now, read: store.read, open: known, sources });
}

/** The levels found at each of these moments; empty when nothing is. */
async function levels(kind: AlertKindName, moments: readonly number[]) {
  const found: (readonly number[])[] = [];
  for (const now of moments) found.push((await find(kind, now)).map(({ level = 1 }) => level));
  return found;
}

async function arrive(receivedAt: number): Promise<void> {
  const name = `${receivedAt}.xml`;
  const arrival = { nameTime: null, size: 1, channel: "sftp", userName: null, receivedAt, location: name };
  await store.write("site", (tx) => enterFile(tx, { companyId: 1, name, ...arrival }));
}

describe("expected arrivals", () => {
  test("that are late are told by their name, with the deadline in their zone and what to look at", async () => {
    const zone = { zone: "Europe/Berlin", weekdays: [...weekdays], closedDays: [], functions: [] };
    const morning = { atLeast: 2, until: "09:30", ...zone };
    config = { companies: { ACME: { expectedArrivals: { morning } } } } as unknown as Partial<Config>;
    for (const minutes of [0, 1]) await arrive(start - dayMs + minutes * minuteMs);
    await arrive(start);
    const deadline = start + 30 * minuteMs;
    expect(await find("lateArrivals", deadline - 1)).toEqual([]);
    const [late, ...more] = await find("lateArrivals", deadline);
    expect(more).toEqual([]);
    expect(late).toMatchObject({
      ...{ cause: "morning 2026-11-05", count: 1, since: deadline },
      summary: "2 files were expected until 2026-11-05 09:30 (Europe/Berlin), and 1 arrived",
    });
    expect(late?.remedy).toContain("`dropgate files --company ACME --since 2026-11-04T23:00:00`");
    await arrive(start + hourMs);
    expect(await find("lateArrivals", start + hourMs)).toEqual([]);
  });
});

describe("a remote", () => {
  const polled = async (rounds: Partial<RemoteRounds>) => {
    const state = {
      polledAt: start,
      succeededAt: null,
      failures: 0,
      pausedUntil: 0,
      fault: null,
      faultText: null,
      answeredAskedAt: 0,
    };
    await store.write("site", (tx) =>
      saveRemoteRounds(tx, { companyId: 1, remote: "partner", ...state, ...rounds }),
    );
  };

  test("that fails often enough is told with its last success and its error, until it succeeds or is gone", async () => {
    config = { companies: { ACME: { remotes: { partner: {} } } } } as unknown as Partial<Config>;
    await polled({ succeededAt: start - hourMs });
    expect(await find("failingRemote", start)).toEqual([]);
    await polled({ failures: 4, fault: "unreachable", faultText: "no route" });
    expect(await find("failingRemote", start)).toEqual([]);
    await polled({ failures: 5, fault: "unreachable", faultText: "no route" });
    const [found] = await find("failingRemote", start);
    expect(found).toMatchObject({
      ...{ cause: "partner", count: 5, since: start - hourMs, samples: ["unreachable: no route"] },
      summary: "the remote partner has failed 5 times in a row; it last succeeded 2026-11-05T07:00:00.000Z",
    });
    expect(found?.remedy).toContain("`dropgate remote retry partner`");
    await polled({ succeededAt: start });
    expect(await find("failingRemote", start)).toEqual([]);
    await polled({ failures: 9 });
    config = { companies: {} };
    expect(await find("failingRemote", start)).toEqual([]);
  });

  test("that somebody has paused opens nothing for a day, and what was open stays so and says why", async () => {
    config = { companies: { ACME: { remotes: { partner: {} } } } } as unknown as Partial<Config>;
    await polled({ failures: 9, fault: "unreachable", faultText: "no route" });
    const pause = { pausedAt: start, pausedBy: "anna", reason: "their server moves" };
    const thing = { companyId: 1, kind: "remote", name: "partner" } as const;
    await store.write("site", (tx) => pauseByHand(tx, { ...thing, ...pause }));
    await store.write("site", (tx) => pauseByHand(tx, { ...thing, ...pause, kind: "target", name: "other" }));
    expect(await find("failingRemote", start + dayMs - 1)).toEqual([]);
    const told = {
      ...{ cause: "partner", count: 1, since: start, samples: ["their server moves"] },
      summary:
        "the remote partner is paused by anna since 2026-11-05T08:00:00.000Z: nothing is fetched from it",
      remedy: "`dropgate remote resume partner --company ACME` when it may go on",
    };
    expect(await find("failingRemote", start + dayMs)).toEqual([told]);
    expect(await find("failingRemote", start, { cause: "partner" } as Incident)).toEqual([told]);
    expect(alertKind("failingRemote").title).not.toMatch(/fail/);
    await store.write("site", (tx) => resumeByHand(tx, thing));
    expect(await find("failingRemote", start + dayMs)).toMatchObject([{ count: 9 }]);
  });
});

test("a certificate is told 30 days before it expires, gets worse 7 days and a day before, and when it has", async () => {
  const expiresAt = start + 60 * dayMs;
  certificates.set("http", expiresAt);
  const before = [30 * dayMs, 30 * dayMs - 1, 7 * dayMs, 7 * dayMs - 1, dayMs, dayMs - 1, 0, -1];
  expect(
    await levels(
      "certificateExpiry",
      before.map((left) => expiresAt - left),
    ),
  ).toEqual([...[[], [1], [1], [2], [2], [3], [3], [4]]]);
  const at = async (left: number) => (await find("certificateExpiry", expiresAt - left))[0]?.summary;
  expect(await at(7 * dayMs)).toBe(
    "the certificate of HTTPS expires 2027-01-04T08:00:00.000Z, 7 days from now",
  );
  expect(await at(-1)).toBe("the certificate of HTTPS expired 2027-01-04T08:00:00.000Z: clients refuse it");
  certificates.set("http", expiresAt + 90 * dayMs);
  expect(await find("certificateExpiry", expiresAt)).toEqual([]);
});

test("a certificate of a target or remote is told once for all that share its file, also while it cannot be read", async () => {
  const expiresAt = start + 60 * dayMs;
  const named = { file: "/etc/client.pem", setting: "certificate" as const };
  const of = (owner: string, found: PartnerCertificate["found"]): PartnerCertificate => ({
    ...{ ...named, owner, title: `the client certificate /etc/client.pem of ${owner}`, found },
  });
  partners = ["the target tms of ACME", "the remote erp of ACME"].map((owner) => of(owner, { expiresAt }));
  expect(await levels("certificateExpiry", [start, expiresAt - 30 * dayMs + 1])).toEqual([[], [1]]);
  const [found] = await find("certificateExpiry", expiresAt + 1);
  expect(found).toMatchObject({
    cause: "/etc/client.pem",
    level: 4,
    remedy: expect.stringContaining("get a new one"),
  });
  expect(found?.summary).toBe(
    "the client certificate /etc/client.pem of the target tms of ACME (and of 1 other) expired 2027-01-04T08:00:00.000Z: " +
      "the server is not reached",
  );
  partners = [of("the target tms of ACME", { error: new Error("no such file") })];
  expect(await find("certificateExpiry", expiresAt + 2)).toEqual([]);
  const open = { ...found, openedAt: expiresAt } as Incident;
  expect(await find("certificateExpiry", expiresAt + 2, open)).toMatchObject([
    { cause: "/etc/client.pem", level: 4 },
  ]);
});

test("that what is too old cannot be removed is told after an hour, until a pass of this run is through", async () => {
  const since = { at: start, faults: ["archive of ACME: no space is left"] };
  retention = { hasPassed: true, failure: since };
  expect(await levels("retentionFails", [start + hourMs - 1])).toEqual([[]]);
  const [found] = await find("retentionFails", start + hourMs);
  expect(found).toMatchObject({
    ...{ count: 1, since: start, samples: since.faults },
    summary: "what is too old cannot be removed, for 60 minutes",
  });
  const open = { cause: "", ...found, openedAt: start } as Incident;
  retention = { hasPassed: false, failure: undefined };
  expect(await find("retentionFails", start + 2 * hourMs, open)).toEqual([open]);
  expect(await find("retentionFails", start + 2 * hourMs)).toEqual([]);
  retention = { hasPassed: true, failure: undefined };
  expect(await find("retentionFails", start + 2 * hourMs, open)).toEqual([]);
});

describe("backups", () => {
  const backup = { folder: "/backups", schedule: "0 2 * * *", warnAfterHours: 48 };
  const made = (begunAt: number) => {
    const last = { folder: "/backups/one", begunAt, endedAt: begunAt, files: 1, bytes: 1, discrepancies: 0 };
    return store.write("site", (tx) => noteLastBackup(tx, last));
  };

  test("are told when the last one is too old, until the next is made", async () => {
    config = { backup } as unknown as Partial<Config>;
    expect(await find("backupOverdue", start)).toEqual([]);
    await made(start);
    expect(await levels("backupOverdue", [start + 48 * hourMs, start + 48 * hourMs + 1])).toEqual([[], [1]]);
    expect(await find("backupOverdue", start + 72 * hourMs)).toMatchObject([
      {
        summary: "the last backup was begun 2026-11-05T08:00:00.000Z, 72 hours ago",
        ...{ since: start + 48 * hourMs, samples: ["/backups/one"] },
      },
    ]);
    await made(start + 72 * hourMs);
    expect(await find("backupOverdue", start + 72 * hourMs)).toEqual([]);
    config = { backup: { ...backup, warnAfterHours: 0 } } as unknown as Partial<Config>;
    expect(await find("backupOverdue", start + 900 * hourMs)).toEqual([]);
  });

  test("are told when a scheduled one fails, with why, as something worse", async () => {
    config = { backup } as unknown as Partial<Config>;
    await made(start);
    failure = { at: start + hourMs, message: "no space is left" };
    expect(await find("backupOverdue", start + 2 * hourMs)).toMatchObject([
      { level: 2, since: start + hourMs, samples: ["no space is left"] },
    ]);
  });

  test("of which one has made no progress for five minutes are told, also before the first was made", async () => {
    config = { backup } as unknown as Partial<Config>;
    running = { begunAt: start, progressAt: start + hourMs };
    expect(await levels("backupOverdue", [start + hourMs + 5 * minuteMs - 1])).toEqual([[]]);
    expect(await find("backupOverdue", start + hourMs + 5 * minuteMs)).toMatchObject([
      {
        ...{ level: 2, since: start + hourMs, samples: [] },
        summary:
          "a backup has been running since 2026-11-05T08:00:00.000Z, without progress since 2026-11-05T09:00:00.000Z",
      },
    ]);
    failure = { at: start + 2 * hourMs, message: "no space is left" };
    expect(await find("backupOverdue", start + 3 * hourMs)).toMatchObject([
      { level: 2, summary: expect.stringContaining("without progress"), samples: ["no space is left"] },
    ]);
  });

  test("that fail again after one was made are told after a restart too, until the next is made", async () => {
    config = { backup } as unknown as Partial<Config>;
    await made(start + 10 * hourMs);
    const failed = { at: start + 20 * hourMs, message: "no space is left" };
    await store.write("site", (tx) => noteBackupState(tx, { failure: failed }));
    const now = start + 21 * hourMs;
    const schedule = createBackupSchedule({
      ...{ store, clock: { now: () => now }, log: createLogger({ level: "silent" }) },
      config: () => ({ ...config, stateDir: "/state", integrations: {} }) as unknown as BackupConfig,
      ...{ configFile: "/etc/dropgate.yaml", trigger: () => ({ stop: () => undefined }) },
    });
    await schedule.start(new AbortController().signal);
    failure = schedule.failure();
    const openedAt = start;
    const [found] = await find("backupOverdue", now);
    expect(found).toMatchObject({ level: 2, since: failed.at, samples: ["no space is left"] });
    // The incident was opened again, and has the moment of its first opening.
    const reopened = { ...found, openedAt, reopened: 1 } as Incident;
    expect(await find("backupOverdue", now, reopened)).toEqual([found]);
    failure = undefined;
    expect(await find("backupOverdue", now, reopened)).toEqual([]);
    await schedule.stop(AbortSignal.abort());
  });

  test("are told when there is a folder, no schedule, and none was ever made", async () => {
    config = { backup: { ...backup, schedule: undefined } } as unknown as Partial<Config>;
    expect(await find("backupOverdue", start)).toMatchObject([
      { summary: "no backup of this state was made yet" },
    ]);
    config = { backup: { warnAfterHours: 48 } } as unknown as Partial<Config>;
    expect(await find("backupOverdue", start)).toEqual([]);
  });
});

test("a clock is told that is more than a day ahead of what was noted, or behind what is written", async () => {
  expect(await find("clockJump", start)).toEqual([]);
  await store.write("site", (tx) => notePruneClock(tx, { latest: start }));
  await arrive(start);
  const causes = async (now: number) => (await find("clockJump", now)).map(({ cause }) => cause);
  expect(await causes(start + dayMs)).toEqual([]);
  expect(await causes(start + dayMs + 1)).toEqual(["ahead"]);
  expect(await causes(start - 5 * minuteMs + 1)).toEqual([]);
  expect(await find("clockJump", start - hourMs)).toMatchObject([
    {
      cause: "behind",
      summary:
        "the clock shows 2026-11-05T07:00:00.000Z, 60 minutes before 2026-11-05T08:00:00.000Z, when the daemon looked at the clock",
    },
  ]);
});

describe("guesses at passwords", () => {
  test("are told when so many sign-ins are refused within the time, until they are fewer", async () => {
    expect(await find("bruteForce", start)).toEqual([]);
    refused = 199;
    expect(await find("bruteForce", start + minuteMs)).toEqual([]);
    refused = 200;
    expect(await find("bruteForce", start + 2 * minuteMs)).toMatchObject([
      { count: 200, summary: "200 sign-ins were refused within 15 minutes, and 0 addresses are banned" },
    ]);
    refused = 201;
    expect(await find("bruteForce", start + 15 * minuteMs)).toHaveLength(1);
    expect(await find("bruteForce", start + 18 * minuteMs)).toEqual([]);
  });

  test("are told when so many addresses are banned", async () => {
    bans = 9;
    expect(await find("bruteForce", start)).toEqual([]);
    bans = 10;
    expect(await find("bruteForce", start)).toMatchObject([{ count: 0 }]);
  });

  test("are not counted anew when the clock goes back", async () => {
    refused = 150;
    await find("bruteForce", start + hourMs);
    refused = 190;
    expect(await find("bruteForce", start)).toEqual([]);
    refused = 200;
    await find("bruteForce", start + minuteMs);
    expect(await find("bruteForce", start + hourMs)).toEqual([]);
  });
});
