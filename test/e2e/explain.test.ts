/** "Where is my file?", asked of the real program in the situations that operators meet. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sftp } from "../support/clients.ts";
import { company, lenient, Site, user } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { fileName, send, stopElement, stopFile, stopsDocument } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
const file = stopFile("E1");
let completion: string;

beforeAll(async () => {
  // Nothing listens on the port of the second target: it pauses.
  const host = { type: "https", url: "http://127.0.0.1:1/", allowPlain: true };
  const targets = { outbound: { type: "folder" }, host };
  site = await Site.make({
    security: lenient,
    companies: {
      [company]: { outbound: { targets, exports: { nightly: { schedule: "0 0 1 1 *", form: "document" } } } },
    },
  });
  await site.addUser("ann", ["DI_Driver"]);
  await site.start();
  expect((await send(site, file)).status).toBe(10);
  await importLoads(site, [
    {
      loadHeader: { loadNbr: "L1" },
      stops: [{ stopNbr: "E1" }],
      loadAssignment: { driverUserName: "ann" },
    },
  ]);
  for (const code of ["route.initiated", "route.origin.depart"]) await report(code);
  await report("stop.dropoff.confirmation", "E1");
  completion = await waitFor("the file", async () =>
    (await readdir(site.path("outbound"))).find((entry) => !entry.startsWith(".")),
  );
});
afterAll(() => site.end());

async function report(eventCode: string, stopNbr?: string): Promise<void> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  const body = { eventCode, geoStamp, routeNbr: "L1", ...data };
  expect(await outcome(post(site, "/v5/event/route", body, { userName: "ann" }))).toBe("200");
}

const explain = async (subject: string, ...args: readonly string[]) =>
  (await site.cli("explain", subject, ...args)).output;

describe("what goes out", () => {
  test("of an applied file: its completion waits, since when, for which target, and what resumes it", async () => {
    // The first pauses last seconds: one may be over when it is asked for.
    const told = await waitFor("a pause", async () => {
      const now = await explain(file.name);
      return now.includes("pauses until") ? now : undefined;
    });
    expect(told).toContain("Applied ");
    expect(told).toMatch(
      /Completion file \S+ to host \(delivery \d+\): it waits since \S+, because the target host pauses until \S+: .*once it is repaired, `dropgate delivery retry --all --target host` goes on at once/,
    );
  });

  test("of a completion: when it was made, from which file, each target with its state, attempts, fault and id", async () => {
    const told = await explain(completion);
    expect(told).toMatch(/Made \S+ by event 7009; its stop came from e1_20261105_080000\.xml \(entry 1\)\./);
    expect(told).toMatch(
      /to outbound \(delivery \d+\): delivered \S+\.\n.*1 attempt, the last \S+; its receiver/,
    );
    expect(told).toContain(
      `It is still there: ${site.path("outbound", completion)}.\n    No host has fetched it yet.`,
    );
    expect(told).toMatch(
      /to host .*\n +\d+ attempts?, the last \S+, fault unreachable; its receiver knows it as \S+\./,
    );
    const [guid] = /(?<=knows it as )\S+(?=\.)/.exec(told) ?? [];
    expect(await explain(guid ?? "")).toContain(`Completion file ${completion}`);
  });

  test("of an export: how many it has, and of which stops; of a completion, which exports have it", async () => {
    const [made] = await site.json<readonly { name: string }[]>("export");
    const told = await explain(made?.name ?? "");
    expect(told).toMatch(/Export 1 of nightly, made \S+, has 1 completion: \S+ of stop E1\./);
    expect(await explain(completion)).toContain("It is in export 1 of nightly.");
    await waitFor("it to be there", async () =>
      (await explain(made?.name ?? "")).includes(
        `It is still there: ${site.path("outbound", made?.name ?? "")}`,
      ),
    );
  });

  test("of a file that a host has fetched and removed: who, when, and that it is gone", async () => {
    expect(
      (await sftp(site, [`get /outbound/${completion} ${join(site.client, completion)}`])).exitCode,
    ).toBe(0);
    await waitFor("the note", async () => (await explain(completion)).includes(`by ${user}`));
    expect(await explain(completion)).toContain("It is still there");
    expect(await explain(completion)).not.toContain("No host has fetched it yet");
    expect((await sftp(site, [`rm /outbound/${completion}`])).exitCode).toBe(0);
    await waitFor("the second note", async () => (await explain(completion)).includes("removed there"));
    const told = await explain(completion);
    const who = `by ${user} from 127\\.0\\.0\\.1`;
    expect(told).toMatch(new RegExp(`collected \\S+ ${who}, removed there \\S+ ${who}`));
    expect(told).toContain(`It is not there any more: ${site.path("outbound", completion)}`);
  });
});

describe("a name that is not quite one", () => {
  test("a pattern lists what it may be, the newest first, and is answered when it is one name", async () => {
    expect((await send(site, stopFile("E2"))).status).toBe(10);
    const told = await explain("e?_20261105_*");
    expect(told).toMatch(
      /may be any of these, the newest first:\n.* e2_20261105_080000\.xml, company ACME: file, applied/,
    );
    expect(told).toContain("to outbound, delivered (delivery");
    expect(told).toContain("narrow by --since");
    expect(await explain("e2_*")).toContain("e2_20261105_080000.xml, company ACME, ledger entry 2");
    const { exitCode } = await site.cli("explain", "zz*");
    expect(exitCode).toBe(1);
  });

  test("a DocumentID finds its file", async () => {
    const content = stopsDocument([stopElement("E3")], "<DocumentID>ORDER-77</DocumentID>");
    expect((await send(site, { name: fileName("E3"), content })).status).toBe(10);
    expect(await explain("ORDER-77")).toContain("e3_20261105_080000.xml, company ACME, ledger entry 3");
  });

  test("a name that dropgate does not take says so", async () => {
    expect(await explain("E9.XML")).toContain("The name is not of the form");
    expect(await explain("e9_20261105_080000.xml.part")).toContain("unfinished");
  });
});

test("all of it is answered without the daemon", async () => {
  await site.stop();
  const told = await explain(completion);
  expect(told).toContain("It is not there any more");
  expect(told).toContain("fault unreachable");
  await rm(site.path("archive"), { recursive: true });
  expect(await explain(file.name)).toContain("ITS CONTENT IS MISSING");
});
