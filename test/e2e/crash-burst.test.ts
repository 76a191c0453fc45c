/**
 * A power failure in the middle of a burst: files that were answered and placed, and whose bytes were durable in the journal
 * of uploads only, are missing, empty or torn when the machine comes up again.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CertificateFiles, ftpSettings, makeCertificateFiles } from "../support/ftp-clients.ts";
import { CrashCheck, untilQuiet, withDatabase } from "./crash-check.ts";
import { openSftpHostClient } from "./crash-client.ts";
import { ftpHostClient } from "./crash-client-ftp.ts";
import { CrashHost } from "./crash-host.ts";
import { burstOf, loseUnsynced } from "./crash-plan.ts";
import { CrashPlace, die } from "./crash-round.ts";

let place: CrashPlace;
let certificate: CertificateFiles;

beforeAll(async () => {
  certificate = makeCertificateFiles();
  place = await CrashPlace.make({ ftp: ftpSettings(certificate) });
});
afterAll(async () => {
  await place.end();
  certificate.remove();
});

const clients = { sftp: () => openSftpHostClient, ftp: () => ftpHostClient(certificate.cert) } as const;

/** The first burst ever finds none, and has it made. */
async function makeJournal(): Promise<void> {
  const host = new CrashHost(place.site, place.folders);
  const run = await place.start({});
  if (run !== undefined) await host.connect(run);
  await host.send(burstOf("first", 40));
  await untilQuiet(place.site, place.folders);
  await host.close();
  await place.site.kill();
}

test.each(["sftp", "ftp"] as const)(
  "every upload that was answered over %s is applied once, with its user, also when the next start dies too",
  async (channel) => {
    if (channel === "sftp") await makeJournal();
    const host = new CrashHost(place.site, place.folders, clients[channel]());
    const chains = burstOf(`power-${channel}`);
    const sending = host.send(chains);
    sending.catch(() => undefined);
    expect(await die(place, { kind: "point", point: "journal.settling" }, { host, sending })).toBe(true);
    expect(await loseUnsynced(place)).toBeGreaterThan(20);
    expect(await place.start({ DROPGATE_KILL_POINT: "journal.written:7" })).toBeUndefined();
    const run = await place.start({});
    if (run !== undefined) await host.connect(run);
    await sending;
    await untilQuiet(place.site, place.folders);
    const stops = chains.flatMap((chain) => chain.stops);
    expect(CrashCheck.run(place.site, host.sent.values(), stops)).toEqual([]);
    expect(await place.verifyLedger()).toEqual([]);
    // Few are known by their place alone: those that began the burst, and were synced by themselves.
    const sql = `select count(*) as count from files where channel = 'recovered' and name like 'power-${channel}-%'`;
    const recovered = withDatabase(place.site, (database) =>
      database.prepare<[], { count: number }>(sql).get(),
    );
    expect(recovered?.count).toBeLessThan(15);
    expect(run?.text).toContain("uploads of the last run are taken up from the journal");
    await host.close();
    await place.site.kill();
  },
  60_000,
);
