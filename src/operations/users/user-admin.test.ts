import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isPasswordOf } from "../../lib/password-hash.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { findUsersByName, insertUser, saveMembership } from "../../store/accounts/users.ts";
import { addCompany } from "./company-admin.ts";
import {
  addUser,
  addUserKey,
  listKeysOfUser,
  listUsers,
  type NewUser,
  removeUserKey,
  setPassword,
  setEnabled,
} from "./user-admin.ts";

const publicKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";
const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let deps: { store: Store; clock: typeof clock };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-users-"));
  store = await openFreshStore(directory);
  deps = { store, clock };
  for (const code of ["ACME", "OTHER", "THIRD"]) await addCompany(deps, code);
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function add(change: Partial<NewUser> = {}) {
  return addUser(deps, { userName: "host", companyCode: "acme", roles: ["DI_Integration"], ...change });
}

async function hashOf(userName: string): Promise<string | null> {
  const [record] = await findUsersByName(store.read, userName);
  return record?.passwordHash ?? null;
}

/** A second user of the name, as an import of users into another company makes it. */
async function addNamesake(companyCode: string, companyId: number): Promise<void> {
  await store.write("site", async (tx) => {
    const userId = await insertUser(tx, { userName: "host", passwordHash: null, now: 1_000 });
    await saveMembership(tx, { companyId, userId, userName: "host", roles: ["DI_Integration"] });
  });
  expect((await listUsers(deps)).flatMap((user) => user.memberships.map((one) => one.companyCode))).toContain(
    companyCode,
  );
}

