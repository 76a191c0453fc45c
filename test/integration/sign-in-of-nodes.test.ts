/** Signing in to several nodes of one database, on a real server of PostgreSQL: what one of them knows, the others know soon. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ConsoleRequest, ConsoleRoute } from "../../src/endpoints/http/console/console-route.ts";
import { guardedRoutes } from "../../src/endpoints/http/console/session/console-guard.ts";
import { consoleDeps, pageRequest } from "../../src/endpoints/http/console/testing/asked.ts";
import type { Answer } from "../../src/endpoints/http/server/answer.ts";
import { hourMs, minuteMs } from "../../src/lib/durations.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { addCompany } from "../../src/operations/users/company-admin.ts";
import { addUser, setEnabled, setPassword } from "../../src/operations/users/user-admin.ts";
import { ConsoleSessions } from "../../src/sign-in/console-sessions.ts";
import { type ConfigurableSignIn, createSignIn } from "../../src/sign-in/create-sign-in.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { sealingKeyOf } from "../../src/store/database/meta.ts";
import { openActSite } from "../support/console-acts.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { passwordAttempt, signInDefaults } from "../support/sign-in-fixture.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor as waitPatiently } from "../support/wait-for.ts";

interface TestNode {
  readonly store: Store;
  readonly signIn: ConfigurableSignIn;
  readonly sessions: ConsoleSessions;
}

/** What nodes tell one another takes a second, and longer on a machine that is busy with others too. */
const waitFor = (what: string, look: () => boolean | Promise<boolean>) => waitPatiently(what, look, 20_000);

const guesser = "192.0.2.66";
let server: PostgresServer;
let databases = 0;
let url: string;
/** All nodes have the same clock. */
let time: { now: number };
const clock = { now: () => time.now };
let one: TestNode;
let two: TestNode;

async function startNode(): Promise<TestNode> {
  const store = await openStore(temporaryFolder(), { url });
  const log = createLogger({ level: "silent" });
  const options = { ...signInDefaults, wrongPasswordDelayMs: 0 };
  const signIn = createSignIn({ store, clock, log, options });
  await signIn.load();
  onTestFinished(async () => {
    await signIn.settled();
    await store.close();
  });
  return { store, signIn, sessions: new ConsoleSessions({ store, clock, log, signIn }) };
}

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});
beforeEach(async () => {
  if (!hasPostgres) return;
  databases += 1;
  time = { now: Date.now() };
  url = await server.makeMigrated(`db_${databases}`);
  one = await startNode();
  await addCompany({ store: one.store, clock }, "ACME");
  const roles = ["DI_Integration", "MemberAdmin"];
  await addUser(
    { store: one.store, clock },
    { userName: "host", companyCode: "ACME", roles, password: "open sesame" },
  );
  two = await startNode();
});

/** Unknown users cost the same as wrong passwords, without a hash for each. */
async function guess({ signIn }: TestNode, times: number, userName = "nobody"): Promise<void> {
  for (let count = 0; count < times; count += 1)
    await signIn.withPassword(passwordAttempt({ userName, address: guesser, password: "guess" }));
}

const isBanned = ({ signIn }: TestNode, address = guesser) => signIn.bannedForMs(address) > 0;

async function rowsOf(table: string): Promise<number> {
  const [[count] = []] = await askPostgres(url, `select count(*)::int from ${table}`);
  return Number(count);
}

/** Of all addresses. Several failures share a row, as far as they fall into one moment. */
async function whenPointsAre(points: number): Promise<void> {
  await waitFor("the points to be rows", async () => {
    const [[score] = []] = await askPostgres(url, "select sum(score)::int from sign_in_faults");
    return Number(score) === points;
  });
}

async function whenBanned(nodes: readonly TestNode[]): Promise<void> {
  await waitFor("the ban on each node", () => nodes.every((node) => isBanned(node)));
}

