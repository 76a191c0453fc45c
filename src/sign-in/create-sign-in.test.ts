import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  hashesOf,
  hostPublicKey as publicKey,
  keyAttempt,
  openSignIn,
  passwordAttempt as attempt,
  signInDefaults as defaults,
  type SignInFixture,
} from "../../test/support/sign-in-fixture.ts";
import { hashPassword, isPasswordOf } from "../lib/password-hash.ts";
import { insertUser, saveMembership } from "../store/accounts/users.ts";
import { createSignIn } from "./create-sign-in.ts";
import type { SignInOutcome } from "./sign-in.ts";
import {
  addUser,
  addUserKey,
  listKeysOfUser,
  removeUserKey,
  setPassword,
  setEnabled,
} from "../operations/users/user-admin.ts";
import { dayMs, minuteMs } from "../lib/durations.ts";

let at: SignInFixture;
let store: SignInFixture["store"];
let clock: SignInFixture["clock"];

beforeEach(async () => {
  at = await openSignIn();
  ({ store, clock } = at);
});
afterEach(() => at.close());

async function isRemembered(): Promise<boolean> {
  let outcome: SignInOutcome | undefined;
  const hashes = await hashesOf(async () => {
    outcome = await at.withPassword();
  });
  return outcome?.kind === "signedIn" && hashes === 0;
}

async function addNamesake(password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  await store.write("site", async (tx) => {
    const userId = await insertUser(tx, { userName: "host", passwordHash, now: 1_000 });
    await saveMembership(tx, { companyId: 2, userId, userName: "host", roles: ["DI_Inquiry"] });
  });
}

describe("signing in with a password", () => {
  it("gives the user with its companies and roles", async () => {
    expect(await at.withPassword()).toEqual({
      kind: "signedIn",
      user: {
        userId: 1,
        userName: "host",
        memberships: [{ companyId: 1, companyCode: "ACME", roles: ["DI_Integration"] }],
        proof: { passwordVersion: expect.any(String) },
      },
    });
    expect(at.waits).toEqual([]);
  });

  it("is refused alike after one second for a wrong password, an unknown, disabled or overdue user; the log has why", async () => {
    const answers = [
      await at.withPassword({ password: "wrong" }),
      await at.withPassword({ userName: "nobody" }),
    ];
    await setEnabled({ store, clock }, { userName: "host" }, false);
    answers.push(await at.withPassword());
    await setEnabled({ store, clock }, { userName: "host" }, true);
    await store.write("site", (tx) => tx.updateTable("users").set({ must_change_password: 1 }).execute());
    answers.push(await at.withPassword());
    expect(answers[0]).toMatchObject({ kind: "refused", code: "badCredentials" });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(at.waits.map(({ ms }) => ms)).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(at.logged).toMatchObject(
      ["wrongPassword", "unknownUser", "disabled", "mustChangePassword"].map((reason) => ({
        user: reason === "unknownUser" ? "nobody" : "host",
        method: "password",
        reason,
      })),
    );
    expect(JSON.stringify(at.logged)).not.toContain("sesame");
  });

  it("hands the signal to the delay, so that a host that has gone is not waited for", async () => {
    const { signal } = new AbortController();
    await at.signIn.withPassword(attempt({ password: "wrong" }), signal);
    expect(at.waits).toEqual([{ ms: 1_000, signal }]);
  });

  it("ends the real delay when the signal aborts", async () => {
    const real = createSignIn({
      store,
      clock,
      log: { info: () => undefined, warn: () => undefined },
      options: { ...defaults, wrongPasswordDelayMs: 600_000 },
    });
    const outcome = await real.withPassword(attempt({ password: "wrong" }), AbortSignal.abort());
    expect(outcome).toMatchObject({ code: "badCredentials" });
  });

  it("of a user that has a key but no password is refused for any password", async () => {
    const added = { userName: "keyed", companyCode: "ACME", roles: ["DI_Integration"], publicKey };
    await addUser({ store, clock }, added);
    expect(await at.withPassword({ userName: "keyed", password: "" })).toMatchObject({
      code: "badCredentials",
    });
  });

  it("compares names exactly", async () => {
    expect(await at.withPassword({ userName: "Host" })).toMatchObject({ code: "badCredentials" });
  });
});

