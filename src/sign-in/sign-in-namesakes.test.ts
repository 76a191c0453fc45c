/** Users of one name in different companies: none of them helps to find out the password of another. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Role } from "../domain/users/role.ts";
import { hashPassword } from "../lib/password-hash.ts";
import type { Store } from "../store/database/database.ts";
import { hashesOf } from "../../test/support/sign-in-fixture.ts";
import { openFreshStore } from "../../test/support/fresh-store.ts";
import { insertUser, insertUserKey, saveMembership, savePassword } from "../store/accounts/users.ts";
import { addCompany } from "../operations/users/company-admin.ts";
import { type ConfigurableSignIn, createSignIn } from "./create-sign-in.ts";
import type { PasswordAttempt } from "./sign-in.ts";
import { minuteMs } from "../lib/durations.ts";

const maxScore = 4;
const clock = { now: () => 1_000_000 };
const attacker = "198.51.100.1";

let directory: string;
let store: Store;
let signIn: ConfigurableSignIn;
let waits: number[];
/** The users `host`: that of ACME is the older one. */
let ids: { readonly ACME: number; readonly OTHER: number };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-namesakes-"));
  store = await openFreshStore(directory);
  waits = [];
  signIn = create();
  for (const code of ["ACME", "OTHER", "THIRD"]) await addCompany({ store, clock }, code);
  ids = {
    ACME: await addHost(1, "of acme", ["DI_Integration"]),
    OTHER: await addHost(2, "of other", ["DI_Integration"]),
  };
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function create(passwordCacheMs = 5 * minuteMs): ConfigurableSignIn {
  return createSignIn({
    store,
    clock,
    log: { info: () => undefined, warn: () => undefined },
    options: {
      enabled: true,
      maxScore,
      windowMs: 30 * minuteMs,
      banMs: 30 * minuteMs,
      growthPercent: 50,
      allow: [],
      wrongPasswordDelayMs: 1_000,
      passwordCacheMs,
    },
    wait: async (ms) => {
      waits.push(ms);
    },
  });
}

async function addHost(companyId: number, password: string, roles: readonly Role[]): Promise<number> {
  const passwordHash = await hashPassword(password);
  return await store.write("site", async (tx) => {
    const userId = await insertUser(tx, { userName: "host", passwordHash, now: 1_000 });
    await saveMembership(tx, { companyId, userId, userName: "host", roles });
    return userId;
  });
}

async function setPasswordOf(userId: number, password: string): Promise<void> {
  const passwordHash = await hashPassword(password);
  await store.write("site", (tx) => savePassword(tx, { userId, passwordHash, now: 1_000 }));
}

/** `signedIn ID`, or the code of the refusal. */
async function signInWith(password: string, change: Partial<PasswordAttempt> = {}): Promise<string> {
  const attempt = { userName: "host", password, address: attacker, protocol: "sftp", ...change } as const;
  const outcome = await signIn.withPassword(attempt);
  return outcome.kind === "signedIn" ? `signedIn ${outcome.user.userId}` : outcome.code;
}

/** What an administrator of OTHER can do: give the user there a password, and try it. */
async function guess(index: number, change: Partial<PasswordAttempt> = {}): Promise<string> {
  await setPasswordOf(ids.OTHER, `guess ${index}`);
  return await signInWith(`guess ${index}`, change);
}

