import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashPassword } from "../lib/password-hash.ts";
import { openStore, type Store } from "../store/database.ts";
import { insertUser, saveMembership } from "../store/users.ts";
import { addCompany } from "./company-admin.ts";
import { type ConfigurableSignIn, createSignIn, type SignInOptions } from "./create-sign-in.ts";
import type { HashQueueLimits } from "./sign-in-hash-queue.ts";
import type { KeyAttempt, PasswordAttempt } from "./sign-in.ts";
import {
  addUser,
  addUserKey,
  disableUser,
  enableUser,
  listKeysOfUser,
  removeUserKey,
  setPassword,
} from "./user-admin.ts";

const publicKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";
const keyBlob = Buffer.from(publicKey.split(" ")[1] ?? "", "base64");
const minute = 60_000;

const defaults: SignInOptions = {
  enabled: true,
  maxScore: 15,
  windowMs: 30 * minute,
  banMs: 30 * minute,
  growthPercent: 50,
  allow: [],
  wrongPasswordDelayMs: 1_000,
  passwordCacheMs: 5 * minute,
};

let directory: string;
let store: Store;
let signIn: ConfigurableSignIn;
const time = { now: 0 };
const clock = { now: () => time.now };
let waits: { ms: number; signal: AbortSignal | undefined }[];
let logged: unknown[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-sign-in-"));
  store = await openStore(directory);
  time.now = 1_000_000;
  waits = [];
  logged = [];
  signIn = create();
  for (const code of ["ACME", "OTHER"]) await addCompany({ store, clock }, code);
  await addUser(
    { store, clock },
    { userName: "host", companyCode: "ACME", roles: ["DI_Integration"], password: "open sesame" },
  );
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function create(options: Partial<SignInOptions> = {}, hashQueue?: HashQueueLimits): ConfigurableSignIn {
  const keep = (line: unknown) => logged.push(line);
  return createSignIn({
    store,
    clock,
    log: { info: keep, warn: keep },
    options: { ...defaults, ...options },
    ...(hashQueue === undefined ? {} : { hashQueue }),
    wait: async (ms, signal) => {
      waits.push({ ms, signal });
    },
  });
}

function attempt(change: Partial<PasswordAttempt> = {}): PasswordAttempt {
  return { userName: "host", password: "open sesame", address: "192.0.2.1", protocol: "http", ...change };
}

function keyAttempt(change: Partial<KeyAttempt> = {}): KeyAttempt {
  return {
    userName: "host",
    keyType: "ssh-ed25519",
    keyBlob,
    address: "192.0.2.1",
    protocol: "sftp",
    ...change,
  };
}

function withPassword(change: Partial<PasswordAttempt> = {}) {
  return signIn.withPassword(attempt(change));
}

/** A hash costs at least 30 ms of processor time, even on a fast machine. */
async function isRemembered(change: Partial<PasswordAttempt> = {}): Promise<boolean> {
  const before = process.cpuUsage();
  const outcome = await withPassword(change);
  const { user } = process.cpuUsage(before);
  return outcome.kind === "signedIn" && user < 30_000;
}

async function addNamesake(password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  await store.write(async (tx) => {
    const userId = await insertUser(tx, { userName: "host", passwordHash, now: 1_000 });
    await saveMembership(tx, { companyId: 2, userId, userName: "host", roles: ["DI_Inquiry"] });
  });
}

describe("signing in with a password", () => {
  it("gives the user with its companies and roles", async () => {
    expect(await withPassword()).toEqual({
      kind: "signedIn",
      user: {
        userId: 1,
        userName: "host",
        memberships: [{ companyId: 1, companyCode: "ACME", roles: ["DI_Integration"] }],
      },
    });
    expect(waits).toEqual([]);
  });

  it("is refused alike after one second for a wrong password, an unknown, disabled or overdue user; the log has why", async () => {
    const answers = [await withPassword({ password: "wrong" }), await withPassword({ userName: "nobody" })];
    await disableUser({ store, clock }, { userName: "host" });
    answers.push(await withPassword());
    await enableUser({ store, clock }, { userName: "host" });
    await store.write((tx) => tx.updateTable("users").set({ must_change_password: 1 }).execute());
    answers.push(await withPassword());
    expect(answers[0]).toMatchObject({ kind: "refused", code: "badCredentials" });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(waits.map(({ ms }) => ms)).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(logged).toMatchObject(
      ["wrongPassword", "unknownUser", "disabled", "mustChangePassword"].map((reason) => ({
        user: reason === "unknownUser" ? "nobody" : "host",
        method: "password",
        reason,
      })),
    );
    expect(JSON.stringify(logged)).not.toContain("sesame");
  });

  it("hands the signal to the delay, so that a host that has gone is not waited for", async () => {
    const { signal } = new AbortController();
    await signIn.withPassword(attempt({ password: "wrong" }), signal);
    expect(waits).toEqual([{ ms: 1_000, signal }]);
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
    expect(await withPassword({ userName: "keyed", password: "" })).toMatchObject({ code: "badCredentials" });
  });

  it("compares names exactly", async () => {
    expect(await withPassword({ userName: "Host" })).toMatchObject({ code: "badCredentials" });
  });
});

describe("a password that was checked before", () => {
  it("is remembered for five minutes", async () => {
    await withPassword();
    time.now += 5 * minute - 1;
    expect(await isRemembered()).toBe(true);
    time.now += 1;
    expect(await isRemembered()).toBe(false);
  });

  it("is not remembered when that is switched off", async () => {
    signIn = create({ passwordCacheMs: 0 });
    await withPassword();
    expect(await isRemembered()).toBe(false);
  });

  it("is worth nothing once the password has changed", async () => {
    await withPassword();
    await setPassword({ store, clock }, { userName: "host", password: "close sesame" });
    expect(await withPassword()).toMatchObject({ code: "badCredentials" });
    expect(await withPassword({ password: "close sesame" })).toMatchObject({ kind: "signedIn" });
  });

  it("is worth nothing once the user is disabled", async () => {
    await withPassword();
    await disableUser({ store, clock }, { userName: "host" });
    expect(await withPassword()).toMatchObject({ code: "badCredentials" });
  });

  it("comes with the roles as they are now", async () => {
    await withPassword();
    await addUser({ store, clock }, { userName: "host", companyCode: "ACME", roles: ["DI_Inquiry"] });
    expect(await withPassword()).toMatchObject({ user: { memberships: [{ roles: ["DI_Inquiry"] }] } });
  });

  it("that was wrong is hashed once, and still counted each time", async () => {
    signIn = create({ maxScore: 3 });
    await withPassword({ password: "wrong" });
    const before = process.cpuUsage();
    await withPassword({ password: "wrong" });
    expect(process.cpuUsage(before).user).toBeLessThan(30_000);
    await withPassword({ password: "wrong" });
    expect(signIn.bannedForMs("192.0.2.1")).toBeGreaterThan(0);
  });

  it("is hashed once for fifty connections of one host at the same moment", async () => {
    const before = process.cpuUsage();
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => withPassword()));
    expect(outcomes.every(({ kind }) => kind === "signedIn")).toBe(true);
    expect(process.cpuUsage(before).user).toBeLessThan(1_500_000);
  });
});

