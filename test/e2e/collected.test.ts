/** What counts as collected when real clients fetch a file in parts. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { curl, curlSftp, sftp } from "../support/clients.ts";
import { Site, user } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { isInstalled } from "../support/run-program.ts";
import { waitFor } from "../support/wait-for.ts";

interface Delivery {
  readonly name: string;
  readonly collectedAt: string | null;
  readonly collectedBy: string | null;
}

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.addUser("ann", ["DI_Driver"]);
  await site.start();
});
afterAll(() => site.end());

async function report(eventCode: string, stopNbr?: string): Promise<void> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  const body = { eventCode, geoStamp, routeNbr: "L1", ...data };
  expect(await outcome(post(site, "/v5/event/route", body, { userName: "ann" }))).toBe("200");
}

async function delivery(): Promise<Delivery | undefined> {
  return (await site.json<Delivery[]>("deliveries"))[0];
}

test.skipIf(!isInstalled("curl"))(
  "a file of which curl has fetched a part and OpenSSH's reget the rest is collected",
  async () => {
    const stops = [{ stopNbr: "S1", stopType: "DO" }];
    await importLoads(site, [
      { loadHeader: { loadNbr: "L1" }, stops, loadAssignment: { driverUserName: "ann" } },
    ]);
    for (const code of ["route.initiated", "route.origin.depart"]) await report(code);
    await report("stop.dropoff.confirmation", "S1");
    const name = await waitFor("the file", async () =>
      // One that begins with a dot is being written.
      (await readdir(site.path("outbound"))).find((entry) => !entry.startsWith(".")),
    );
    const content = await readFile(site.path("outbound", name));
    const part = await curl(site, [
      ...curlSftp(site),
      "-r",
      "0-99",
      "-o",
      join(site.client, name),
      `sftp://127.0.0.1:${site.sftpPort}/outbound/${name}`,
    ]);
    expect(part.exitCode, part.output).toBe(0);
    expect(await delivery()).toMatchObject({ name, collectedAt: null });
    await writeFile(join(site.client, name), content.subarray(0, 100));
    const rest = await sftp(site, [`reget /outbound/${name}`]);
    expect(rest.exitCode, rest.output).toBe(0);
    expect(await readFile(join(site.client, name))).toEqual(content);
    const collected = await waitFor("the note", async () => {
      const found = await delivery();
      return found?.collectedAt === null ? undefined : found;
    });
    expect(collected?.collectedBy).toBe(user);
  },
);