describe("adding a user", () => {
  it("makes up a password when neither password nor key is given, and tells it once", async () => {
    const added = await add();
    expect(added).toMatchObject({ companyCode: "ACME", isNewUser: true, isNewMember: true, isChanged: true });
    expect(await isPasswordOf(added.generatedPassword ?? "", await hashOf("host"))).toBe(true);
    const again = await add();
    expect(again).toEqual({
      userName: "host",
      companyCode: "ACME",
      roles: ["DI_Integration"],
      isNewUser: false,
      isNewMember: false,
      isChanged: false,
    });
  });

  it("with the same password again changes nothing, with another one changes it", async () => {
    await add({ password: "open sesame" });
    const before = await hashOf("host");
    expect((await add({ password: "open sesame" })).isChanged).toBe(false);
    expect(await hashOf("host")).toBe(before);
    expect((await add({ password: "close sesame" })).isChanged).toBe(true);
    expect(await isPasswordOf("close sesame", await hashOf("host"))).toBe(true);
  });

  it("with a key and no password makes a user that signs in by key alone", async () => {
    expect(await add({ publicKey })).not.toHaveProperty("generatedPassword");
    expect(await listUsers(deps)).toEqual([
      {
        userName: "host",
        isEnabled: true,
        mustChangePassword: false,
        hasPassword: false,
        createdAt: 1_000,
        memberships: [{ companyCode: "ACME", roles: ["DI_Integration"] }],
        keys: [
          {
            keyType: "ssh-ed25519",
            fingerprint: "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
            comment: "me@example.com",
          },
        ],
      },
    ]);
    expect((await add({ publicKey })).isChanged).toBe(false);
  });

  it("gives exactly the roles that are named, without repetition", async () => {
    await add({ roles: ["DI_Inquiry", "DI_Integration", "DI_Inquiry"] });
    expect((await add({ roles: ["DI_Integration", "DI_Inquiry"] })).isChanged).toBe(false);
    expect(await add({ roles: ["MemberAdmin"] })).toMatchObject({ roles: ["MemberAdmin"], isChanged: true });
    expect((await listUsers(deps))[0]?.memberships).toEqual([
      { companyCode: "ACME", roles: ["MemberAdmin"] },
    ]);
  });

  it("to a second company makes the same user a member there, its password unchanged", async () => {
    await add({ password: "open sesame" });
    const joined = await add({ companyCode: "OTHER", roles: ["DI_Inquiry"] });
    expect(joined).toMatchObject({ isNewUser: false, isNewMember: true, isChanged: true });
    expect(joined).not.toHaveProperty("generatedPassword");
    expect(await findUsersByName(store.read, "host")).toMatchObject([
      {
        memberships: [
          { companyCode: "ACME", roles: ["DI_Integration"] },
          { companyCode: "OTHER", roles: ["DI_Inquiry"] },
        ],
      },
    ]);
    expect((await add({ companyCode: "THIRD", password: "open sesame" })).isNewMember).toBe(true);
  });

  it("to a second company with another password is refused: it would change the first company's", async () => {
    await add({ password: "open sesame" });
    await expect(add({ companyCode: "OTHER", password: "close sesame" })).rejects.toThrow(
      /in ACME.*leave the password out/,
    );
  });

  it("to a third company is refused when two users have the name", async () => {
    await add({ publicKey });
    await addNamesake("OTHER", 2);
    await expect(add({ companyCode: "THIRD" })).rejects.toThrow(/2 users host \(in ACME, OTHER\)/);
    expect((await add({ companyCode: "OTHER", roles: ["DI_Inquiry"] })).isChanged).toBe(true);
  });

  it("twice at once makes one user", async () => {
    const answers = await Promise.allSettled([add({ publicKey }), add({ publicKey })]);
    const added = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    // The other one is refused, or finds the user, if the store says so only after the first.
    expect(added.filter(({ isNewUser }) => isNewUser)).toHaveLength(1);
    expect(await listUsers(deps)).toHaveLength(1);
  });

  it.each([
    ["an empty name", { userName: "" }, /user name/],
    ["a name with a colon", { userName: "a:b" }, /without : \//],
    ["a name with a space at the end", { userName: "host " }, /spaces at the ends/],
    ["a name with a line break", { userName: "a\nb" }, /control or invisible characters/],
    ["a name that is too long", { userName: "x".repeat(101) }, /1 to 100/],
    [
      "an unknown role",
      { roles: ["DI_integration"] },
      /"DI_integration" is not a role: use one of MemberAdmin/,
    ],
    ["no role", { roles: [] }, /no role is given/],
    ["an unknown company", { companyCode: "NONE" }, /no company NONE.*company add/],
    ["a short password", { password: "1234567" }, /8 to 1000/],
    ["a password of two lines", { password: "open\nsesame" }, /control character/],
    ["a bad key", { publicKey: "ssh-dss AAAA" }, /is not accepted/],
  ])("with %s is refused and nothing is written", async (_, change, message) => {
    await expect(add(change)).rejects.toThrow(message);
    expect(await listUsers(deps)).toEqual([]);
  });

  it("takes names with spaces inside, letters of any language and addresses", async () => {
    for (const userName of ["José Peña", "host@example.com", "ACME\\svc"]) await add({ userName, publicKey });
    expect(await listUsers(deps)).toHaveLength(3);
  });
});

describe("managing a user", () => {
  it("sets a given or made-up password and lifts the duty to change it", async () => {
    await add();
    await store.write("site", (tx) => tx.updateTable("users").set({ must_change_password: 1 }).execute());
    expect(await setPassword(deps, { userName: "host", password: "open sesame" })).toEqual({});
    expect(await isPasswordOf("open sesame", await hashOf("host"))).toBe(true);
    expect((await listUsers(deps))[0]?.mustChangePassword).toBe(false);
    const { generatedPassword = "" } = await setPassword(deps, { userName: "host" });
    expect(await isPasswordOf(generatedPassword, await hashOf("host"))).toBe(true);
  });

  it("disables and enables it, each once", async () => {
    await add({ publicKey });
    expect(await setEnabled(deps, { userName: "host" }, false)).toEqual({ isChanged: true });
    expect(await setEnabled(deps, { userName: "host" }, false)).toEqual({ isChanged: false });
    expect((await listUsers(deps))[0]?.isEnabled).toBe(false);
    expect(await setEnabled(deps, { userName: "host" }, true)).toEqual({ isChanged: true });
  });

  it("adds a key once", async () => {
    await add();
    expect((await addUserKey(deps, { userName: "host", publicKey })).isNew).toBe(true);
    expect((await addUserKey(deps, { userName: "host", publicKey })).isNew).toBe(false);
  });

  it("lists its keys and removes one by its fingerprint, with or without what stands before it", async () => {
    await add({ password: "open sesame" });
    const who = { userName: "host" };
    const { fingerprint } = await addUserKey(deps, { ...who, publicKey });
    const key = { keyType: "ssh-ed25519", fingerprint, comment: "me@example.com" };
    expect(await listKeysOfUser(deps, who)).toEqual([key]);
    expect(await removeUserKey(deps, { ...who, fingerprint })).toEqual({ fingerprint, canSignIn: true });
    await addUserKey(deps, { ...who, publicKey });
    await removeUserKey(deps, { ...who, fingerprint: fingerprint.replace("SHA256:", "") });
    expect(await listKeysOfUser(deps, who)).toEqual([]);
    await expect(removeUserKey(deps, { ...who, fingerprint })).rejects.toThrow(
      /host has no key SHA256:.*user keys host/,
    );
  });

  it("says when the last way to sign in is removed, and leaves the same key of others alone", async () => {
    await add({ publicKey });
    await add({ userName: "other", publicKey });
    const [key] = await listKeysOfUser(deps, { userName: "host" });
    const removed = await removeUserKey(deps, { userName: "host", fingerprint: key?.fingerprint ?? "" });
    expect(removed.canSignIn).toBe(false);
    expect(await listKeysOfUser(deps, { userName: "other" })).toEqual([key]);
  });

  it("asks for the company when two users have the name", async () => {
    await add({ publicKey });
    await addNamesake("OTHER", 2);
    await expect(setEnabled(deps, { userName: "host" }, false)).rejects.toThrow(/name the company/);
    await setEnabled(deps, { userName: "host", companyCode: "other" }, false);
    expect((await listUsers(deps)).map(({ isEnabled }) => isEnabled)).toEqual([true, false]);
  });

  it("is refused for a name that nobody has", async () => {
    await expect(setPassword(deps, { userName: "nobody" })).rejects.toThrow(/no user nobody.*user list/);
    await add({ publicKey });
    await expect(setEnabled(deps, { userName: "host", companyCode: "OTHER" }, false)).rejects.toThrow(
      /no user host in OTHER/,
    );
  });
});