describe("two users of one name in different companies", () => {
  it("are told apart by their passwords, and nothing is united", async () => {
    await addNamesake("another one");
    expect(await withPassword()).toMatchObject({
      user: { userId: 1, memberships: [{ companyCode: "ACME" }] },
    });
    const other = await withPassword({ password: "another one" });
    expect(other).toMatchObject({ user: { userId: 2, memberships: [{ companyCode: "OTHER" }] } });
    expect(await withPassword({ password: "a third one" })).toMatchObject({ code: "badCredentials" });
  });

  it("with the same password are told apart by the company of the request, else the older one is taken", async () => {
    await addNamesake("open sesame");
    expect(await withPassword()).toMatchObject({ user: { userId: 1 } });
    expect(await withPassword({ companyCode: "other" })).toMatchObject({ user: { userId: 2 } });
    expect(await withPassword({ companyCode: "ACME" })).toMatchObject({ user: { userId: 1 } });
  });

  it("do not stand in each other's way when one is disabled", async () => {
    await addNamesake("open sesame");
    await disableUser({ store, clock }, { userName: "host", companyCode: "ACME" });
    expect(await withPassword()).toMatchObject({ user: { userId: 2 } });
  });
});

describe("an address that fails too often", () => {
  it("is banned over all protocols, the right password included, and told for how long", async () => {
    for (let index = 0; index < 7; index += 1)
      await withPassword({ userName: `u${index}`, protocol: "sftp" });
    await withPassword({ password: "wrong" });
    expect(signIn.bannedForMs("192.0.2.1")).toBe(30 * minute);
    expect(await withPassword()).toMatchObject({ code: "tooManyAttempts", retryAfterMs: 30 * minute });
    expect(await signIn.isKeyKnown(keyAttempt())).toBe(false);
    expect(await withPassword({ address: "192.0.2.2" })).toMatchObject({ kind: "signedIn" });
  });

  it("gets no more than its fifteen guesses by asking all at once", async () => {
    const guesses = Array.from({ length: 60 }, (_, index) => withPassword({ password: `guess ${index}` }));
    const codes = (await Promise.all(guesses)).map((outcome) => outcome.kind === "refused" && outcome.code);
    // Two are hashed at a time, so one may be under way when the fifteenth is counted.
    expect(codes.filter((code) => code === "badCredentials").length).toBeLessThanOrEqual(16);
    expect(codes.filter((code) => code === "tooManyAttempts").length).toBeGreaterThanOrEqual(44);
  });

  it("is banned for broken limits too", () => {
    for (let index = 0; index < 5; index += 1) signIn.reportBrokenLimit("192.0.2.1");
    expect(signIn.bannedForMs("192.0.2.1")).toBe(30 * minute);
  });

  it("is let in when new options allow it", async () => {
    for (let index = 0; index < 5; index += 1) signIn.reportBrokenLimit("192.0.2.1");
    signIn.configure({ ...defaults, allow: ["192.0.2.0/24"], wrongPasswordDelayMs: 20 });
    expect(await withPassword()).toMatchObject({ kind: "signedIn" });
    await withPassword({ password: "wrong" });
    expect(waits.map(({ ms }) => ms)).toEqual([20]);
  });
});