describe.runIf(hasPostgres)("an address that guesses at several nodes", () => {
  it("is banned on all of them for as many points in all as on one", async () => {
    await guess(one, 8);
    await guess(two, 6);
    await whenPointsAre(14);
    expect([isBanned(one), isBanned(two)]).toEqual([false, false]);
    await guess(two, 1);
    await whenBanned([one, two]);
  });

  it("is banned at once where it fails, without a word of the database, and soon on the others", async () => {
    server.pause();
    onTestFinished(() => server.resume());
    for (let count = 0; count < 5; count += 1) two.signIn.reportBrokenLimit(guesser);
    expect([isBanned(one), isBanned(two)]).toEqual([false, true]);
    server.resume();
    await whenBanned([one, two]);
  });

  it("is free on all nodes soon after one has lifted the ban, counts from zero there, and its next ban is a first one", async () => {
    await guess(one, 15);
    await whenBanned([one, two]);
    const acts = await openActSite({
      ...{ store: two.store, stateDir: temporaryFolder(), now: time.now, signInBans: two.signIn.bans },
    });
    const root = await acts.user("root", ["MemberAdmin"], 1, true);
    const by = { user: root, companyId: undefined, reason: "our own" };
    await acts.act("ban.lift", by, { name: guesser, seenAt: time.now });
    expect(isBanned(two)).toBe(false);
    await waitFor("the other to hear of it", () => !isBanned(one));
    time.now += 1;
    await guess(one, 14);
    await whenPointsAre(15 + 14);
    expect([isBanned(one), isBanned(two)]).toEqual([false, false]);
    await guess(one, 1);
    await whenBanned([one, two]);
    expect(two.signIn.bannedForMs(guesser)).toBe(30 * minuteMs);
  });

  it("is banned half as long again each further time, on whichever node that is", async () => {
    for (const [index, node] of [one, two, one].entries()) {
      await guess(node, 15);
      await whenBanned([one, two]);
      const lengths = [one, two].map(({ signIn }) => signIn.bannedForMs(guesser));
      expect(lengths).toEqual([30 * 1.5 ** index * minuteMs, 30 * 1.5 ** index * minuteMs]);
      time.now += lengths[0] ?? 0;
    }
    expect(await rowsOf("sign_in_bans")).toBe(1);
  });

  it("is still banned for a node that starts, which counts what the others have counted", async () => {
    await guess(one, 15);
    for (let count = 0; count < 4; count += 1) one.signIn.reportBrokenLimit("192.0.2.77");
    await whenBanned([one, two]);
    await whenPointsAre(15 + 4 * 3);
    const three = await startNode();
    expect([isBanned(three), isBanned(three, "192.0.2.77")]).toEqual([true, false]);
    three.signIn.reportBrokenLimit("192.0.2.77");
    expect(isBanned(three, "192.0.2.77")).toBe(true);
  });

  it("writes a row for many failures, and none while it is banned", async () => {
    await guess(one, 15);
    for (let count = 0; count < 300; count += 1) one.signIn.reportBrokenLimit(guesser);
    await whenBanned([two]);
    await guess(one, 5);
    await one.signIn.settled();
    const rows = await askPostgres(url, "select peer, score::int from sign_in_faults");
    expect(rows.map(([peer]) => peer)).toEqual(rows.map(() => guesser));
    expect(rows.reduce((sum, [, score]) => sum + Number(score), 0)).toBe(15);
    expect(rows.length).toBeLessThanOrEqual(3);
  });

  it("of which no sign-in is known counts for a user that is guessed at from many, on each node", async () => {
    const attempt = (index: number) =>
      passwordAttempt({ userName: "ghost", address: `198.51.100.${index}`, password: "guess" });
    for (let index = 0; index < 8; index += 1) await one.signIn.withPassword(attempt(index));
    for (let index = 8; index < 16; index += 1) await two.signIn.withPassword(attempt(index));
    await waitFor("the points to be rows", async () => (await rowsOf("sign_in_faults")) === 16);
    const stranger = passwordAttempt({ userName: "ghost", address: "203.0.113.5", password: "guess" });
    await waitFor("the user to be slowed", async () => {
      const { kind, ...rest } = await two.signIn.withPassword(stranger);
      return kind === "refused" && "code" in rest && rest.code === "tooManyAttempts";
    });
  });

  it("that floods with names and addresses is written in few rows at a time, and old ones are removed", async () => {
    for (let index = 0; index < 5_000; index += 1)
      one.signIn.reportBrokenLimit(`10.1.${index >> 8}.${index & 255}`);
    await one.signIn.settled();
    expect(await rowsOf("sign_in_faults")).toBeLessThanOrEqual(1_000);
    time.now += hourMs;
    const three = await startNode();
    await waitFor("a node that starts to remove them", async () => (await rowsOf("sign_in_faults")) === 0);
    expect(isBanned(three, "10.1.0.0")).toBe(false);
  });
});