describe("a request that names a company with a user of the name", () => {
  const asked = { companyCode: "acme", protocol: "http" } as const;

  it("is refused for the password of another company's user like for any wrong one: words, delay and count", async () => {
    const attempt = { userName: "host", address: attacker, ...asked };
    const wrong = await signIn.withPassword({ ...attempt, password: "of nobody" });
    expect(await signIn.withPassword({ ...attempt, password: "of other" })).toEqual(wrong);
    expect(waits).toEqual([1_000, 1_000]);
    for (let index = 2; index < maxScore; index += 1) {
      expect(await guess(index, asked)).toBe("badCredentials");
    }
    expect(await signInWith("of acme", asked)).toBe("tooManyAttempts");
  });

  it("counts such guesses from many addresses against the user", async () => {
    for (let index = 0; index < maxScore; index += 1) {
      await guess(index, { ...asked, address: `198.51.100.${index}` });
    }
    const stranger = { ...asked, address: "203.0.113.1" };
    expect(await signInWith("of nobody", stranger)).toBe("badCredentials");
    expect(await signInWith("of acme", stranger)).toBe("tooManyAttempts");
  });

  it("hashes the password once, whether there is such a user or not, and whatever others there are", async () => {
    const hashesIn = (companyCode: string, address: string) =>
      hashesOf(() => signInWith("a guess", { companyCode, address }));
    expect(await hashesIn("ACME", "first")).toBe(1);
    expect(await hashesIn("THIRD", "second")).toBe(1);
  });

  it("lets each user into its own company as often as it likes", async () => {
    for (let index = 0; index < maxScore * 2; index += 1) {
      expect(await signInWith("of acme", asked)).toBe(`signedIn ${ids.ACME}`);
      expect(await signInWith("of other", { companyCode: "OTHER" })).toBe(`signedIn ${ids.OTHER}`);
    }
    expect(signIn.bannedForMs(attacker)).toBe(0);
  });
});

describe.each([
  ["a company without a user of the name", "THIRD"],
  ["a company that there is not", "NONE"],
  ["a company whose user has another password", "ACME"],
])("a request that names %s", (_, companyCode) => {
  it("is refused for the right password of another company's user, in the same words, time and count", async () => {
    const asked = { companyCode, protocol: "http" } as const;
    const wrong = await signIn.withPassword({
      userName: "host",
      address: "192.0.2.9",
      password: "wrong",
      ...asked,
    });
    const other = await signIn.withPassword({
      userName: "host",
      address: attacker,
      password: "of other",
      ...asked,
    });
    expect(other).toEqual(wrong);
    expect(other).toMatchObject({ code: "badCredentials" });
    expect(waits).toEqual([1_000, 1_000]);
    for (let index = 1; index < maxScore; index += 1) {
      expect(signIn.bannedForMs(attacker)).toBe(0);
      await signInWith("of other", asked);
    }
    expect(signIn.bannedForMs(attacker)).toBeGreaterThan(0);
  });
});

describe("a sign-in without a company", () => {
  const change = {};

  it("takes each user by its password, the older one first", async () => {
    expect(await signInWith("of acme", change)).toBe(`signedIn ${ids.ACME}`);
    expect(await signInWith("of other", change)).toBe(`signedIn ${ids.OTHER}`);
    await setPasswordOf(ids.OTHER, "of acme");
    expect(await signInWith("of acme", change)).toBe(`signedIn ${ids.ACME}`);
  });

  it("counts each new password of the younger user as a guess at the older one", async () => {
    for (let index = 1; index < maxScore; index += 1) {
      expect(await guess(index, change)).toBe(`signedIn ${ids.OTHER}`);
    }
    // The one that reaches the limit is not let in any more.
    expect(await guess(maxScore, change)).toBe("tooManyAttempts");
    expect(await signInWith("of acme", change)).toBe("tooManyAttempts");
  });

  it("never bans the younger user for its own right password, remembered or not", async () => {
    for (const passwordCacheMs of [5 * minuteMs, 0]) {
      signIn = create(passwordCacheMs);
      for (let index = 0; index < maxScore * 2; index += 1) {
        expect(await signInWith("of other", change)).toBe(`signedIn ${ids.OTHER}`);
      }
      const crowd = Array.from({ length: 20 }, () => signInWith("of other", change));
      expect(new Set(await Promise.all(crowd))).toEqual(new Set([`signedIn ${ids.OTHER}`]));
    }
    expect(waits).toEqual([]);
  });

  it("counts a password that fits none of them once, each time", async () => {
    for (let index = 0; index < maxScore; index += 1) {
      expect(signIn.bannedForMs(attacker)).toBe(0);
      expect(await signInWith("of nobody", change)).toBe("badCredentials");
    }
    expect(signIn.bannedForMs(attacker)).toBeGreaterThan(0);
  });
});

it("guesses that come all at once are counted before the next user is tried", async () => {
  const guesses = Array.from({ length: 24 }, (_, index) => signInWith(`guess ${index}`));
  const right = signInWith("of acme");
  const outcomes = await Promise.all(guesses);
  expect(outcomes.filter((outcome) => outcome === "tooManyAttempts").length).toBeGreaterThanOrEqual(19);
  expect(await right).toBe("tooManyAttempts");
});

