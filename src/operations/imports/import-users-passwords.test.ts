/** Imports of users with many passwords: how many, and what becomes of them when the client goes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isPasswordOf } from "../../lib/password-hash.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { findUsersByName } from "../../store/accounts/users.ts";
import { addCompany } from "../users/company-admin.ts";
import { importUsers, maxUsersWithPassword, userImportHashing } from "./import-users.ts";
import { createHashQueue } from "../../sign-in/sign-in-hash-queue.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let hashed: number;
/** Called before each hash. */
let onHash: () => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-import-passwords-"));
  store = await openFreshStore(directory);
  await addCompany({ store, clock }, "ACME");
  hashed = 0;
  onHash = () => undefined;
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function send(users: readonly unknown[], signal = new AbortController().signal): Promise<void> {
  const queue = createHashQueue(userImportHashing);
  const hashQueue: typeof queue = {
    run(isFamiliar, task) {
      hashed += 1;
      onHash();
      return queue.run(isFamiliar, task);
    },
  };
  const body = { companyCode: "ACME", users };
  const input = { companyId: 1, companyCode: "ACME", callerRoles: ["MemberAdmin"], body } as const;
  return importUsers({ store, clock, hashQueue }, input, signal);
}

async function isPasswordSet(userName: string, password: string): Promise<boolean> {
  const [record] = await findUsersByName(store.read, userName);
  return record !== undefined && (await isPasswordOf(password, record.passwordHash));
}

const password = "open sesame";

function usersOf(count: number, password?: string): readonly object[] {
  const sent = password === undefined ? {} : { password };
  return Array.from({ length: count }, (_, index) => ({ userName: `u${index}`, ...sent }));
}

it("a caller who is gone before the passwords are hashed gets nothing written", async () => {
  const gone = new Error("the client is gone");
  await expect(send(usersOf(1, password), AbortSignal.abort(gone))).rejects.toBe(gone);
  expect(await findUsersByName(store.read, "u0")).toEqual([]);
  expect(hashed).toBe(0);
});

it("a caller who goes while they are hashed gets all of it finished and written", async () => {
  const caller = new AbortController();
  onHash = () => caller.abort(new Error("the client is gone"));
  await send(usersOf(5, password), caller.signal);
  expect(hashed).toBe(5);
  expect(await isPasswordSet("u0", password)).toBe(true);
  expect(await isPasswordSet("u4", password)).toBe(true);
});

it("more passwords than a client waits for are refused with the remedy, and none is hashed", async () => {
  const users = usersOf(maxUsersWithPassword + 1, password);
  await expect(send([...users, { userName: "ann" }])).rejects.toMatchObject({
    faults: [{ code: "tooLarge", path: "users", message: expect.stringMatching(/ 501 .* 500 .*several/) }],
  });
  expect(hashed).toBe(0);
  expect(await findUsersByName(store.read, "ann")).toEqual([]);
});

it("users without a password are not limited by that, and of one name only the later counts", async () => {
  const repeated = new Array<unknown>(maxUsersWithPassword + 1).fill({ userName: "ann", password });
  await send([...repeated, ...usersOf(maxUsersWithPassword + 1)]);
  expect(hashed).toBe(1);
  expect(await isPasswordSet("ann", password)).toBe(true);
  expect(await findUsersByName(store.read, `u${maxUsersWithPassword}`)).toHaveLength(1);
});