describe("a user whose password is guessed from many addresses", () => {
  async function attack(userName: string): Promise<void> {
    for (let index = 0; index < 15; index += 1) {
      await withPassword({ userName, password: "wrong", address: `198.51.100.${index}` });
    }
  }

  it("goes on working for the host that has signed in before, while strangers are put off", async () => {
    signIn = create({ maxScore: 4 });
    await withPassword();
    await attack("host");
    expect(await withPassword({ address: "203.0.113.1" })).toMatchObject({ code: "tooManyAttempts" });
    time.now += 6 * minute;
    expect(await withPassword()).toMatchObject({ kind: "signedIn" });
    time.now += 24 * minute;
    expect(await withPassword({ address: "203.0.113.1" })).toMatchObject({ kind: "signedIn" });
  });

  it("looks the same when there is no such user", async () => {
    signIn = create({ maxScore: 4 });
    await attack("nobody");
    expect(await withPassword({ userName: "nobody", address: "203.0.113.1" })).toMatchObject({
      code: "tooManyAttempts",
    });
  });
});

it("strangers that find the line full are put off without being counted; familiar hosts are not", async () => {
  signIn = create(
    { maxScore: 2, passwordCacheMs: 0 },
    { maxRunning: 1, maxWaiting: 3, maxWaitingStrangers: 2 },
  );
  await withPassword();
  const guess = (index: number) => withPassword({ userName: `u${index}`, address: `198.51.100.${index}` });
  const guesses = [1, 2, 3, 4].map(guess);
  // The line is full of strangers once the fourth has been turned away.
  await guesses[3];
  const own = withPassword();
  const outcomes = await Promise.all(guesses);
  const codes = outcomes.map((outcome) => outcome.kind === "refused" && outcome.code);
  expect(codes).toEqual(["badCredentials", "badCredentials", "badCredentials", "tooManyAttempts"]);
  expect(outcomes[3]).toMatchObject({ retryAfterMs: 2_000 });
  expect(await own).toMatchObject({ kind: "signedIn" });
  expect([1, 2, 3, 4].map((index) => signIn.bannedForMs(`198.51.100.${index}`) > 0)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

it("a signed-in user is told as it is now: with its roles, and no more once disabled or gone", async () => {
  const id = 1;
  expect(await withPassword()).toMatchObject({ user: { userId: id } });
  const membership = { companyId: 1, userId: id, userName: "host", roles: ["DI_Inquiry"] } as const;
  await store.write((tx) => saveMembership(tx, membership));
  expect(await signIn.signedInNow(id)).toMatchObject({ memberships: [{ roles: ["DI_Inquiry"] }] });
  await disableUser({ store, clock }, { userName: "host" });
  expect(await signIn.signedInNow(id)).toBeUndefined();
  expect(await signIn.signedInNow(id + 1)).toBeUndefined();
});

describe("signing in with a key", () => {
  beforeEach(async () => {
    await addUserKey({ store, clock }, { userName: "host", publicKey });
  });

  it("is offered, verified and accepted", async () => {
    expect(await signIn.isKeyKnown(keyAttempt())).toBe(true);
    expect(await signIn.withVerifiedKey(keyAttempt())).toMatchObject({
      kind: "signedIn",
      user: { userName: "host" },
    });
  });

  it("is refused for another key or another user, and only a verified one counts", async () => {
    const other = keyAttempt({ keyBlob: Buffer.from("another key") });
    for (let index = 0; index < 50; index += 1) expect(await signIn.isKeyKnown(other)).toBe(false);
    expect(await signIn.isKeyKnown(keyAttempt({ userName: "nobody" }))).toBe(false);
    expect(signIn.bannedForMs("192.0.2.1")).toBe(0);
    expect(await signIn.withVerifiedKey(other)).toMatchObject({ code: "badCredentials" });
    expect(logged.slice(-3)).toMatchObject([
      { user: "host", method: "publickey", reason: "unknownKey" },
      { user: "nobody", reason: "unknownUser" },
      { user: "host", reason: "unknownKey" },
    ]);
  });

  it("is refused from the moment it is removed", async () => {
    const [key] = await listKeysOfUser({ store }, { userName: "host" });
    await removeUserKey({ store, clock }, { userName: "host", fingerprint: key?.fingerprint ?? "" });
    expect(await signIn.isKeyKnown(keyAttempt())).toBe(false);
    expect(await signIn.withVerifiedKey(keyAttempt())).toMatchObject({ code: "badCredentials" });
  });

  it.each(["is_enabled", "must_change_password"] as const)(
    "is refused when %s forbids it",
    async (column) => {
      const value = column === "is_enabled" ? 0 : 1;
      await store.write((tx) =>
        tx
          .updateTable("users")
          .set({ [column]: value })
          .execute(),
      );
      expect(await signIn.isKeyKnown(keyAttempt())).toBe(false);
      expect(await signIn.withVerifiedKey(keyAttempt())).toMatchObject({ code: "badCredentials" });
      const reason = column === "is_enabled" ? "disabled" : "mustChangePassword";
      expect(logged).toMatchObject([{ reason }, { reason }]);
    },
  );
});