describe("the figures of sign-ins", () => {
  it("count each by its protocol and outcome, and bans", async () => {
    await at.withPassword();
    await at.withPassword();
    expect(at.signIn.statistics().bans).toEqual({ begun: 0, active: 0 });
    for (let time = 0; time < 30; time += 1) await at.withPassword({ password: `wrong ${time}` });
    const { signIns, bans } = at.signIn.statistics();
    const { protocol } = attempt();
    const counts = signIns[protocol];
    expect(counts.accepted).toBe(2);
    expect(counts.refused + counts.turned_away).toBe(30);
    expect(Math.min(counts.refused, counts.turned_away)).toBeGreaterThan(0);
    expect(bans).toEqual({ begun: 1, active: 1 });
    const others = Object.entries(signIns).filter(([name]) => name !== protocol);
    expect(others.flatMap(([, other]) => Object.values(other))).toEqual([0, 0, 0, 0, 0, 0]);
    at.time.now += 40 * dayMs;
    expect(at.signIn.statistics().bans).toEqual({ begun: 1, active: 0 });
  });
});

describe("a password that was checked before", () => {
  it("is remembered for five minutes", async () => {
    await at.withPassword();
    at.time.now += 5 * minuteMs - 1;
    expect(await isRemembered()).toBe(true);
    at.time.now += 1;
    expect(await isRemembered()).toBe(false);
  });

  it("is not remembered when that is switched off", async () => {
    at.signIn = at.create({ passwordCacheMs: 0 });
    await at.withPassword();
    expect(await isRemembered()).toBe(false);
  });

  it("is worth nothing once the password has changed", async () => {
    await at.withPassword();
    await setPassword({ store, clock }, { userName: "host", password: "close sesame" });
    expect(await at.withPassword()).toMatchObject({ code: "badCredentials" });
    expect(await at.withPassword({ password: "close sesame" })).toMatchObject({ kind: "signedIn" });
  });

  it("is worth nothing once the user is disabled", async () => {
    await at.withPassword();
    await setEnabled({ store, clock }, { userName: "host" }, false);
    expect(await at.withPassword()).toMatchObject({ code: "badCredentials" });
  });

  it("comes with the roles as they are now", async () => {
    await at.withPassword();
    await addUser({ store, clock }, { userName: "host", companyCode: "ACME", roles: ["DI_Inquiry"] });
    expect(await at.withPassword()).toMatchObject({ user: { memberships: [{ roles: ["DI_Inquiry"] }] } });
  });

  it("that was wrong is hashed once, and still counted each time", async () => {
    at.signIn = at.create({ maxScore: 3 });
    await at.withPassword({ password: "wrong" });
    expect(await hashesOf(() => at.withPassword({ password: "wrong" }))).toBe(0);
    await at.withPassword({ password: "wrong" });
    expect(at.signIn.bannedForMs("192.0.2.1")).toBeGreaterThan(0);
  });

  it("is hashed once for fifty connections of one host at the same moment", async () => {
    const hashes = await hashesOf(async () => {
      const outcomes = await Promise.all(Array.from({ length: 50 }, () => at.withPassword()));
      expect(outcomes.every(({ kind }) => kind === "signedIn")).toBe(true);
    });
    expect(hashes).toBe(1);
  });
});

