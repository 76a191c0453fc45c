/** Deliveries as an administrator handles them: wrong credentials, dead letters, and files that are sent again. */
import { readFileSync, rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { company, lenient, Site } from "../support/daemon.ts";
import { importLoads, outcome, post } from "../support/gateway-client.ts";
import { type Post, type Receiver, reply, startReceiver } from "../support/receiver.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  const host = {
    type: "https",
    url: receiver.url,
    allowPlain: true,
    user: "dropgate",
    password: "env:RECEIVER",
  };
  site = await Site.make({
    security: lenient,
    // An arrival causes a file of its own: two of each stop, whose order can be seen.
    companies: { [company]: { outbound: { on: [7007], targets: { outbound: { type: "folder" }, host } } } },
  });
  await site.addUser("ann", ["DI_Driver"]);
  await site.start({ env: { RECEIVER: "kaz-21-lorry" } });
  const stops = ["S1", "S2"].map((stopNbr) => ({ stopNbr, stopType: "DO" }));
  await importLoads(site, [
    { loadHeader: { loadNbr: "L1" }, stops, loadAssignment: { driverUserName: "ann" } },
  ]);
  for (const code of ["route.initiated", "route.origin.depart"]) expect(await report(code)).toBe("200");
});
afterAll(async () => {
  await site.end();
  await receiver.end();
});

function report(eventCode: string, stopNbr?: string): Promise<string> {
  const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
  const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
  return outcome(
    post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr: "L1", ...data }, { userName: "ann" }),
  );
}

interface View {
  readonly id: number;
  readonly guid: string;
  readonly name: string;
  readonly state: string;
  readonly fault: string | null;
  readonly target: string;
  readonly targetPausedUntil: string | null;
}

/** The oldest first. */
async function deliveries(...args: readonly string[]): Promise<readonly View[]> {
  return (await site.json<readonly View[]>("deliveries", "--target", "host", ...args)).toReversed();
}

async function longestPauseMs(): Promise<number> {
  const ends = (await deliveries()).map(({ targetPausedUntil }) => Date.parse(targetPausedUntil ?? "") || 0);
  return Math.max(...ends) - Date.now();
}

const idOf = ({ headers }: Post) => String(headers["x-dropgate-delivery"]);
const isDelivered = async () => (await deliveries()).every(({ state }) => state === "delivered");

test("wrong credentials lose nothing: the target pauses, and each stop has its order when they are right", async () => {
  receiver.always(reply(401, {}, "who are you"));
  for (const stopNbr of ["S1", "S2"])
    for (const step of ["arrival", "confirmation"])
      expect(await report(`stop.dropoff.${step}`, stopNbr)).toBe("200");
  await waitFor("a refusal", async () => (await deliveries()).some(({ fault }) => fault === "credentials"));
  // The first pause, of seconds, may be over before the command has started.
  await waitFor(
    "a pause that is still there when it is ended",
    async () => (await longestPauseMs()) > 20_000,
  );
  const waiting = await deliveries();
  expect(waiting.map(({ state }) => state)).toEqual(["waiting", "behind", "waiting", "behind"]);
  receiver.posts.length = 0;
  receiver.always();
  const retry = await site.cli("delivery", "retry", "--all", "--target", "host");
  expect(retry.stdout).toContain("its pause has ended");
  await waitFor("all to be delivered", isDelivered);
  const got = receiver.posts.map(idOf);
  expect([...got].sort()).toEqual(waiting.map(({ guid }) => guid).sort());
  for (const [first, second] of [waiting.slice(0, 2), waiting.slice(2)])
    expect(got.indexOf(first?.guid ?? "")).toBeLessThan(got.indexOf(second?.guid ?? ""));
});

test("delivery resend sends a stop's files again: same ids, same bytes, in their order, the history to be seen", async () => {
  const before = receiver.posts.filter(({ headers }) => String(headers["x-dropgate-file"]).startsWith("s1"));
  const args = ["delivery", "resend", "--stop", "S1", "--target", "host"];
  const asked = await site.cli(...args);
  expect(asked.exitCode).toBe(2);
  expect(asked.output).toMatch(/2 deliveries \(\d+, \d+\) would be sent again: add --yes/);
  const dry = await site.cli(...args, "--dry-run");
  expect(dry.stdout).toMatch(
    /\n2 deliveries \(\d+, \d+\) would be sent again\.\nFirst: \d+, s1_.*delivered .*\nLast: {2}\d+, s1_/,
  );
  receiver.posts.length = 0;
  const sent = await site.cli(...args, "--yes");
  expect(sent.stdout).toContain("2 deliveries");
  expect(sent.stdout).toContain("does it within a second");
  await waitFor("both to come again", () => receiver.posts.length === 2);
  await waitFor("both to be recorded", isDelivered);
  expect(receiver.posts.map((one) => [idOf(one), one.body.toString()])).toEqual(
    before.map((one) => [idOf(one), one.body.toString()]),
  );
  const shown = await site.cli("delivery", "show", idOf(receiver.posts[0] as Post));
  expect(shown.stdout).toMatch(/Again +asked for .*; it was delivered .* after \d+ attempts?/);
});