describe("a key", () => {
  function newKey(): Uint8Array {
    const { publicKey } = generateKeyPairSync("ed25519");
    return publicKey.export({ type: "spki", format: "der" });
  }

  async function addKey(userId: number): Promise<Uint8Array> {
    const keyBlob = newKey();
    const key = { userId, keyType: "ssh-ed25519", keyBlob: Buffer.from(keyBlob).toString("base64") };
    await store.write("site", (tx) => insertUserKey(tx, { ...key, comment: "", now: 1_000 }));
    return keyBlob;
  }

  const keyAttempt = (keyBlob: Uint8Array) =>
    ({ userName: "host", keyType: "ssh-ed25519", keyBlob, address: attacker, protocol: "sftp" }) as const;

  it("signs in the user that holds it, never its namesake, and counts nothing", async () => {
    const [ofAcme, ofOther] = [await addKey(ids.ACME), await addKey(ids.OTHER)];
    for (let index = 0; index < maxScore * 2; index += 1) {
      expect(await signIn.isKeyKnown(keyAttempt(ofOther))).toBe(true);
      const other = await signIn.withVerifiedKey(keyAttempt(ofOther));
      expect(other).toMatchObject({ user: { userId: ids.OTHER } });
      const own = await signIn.withVerifiedKey(keyAttempt(ofAcme));
      expect(own).toMatchObject({ user: { userId: ids.ACME } });
    }
    expect(signIn.bannedForMs(attacker)).toBe(0);
  });

  it("that no user holds is refused and counted, also when there are two of the name", async () => {
    for (let index = 0; index < maxScore; index += 1) {
      expect(await signIn.withVerifiedKey(keyAttempt(newKey()))).toMatchObject({ code: "badCredentials" });
    }
    expect(signIn.bannedForMs(attacker)).toBeGreaterThan(0);
  });

  it("or a password of one user makes the address no less a stranger to the other", async () => {
    const ofOther = await addKey(ids.OTHER);
    await signIn.withVerifiedKey(keyAttempt(ofOther));
    await signInWith("of other", { companyCode: "OTHER" });
    await signInWith("of acme", { address: "192.0.2.1", companyCode: "ACME" });
    for (let index = 0; index < maxScore; index += 1) {
      await signInWith("wrong", { address: `203.0.113.${index}` });
    }
    expect(await signInWith("of nobody", { companyCode: "ACME" })).toBe("badCredentials");
    expect(await signInWith("of acme", { companyCode: "ACME" })).toBe("tooManyAttempts");
    expect(await signInWith("of acme")).toBe("badCredentials");
    expect(await signInWith("of other")).toBe(`signedIn ${ids.OTHER}`);
    expect(await signInWith("of acme", { address: "192.0.2.1" })).toBe(`signedIn ${ids.ACME}`);
  });
});

describe("what administrators are told of refused sign-ins", () => {
  const reasonsOf = (userId: number) => signIn.refusedOf(userId).map(({ reason }) => reason);

  it("is nothing of a sign-in that a namesake took, and of a refused one what their own user has to do with it", async () => {
    expect(await signInWith("of other")).toBe(`signedIn ${ids.OTHER}`);
    expect([reasonsOf(ids.ACME), reasonsOf(ids.OTHER)]).toEqual([[], []]);
    await store.write("site", (tx) =>
      tx.updateTable("users").set({ is_enabled: 0 }).where("id", "=", ids.ACME).execute(),
    );
    expect(await signInWith("of acme")).toBe("badCredentials");
    expect([reasonsOf(ids.ACME), reasonsOf(ids.OTHER)]).toEqual([["disabled"], ["wrongPassword"]]);
  });

  it("is nothing of what names the company of another", async () => {
    expect(await signInWith("of nobody", { companyCode: "OTHER", protocol: "http" })).toBe("badCredentials");
    expect([reasonsOf(ids.ACME), reasonsOf(ids.OTHER)]).toEqual([[], ["wrongPassword"]]);
  });
});
