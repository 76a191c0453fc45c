import { randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSignIn, type SignInFixture } from "../../test/support/sign-in-fixture.ts";
import { hourMs, minuteMs } from "../lib/durations.ts";
import { addUser, setEnabled, setPassword } from "../operations/users/user-admin.ts";
import { changeOwnPassword } from "../operations/users/own-password.ts";
import { saveUserAccess } from "../store/accounts/users.ts";
import { type ConsoleSession, ConsoleSessions } from "./console-sessions.ts";
import { badCredentials } from "./sign-in-refusals.ts";

const peer = { address: "192.0.2.1", agent: "Firefox" };
const given = { userName: "host", password: "open sesame" };

let at: SignInFixture;
let sessions: ConsoleSessions;

beforeEach(async () => {
  at = await openSignIn();
  sessions = make();
});
afterEach(() => at.close());

function make(): ConsoleSessions {
  const { store, clock, signIn } = at;
  return new ConsoleSessions({
    store,
    clock,
    signIn,
    log: { warn: (line: unknown) => at.logged.push(line) },
  });
}

async function begin(): Promise<ConsoleSession> {
  const outcome = await sessions.signIn(given, peer);
  if (outcome.kind === "refused") throw new Error(outcome.message);
  return outcome.session;
}

const use = (id: string) => sessions.find(id, { isBackground: false });
const wait = (ms: number) => {
  at.time.now += ms;
};
/** What is written soon goes with the next commit. */
const committed = () => at.store.write("site", async () => undefined);
const rows = () => at.store.read.selectFrom("console_sessions").selectAll().execute();
const audit = () =>
  at.store.read.selectFrom("audit").select(["kind", "user_name", "company_id", "address", "after"]).execute();

it("have an id of 256 random bits each, of which the database has the hash alone", async () => {
  const [one, two] = [await begin(), await begin()];
  expect(one.id).toMatch(/^[\w-]{43}$/);
  expect(one.id).not.toBe(two.id);
  const stored = JSON.stringify(await rows());
  expect(stored).not.toContain(one.id);
  expect((await rows()).map(({ id_hash }) => id_hash)).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ]);
  expect(await use("x".repeat(43))).toBeUndefined();
});

it("end when nothing was asked in them for 30 minutes, and not before", async () => {
  const { id } = await begin();
  for (let times = 0; times < 5; times += 1) {
    wait(29 * minuteMs);
    expect(await use(id)).toBeDefined();
    await committed();
  }
  wait(30 * minuteMs);
  expect(await use(id)).toBeUndefined();
  expect(await rows()).toEqual([]);
});

it("are not kept open by what a page asks by itself", async () => {
  const { id } = await begin();
  for (let times = 0; times < 2; times += 1) {
    wait(14 * minuteMs);
    expect(await sessions.find(id, { isBackground: true })).toBeDefined();
    await committed();
  }
  wait(2 * minuteMs);
  expect(await sessions.find(id, { isBackground: true })).toBeUndefined();
});

it("end after 12 hours, however busy they are", async () => {
  const { id } = await begin();
  for (let hours = 0; hours < 11.5; hours += 0.25) {
    wait(hourMs / 4);
    await use(id);
    await committed();
  }
  wait(hourMs / 4);
  expect(await use(id)).toBeDefined();
  await committed();
  wait(hourMs / 4 - 1);
  expect(await use(id)).toBeDefined();
  wait(1);
  expect(await use(id)).toBeUndefined();
});

it("write when they were used last once a minute at most", async () => {
  const { id } = await begin();
  await at.signIn.settled();
  const begun = at.store.commits.units;
  wait(minuteMs);
  await Promise.all(Array.from({ length: 50 }, () => use(id)));
  await committed();
  expect(at.store.commits.units - begun).toBe(2);
  expect((await rows()).map(({ seen_at }) => seen_at)).toEqual([at.time.now]);
});

const changes: Readonly<Record<string, () => Promise<unknown>>> = {
  "the password": () => setPassword(at, { userName: "host", password: "another one" }),
  "the roles": () => addUser(at, { userName: "host", companyCode: "ACME", roles: ["MemberAdmin"] }),
  "the companies": () => addUser(at, { userName: "host", companyCode: "OTHER", roles: ["DI_Inquiry"] }),
  enabled: () => setEnabled(at, { userName: "host" }, false),
};

it.each(Object.keys(changes))("end with a change of %s", async (name) => {
  const { id } = await begin();
  await changes[name]?.();
  expect(await use(id)).toBeUndefined();
  expect(await rows()).toEqual([]);
});