test("one that is refused for ever is given up, with a reason that is kept, and the next of its stop goes", async () => {
  const { id, guid } = (await deliveries("--stop", "S1"))[0] ?? { id: 0, guid: "" };
  receiver.always((response, request) =>
    response.writeHead(request.headers["x-dropgate-delivery"] === guid ? 403 : 200).end(),
  );
  await site.cli("delivery", "resend", "--stop", "S1", "--target", "host", "--yes");
  await waitFor("the refusal", async () => (await deliveries()).some(({ fault }) => fault === "credentials"));
  const [held, next] = await deliveries("--stop", "S1");
  expect([held?.id, held?.state, next?.state]).toEqual([id, "waiting", "behind"]);
  expect((await site.cli("delivery", "show", String(id))).stdout).toContain(
    `delivery give-up ${id} --reason`,
  );
  expect((await site.cli("delivery", "give-up", String(id))).output).toContain("--reason");
  const done = await site.cli("delivery", "give-up", String(id), "--reason", "they never take it");
  expect(done.stdout).toContain(
    `Delivery ${id} (${held?.name}) is given up; delivery ${next?.id} (${next?.name}) goes on.`,
  );
  await site.cli("delivery", "retry", "--all", "--target", "host");
  await waitFor(
    "the next to be delivered",
    async () => (await deliveries("--stop", "S1"))[1]?.state === "delivered",
    30_000,
  );
  const shown = await site.cli("delivery", "show", String(id));
  expect(shown.stdout).toMatch(/State +dropped/);
  expect(shown.stdout).toMatch(/Given up +\S+ by \S+.*: they never take it; it was waiting after/);
  receiver.always();
  expect((await site.cli("delivery", "retry", String(id))).exitCode).toBe(0);
  await waitFor("it to be delivered after all", isDelivered);
});

test("all of a target are given up with --yes only", async () => {
  receiver.always(reply(503));
  await site.cli("delivery", "resend", "--target", "host", "--since", "24h", "--yes");
  const args = ["delivery", "give-up", "--all", "--target", "host", "--reason", "the host has moved away"];
  const asked = await site.cli(...args);
  expect([asked.exitCode, asked.output]).toEqual([
    2,
    expect.stringMatching(/4 deliveries to host \([\d, ]+\) would be given up: add --yes/),
  ]);
  expect((await site.cli(...args, "--yes")).stdout).toMatch(/4 deliveries to host \([\d, ]+\) given up\./);
  expect((await deliveries()).map(({ state }) => state)).toEqual([
    "dropped",
    "dropped",
    "dropped",
    "dropped",
  ]);
  expect((await site.cli(...args)).stdout).toContain("Nothing to host waits or is dead.");
  receiver.always();
  await site.cli("delivery", "retry", ...(await deliveries()).map(({ id }) => String(id)));
  await waitFor("all to be delivered", isDelivered);
});

test("without the daemon the next start sends; of a folder a file that was collected is there again", async () => {
  const name = (await deliveries("--stop", "S2"))[0]?.name ?? "";
  const path = site.path("outbound", name);
  const bytes = readFileSync(path);
  rmSync(path);
  await site.stop();
  const folder = await site.json<readonly View[]>("deliveries", "--target", "outbound", "--stop", "S2");
  const { id } = folder.find((one) => one.name === name) ?? { id: 0 };
  const sent = await site.cli("delivery", "resend", String(id));
  expect(sent.stdout).toContain("a newer file of the same stop");
  expect(sent.stdout).toContain("The daemon is not running");
  await site.start({ env: { RECEIVER: "kaz-21-lorry" } });
  const isThere = async () => (await site.json<View>("delivery", "show", String(id))).state === "delivered";
  await waitFor("it to be delivered again", isThere);
  expect(readFileSync(path)).toEqual(bytes);
});

test("what cannot be sent again is told in plain words", async () => {
  const say = async (...args: readonly string[]) => {
    const { exitCode, output } = await site.cli("delivery", "resend", ...args);
    return [exitCode, output] as const;
  };
  expect(await say("4711")).toEqual([1, expect.stringContaining("there is no such delivery")]);
  expect(await say("--stop", "S9")).toEqual([1, expect.stringContaining("There is no stop S9")]);
  expect(await say("--stop", "s1")).toEqual([1, expect.stringContaining("but there is S1")]);
  expect(await say("--since", "0m")).toEqual([1, expect.stringContaining("None of these was delivered")]);
  expect(await say("--since", "200d", "--dry-run")).toEqual([
    0,
    expect.stringContaining("retention.outbound 90"),
  ]);
  expect(await say("--target", "tms")).toEqual([2, expect.stringContaining("there is no target tms")]);
  expect(await say("1", "--stop", "S1")).toEqual([2, expect.stringContaining("not both")]);
  expect(await say("--since", "lately")).toEqual([2, expect.stringContaining("2026-11-05")]);
});