describe.runIf(hasPostgres)("a user of several nodes", () => {
  it("that is disabled, or has another password, is refused at once on all, also where the password is remembered", async () => {
    const outcomes = async (password: string) => {
      const all = [one, two].map(({ signIn }) => signIn.withPassword(passwordAttempt({ password })));
      return (await Promise.all(all)).map(({ kind }) => kind);
    };
    expect(await outcomes("open sesame")).toEqual(["signedIn", "signedIn"]);
    await setPassword({ store: one.store, clock }, { userName: "host", password: "other words" });
    expect(await outcomes("open sesame")).toEqual(["refused", "refused"]);
    expect(await outcomes("other words")).toEqual(["signedIn", "signedIn"]);
    await setEnabled({ store: two.store, clock }, { userName: "host" }, false);
    expect(await outcomes("other words")).toEqual(["refused", "refused"]);
    expect(await one.signIn.signedInNow(1)).toBeUndefined();
  });

  it("is no stranger to a node for having signed in to another", async () => {
    await one.signIn.withPassword(passwordAttempt({ address: "203.0.113.9" }));
    await waitFor("the other to know", () => two.signIn.hasSignedInLately("203.0.113.9"));
  });
});

describe.runIf(hasPostgres)("a session of the console", () => {
  const peer = { address: "192.0.2.1", agent: "test" };

  /** What a node answers; the page gives the token of its forms, a post says that it was let in. */
  function askNode({ sessions }: TestNode, id: string, posted?: string): Promise<Answer> {
    const seen: Partial<ConsoleRoute> = {
      run: async (_services: unknown, { user }: ConsoleRequest) => ({
        ...{ status: 200, contentType: "text/plain", body: user.formToken },
      }),
    };
    const route = {
      access: "console",
      name: "page",
      path: "/console/files",
      who: "signedIn",
      ...seen,
    } as const;
    const method = posted === undefined ? "GET" : "POST";
    const deps = consoleDeps((sought, how) => sessions.find(sought, how));
    const [guarded] = guardedRoutes([{ ...route, method } as ConsoleRoute], deps);
    const headers = { cookie: `dropgate-plain=${id}`, "sec-fetch-site": "same-origin" };
    const form = async () => new URLSearchParams({ formToken: posted ?? "" });
    const answer = guarded?.respond(pageRequest({ headers, form }));
    return answer ?? Promise.reject(new Error("there is no such page"));
  }

  it("that began on one node is good on another, and so is a form that one node has made", async () => {
    const began = await one.sessions.signIn({ userName: "host", password: "open sesame" }, peer);
    if (began.kind !== "signedIn") throw new Error("the sign-in was refused");
    const { id } = began.session;
    const { status, body } = await askNode(one, id);
    expect(status).toBe(200);
    expect((await askNode(two, id, String(body))).status).toBe(200);
    await expect(askNode(two, id, `${String(body)}x`)).rejects.toMatchObject({ status: 403 });
    await two.sessions.end(began.session, { address: peer.address, isEverywhere: false });
    expect((await askNode(one, id)).status).toBe(303);
  });

  it("sees numbers of rows under the same seal on each node, also when both start at the same moment", async () => {
    for (let round = 0; round < 10; round += 1) {
      await askPostgres(url, "delete from meta where key = 'number_key'");
      const keys = await Promise.all([one, two].map(({ store }) => sealingKeyOf(store)));
      expect(keys[0]).toBe(keys[1]);
      expect(await sealingKeyOf(two.store)).toBe(keys[0]);
    }
  });
});
