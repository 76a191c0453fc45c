/** Incidents where several nodes watch: each sees to those of the companies that it has. */
import { describe, expect, it, onTestFinished, test } from "vitest";
import { alertWatchFor } from "../../src/app/daemon/alert-watch-for.ts";
import { createBackupSchedule } from "../../src/app/watch/backup-schedule.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { listOpenIncidents } from "../../src/store/alerts/incidents.ts";
import { enterFile } from "../../src/store/ledger/files.ts";
import { AlertSite, finding } from "../support/alert-site.ts";
import { buildNode } from "../support/built-node.ts";
import { databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

test("incidents are opened and told by the node that has the company, and by no other one", async () => {
  const site = await AlertSite.open();
  site.isOurs = () => false;
  site.find([finding()]);
  await site.pass(2);
  expect([await listOpenIncidents(site.store.read), site.subjects]).toEqual([[], []]);
  site.isOurs = () => true;
  await site.pass(1);
  expect(await listOpenIncidents(site.store.read)).toHaveLength(1);
  expect(site.subjects).toEqual([expect.stringContaining("ACME: files were refused")]);
});

const database = databaseForEachTest(4);
const log = createLogger({ level: "silent" });

/** The watch of a daemon, and which companies its node has. */
async function watchOf(shared: SharedDatabase, name: string, stateDir: string) {
  const email = { host: "127.0.0.1", port: 1, tls: "none", from: "dropgate@example.com" };
  const kinds = { refusedFiles: { count: 1 } };
  const settings = { alerts: { email, to: ["ops@example.com"], kinds } };
  const parts = await buildNode(shared, { name, stateDir, log, settings });
  const { store, clock, cluster } = parts;
  const backups = createBackupSchedule({
    ...{ store, clock, log, config: () => parts.config, configFile: "" },
    trigger: () => ({ stop: () => undefined }),
  });
  const watch = alertWatchFor(parts, backups);
  onTestFinished(() => watch.stop());
  const own = () => shared.companies.filter((id) => cluster.ownership.fenceOf(id) !== undefined);
  return { watch, own, working: () => cluster.keeper?.statistics().lanes.working ?? 0 };
}

async function refuseFileOf({ store }: SharedDatabase, companyId: number): Promise<void> {
  await store.write(companyId, async (tx) => {
    const file = { name: "a_20261105_080000.xml", nameTime: 1, size: 1, channel: "sftp", userName: null };
    const at = { receivedAt: 1, location: `companies/C/inbound/${companyId}` };
    const id = await enterFile(tx, { companyId, ...file, ...at });
    const refused = { state: "refused", decided_at: systemClock.now() } as const;
    await tx.updateTable("files").set(refused).where("id", "=", id).execute();
  });
}

describe.runIf(hasPostgres)("the watches of two daemons", () => {
  it("open the incidents of the companies of their own node", async () => {
    const shared = database();
    const stateDir = temporaryFolder();
    const one = await watchOf(shared, "one", stateDir);
    const two = await watchOf(shared, "two", stateDir);
    // Five, with that of no company: nothing moves any more.
    await waitFor("all to be shared out", () => [one, two].every(({ working }) => working() >= 2));
    await waitFor("all to be had", () => one.own().length + two.own().length === 4);
    for (const companyId of shared.companies) await refuseFileOf(shared, companyId);
    const opened = async () => {
      const incidents = await listOpenIncidents(shared.store.read);
      const ofFiles = incidents.filter(({ kind }) => kind === "refusedFiles");
      return ofFiles.map(({ companyId }) => companyId).toSorted((left, right) => left - right);
    };
    await two.watch.look();
    expect(await opened()).toEqual(two.own());
    await one.watch.look();
    expect(await opened()).toEqual(shared.companies);
  });
});