describe("two users of one name in different companies", () => {
  it("are told apart by their passwords, and nothing is united", async () => {
    await addNamesake("another one");
    expect(await at.withPassword()).toMatchObject({
      user: { userId: 1, memberships: [{ companyCode: "ACME" }] },
    });
    const other = await at.withPassword({ password: "another one" });
    expect(other).toMatchObject({ user: { userId: 2, memberships: [{ companyCode: "OTHER" }] } });
    expect(await at.withPassword({ password: "a third one" })).toMatchObject({ code: "badCredentials" });
  });

  it("with the same password are told apart by the company of the request, else the older one is taken", async () => {
    await addNamesake("open sesame");
    expect(await at.withPassword()).toMatchObject({ user: { userId: 1 } });
    expect(await at.withPassword({ companyCode: "other" })).toMatchObject({ user: { userId: 2 } });
    expect(await at.withPassword({ companyCode: "ACME" })).toMatchObject({ user: { userId: 1 } });
  });

  it("do not stand in each other's way when one is disabled", async () => {
    await addNamesake("open sesame");
    await setEnabled({ store, clock }, { userName: "host", companyCode: "ACME" }, false);
    expect(await at.withPassword()).toMatchObject({ user: { userId: 2 } });
  });
});

describe("an address that fails too often", () => {
  it("is banned over all protocols, the right password included, and told for how long", async () => {
    for (let index = 0; index < 14; index += 1)
      await at.withPassword({ userName: `u${index}`, protocol: "sftp" });
    expect(at.signIn.bannedForMs("192.0.2.1")).toBe(0);
    await at.withPassword({ password: "wrong" });
    expect(at.signIn.bannedForMs("192.0.2.1")).toBe(30 * minuteMs);
    expect(await at.withPassword()).toMatchObject({ code: "tooManyAttempts", retryAfterMs: 30 * minuteMs });
    expect(await at.signIn.isKeyKnown(keyAttempt())).toBe(false);
    expect(await at.withPassword({ address: "192.0.2.2" })).toMatchObject({ kind: "signedIn" });
  });

  it("gets no more than its fifteen guesses by asking all at once", async () => {
    const guesses = Array.from({ length: 60 }, (_, index) => at.withPassword({ password: `guess ${index}` }));
    const codes = (await Promise.all(guesses)).map((outcome) => outcome.kind === "refused" && outcome.code);
    // Two are hashed at a time, so one may be under way when the fifteenth is counted.
    expect(codes.filter((code) => code === "badCredentials").length).toBeLessThanOrEqual(16);
    expect(codes.filter((code) => code === "tooManyAttempts").length).toBeGreaterThanOrEqual(44);
  });

  it("is banned for broken limits too", () => {
    for (let index = 0; index < 5; index += 1) at.signIn.reportBrokenLimit("192.0.2.1");
    expect(at.signIn.bannedForMs("192.0.2.1")).toBe(30 * minuteMs);
  });

  it("is let in when new options allow it", async () => {
    for (let index = 0; index < 5; index += 1) at.signIn.reportBrokenLimit("192.0.2.1");
    at.signIn.configure({ ...defaults, allow: ["192.0.2.0/24"], wrongPasswordDelayMs: 20 });
    expect(await at.withPassword()).toMatchObject({ kind: "signedIn" });
    await at.withPassword({ password: "wrong" });
    expect(at.waits.map(({ ms }) => ms)).toEqual([20]);
  });
});

/** No password is hashed before the returned call: whoever asks meanwhile stands in line. */
function holdHashes(): () => void {
  const hashing = vi.mocked(isPasswordOf);
  const hash = hashing.getMockImplementation();
  if (hash === undefined) throw new Error("hashes are not mocked");
  const { promise: held, resolve } = Promise.withResolvers<void>();
  hashing.mockImplementation(async (...args) => await held.then(() => hash(...args)));
  onTestFinished(() => void hashing.mockImplementation(hash));
  return resolve;
}