it("of a disabled user do not come back when the user is enabled again", async () => {
  const { id } = await begin();
  await setEnabled(at, { userName: "host" }, false);
  await use(id);
  await setEnabled(at, { userName: "host" }, true);
  expect(await use(id)).toBeUndefined();
});

it("begin for one who has to change the password first, whom no other sign-in lets in", async () => {
  const { userId } = await begin();
  const before = (await at.store.read.selectFrom("users").selectAll().execute())[0]?.password_hash ?? null;
  const access = { passwordHash: before, isEnabled: true, mustChangePassword: true };
  await at.store.write("site", (tx) => saveUserAccess(tx, { userId, access, now: at.time.now }));
  expect(await at.withPassword()).toMatchObject({ kind: "refused" });
  const { id, mustChangePassword } = await begin();
  expect(mustChangePassword).toBe(true);
  await changeOwnPassword(at, { userId, password: "quite another", address: peer.address });
  expect(await rows()).toEqual([]);
  expect(await use(id)).toBeUndefined();
  expect(await at.withPassword({ password: "quite another" })).toMatchObject({ kind: "signedIn" });
});

it("refuse a new password that is the old one, or too short, and change nothing then", async () => {
  const { userId, id } = await begin();
  for (const [password, fault] of [
    ["open sesame", "the same as the old one"],
    ["short", "8 to 1000 characters"],
  ] as const) {
    const change = changeOwnPassword(at, { userId, password, address: peer.address });
    await expect(change).rejects.toThrow(fault);
  }
  expect(await use(id)).toBeDefined();
});

it("count a wrong current password like a wrong sign-in", async () => {
  const session = await begin();
  const wrong = { password: "wrong", address: "192.0.2.9" };
  for (let times = 0; times < 15; times += 1)
    expect(await sessions.confirm(session, { ...wrong, password: `wrong ${times}` })).toMatchObject({
      code: "badCredentials",
    });
  expect(await sessions.confirm(session, wrong)).toMatchObject({ code: "tooManyAttempts" });
  expect(at.signIn.bannedForMs("192.0.2.9")).toBeGreaterThan(0);
});

it("of one user are 20 at most: the oldest ends for a new one", async () => {
  const ids: string[] = [];
  for (let times = 0; times < 21; times += 1) {
    ids.push((await begin()).id);
    wait(1_000);
  }
  expect(await rows()).toHaveLength(20);
  expect(await use(ids[0] ?? "")).toBeUndefined();
  expect(await use(ids[1] ?? "")).toBeDefined();
});

it("that have ended by themselves are removed by the next sign-in", async () => {
  await begin();
  wait(31 * minuteMs);
  await begin();
  expect(await rows()).toHaveLength(1);
});

it("survive a restart", async () => {
  const { id } = await begin();
  sessions = make();
  expect(await use(id)).toMatchObject({ userName: "host" });
});

it("leave their begin, their end, and how many sign-ins were refused before in the audit", async () => {
  for (let times = 0; times < 3; times += 1) await sessions.signIn({ ...given, password: "wrong" }, peer);
  const session = await begin();
  await sessions.end(session, { address: "192.0.2.2", isEverywhere: false });
  const again = await begin();
  await sessions.end(again, { address: "192.0.2.2", isEverywhere: true });
  const entry = { user_name: "host", company_id: 1, address: "192.0.2.1", after: null };
  expect(await audit()).toEqual([
    { ...entry, kind: "signedIn", after: '{"refusedBefore":3}' },
    { ...entry, kind: "signedOut", address: "192.0.2.2" },
    { ...entry, kind: "signedIn", after: '{"refusedBefore":0}' },
    { ...entry, kind: "signedOutEverywhere", address: "192.0.2.2" },
  ]);
});

it("keep of refused names neither how many nor how long they are", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const refusing = new ConsoleSessions({
    ...{ store: at.store, clock: at.clock, log: { warn: (line: unknown) => at.logged.push(line) } },
    signIn: { withPassword: async () => badCredentials },
  });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let times = 0; times < 3_000; times += 1)
    await refusing.signIn({ userName: randomBytes(8_000).toString("hex"), password: "guess" }, peer);
  collect();
  // A thousand names as they came would be 16 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
});

it("stand up to 10,000 guesses: the address is banned after 15, and the others cost no hash", async () => {
  let refused = 0;
  for (let times = 0; times < 10_000; times += 1) {
    const outcome = await sessions.signIn({ userName: "host", password: `guess ${times}` }, peer);
    if (outcome.kind === "refused" && outcome.code === "tooManyAttempts") refused += 1;
  }
  expect(refused).toBe(9_985);
  expect(await rows()).toEqual([]);
  expect(await audit()).toEqual([]);
});