it("strangers that find the line full are put off without being counted; familiar hosts are not", async () => {
  at.signIn = at.create(
    { maxScore: 1, passwordCacheMs: 0 },
    { maxRunning: 1, maxWaiting: 3, maxWaitingStrangers: 2 },
  );
  await at.withPassword();
  const release = holdHashes();
  const guess = (index: number) => at.withPassword({ userName: `u${index}`, address: `198.51.100.${index}` });
  const guesses = [1, 2, 3, 4].map(guess);
  const codeOf = (outcome: Awaited<(typeof guesses)[0]>) => outcome.kind === "refused" && outcome.code;
  // The line is full of strangers once one has been turned away; which, the store says, that knows some users sooner.
  await Promise.any(guesses.map(async (one) => expect(codeOf(await one)).toBe("tooManyAttempts")));
  const own = at.withPassword();
  release();
  const outcomes = await Promise.all(guesses);
  const codes = outcomes.map(codeOf);
  expect(codes.toSorted()).toEqual([...Array(3).fill("badCredentials"), "tooManyAttempts"]);
  expect(outcomes[codes.indexOf("tooManyAttempts")]).toMatchObject({ retryAfterMs: 2_000 });
  expect(await own).toMatchObject({ kind: "signedIn" });
  const isBanned = [1, 2, 3, 4].map((index) => at.signIn.bannedForMs(`198.51.100.${index}`) > 0);
  expect(isBanned).toEqual(codes.map((code) => code === "badCredentials"));
});

it("a wrong password is answered from memory the second time, of a user that exists or not", async () => {
  for (const userName of ["host", "nobody"]) {
    at.signIn = at.create();
    const guess = () => at.withPassword({ userName, password: "wrong" });
    expect(await hashesOf(guess), userName).toBe(1);
    expect(await hashesOf(guess), userName).toBe(0);
  }
});

it("what is remembered of one made-up name says nothing about another", async () => {
  await at.withPassword({ userName: "nobody", password: "open sesame" });
  expect(await at.withPassword({ password: "open sesame" })).toMatchObject({ kind: "signedIn" });
  const another = () => at.withPassword({ userName: "nobody else", password: "open sesame" });
  expect(await hashesOf(another)).toBe(1);
});

describe("signing in with a key", () => {
  beforeEach(async () => {
    await addUserKey({ store, clock }, { userName: "host", publicKey });
    at.signIn = at.create({ maxScore: 3 });
  });

  it("is offered, verified and accepted", async () => {
    expect(await at.signIn.isKeyKnown(keyAttempt())).toBe(true);
    expect(await at.signIn.withVerifiedKey(keyAttempt())).toMatchObject({
      kind: "signedIn",
      user: { userName: "host" },
    });
  });

  it("is refused for another key or another user, and only a verified one counts", async () => {
    const other = keyAttempt({ keyBlob: Buffer.from("another key") });
    for (let index = 0; index < 5; index += 1) expect(await at.signIn.isKeyKnown(other)).toBe(false);
    expect(await at.signIn.isKeyKnown(keyAttempt({ userName: "nobody" }))).toBe(false);
    expect(at.signIn.bannedForMs("192.0.2.1")).toBe(0);
    expect(await at.signIn.withVerifiedKey(other)).toMatchObject({ code: "badCredentials" });
    expect(at.logged.slice(-3)).toMatchObject([
      { user: "host", method: "publickey", reason: "unknownKey" },
      { user: "nobody", reason: "unknownUser" },
      { user: "host", reason: "unknownKey" },
    ]);
  });

  it("is refused from the moment it is removed", async () => {
    const [key] = await listKeysOfUser({ store }, { userName: "host" });
    await removeUserKey({ store, clock }, { userName: "host", fingerprint: key?.fingerprint ?? "" });
    expect(await at.signIn.isKeyKnown(keyAttempt())).toBe(false);
    expect(await at.signIn.withVerifiedKey(keyAttempt())).toMatchObject({ code: "badCredentials" });
  });

  it.each(["is_enabled", "must_change_password"] as const)(
    "is refused when %s forbids it",
    async (column) => {
      const value = column === "is_enabled" ? 0 : 1;
      await store.write("site", (tx) =>
        tx
          .updateTable("users")
          .set({ [column]: value })
          .execute(),
      );
      expect(await at.signIn.isKeyKnown(keyAttempt())).toBe(false);
      expect(await at.signIn.withVerifiedKey(keyAttempt())).toMatchObject({ code: "badCredentials" });
      const reason = column === "is_enabled" ? "disabled" : "mustChangePassword";
      expect(at.logged).toMatchObject([{ reason }, { reason }]);
    },
  );
});
