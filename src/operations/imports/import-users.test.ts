import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Role } from "../../domain/users/role.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { addCompany } from "../users/company-admin.ts";
import { createSignIn, type ConfigurableSignIn } from "../../sign-in/create-sign-in.ts";
import { defaultImportRules, type ImportRules } from "./import-request.ts";
import { importUsers, userImportHashing } from "./import-users.ts";
import { createHashQueue, type HashQueue } from "../../sign-in/sign-in-hash-queue.ts";
import { addUser } from "../users/user-admin.ts";

const clock = { now: () => 1_000 };
const admin: readonly Role[] = ["MemberAdmin"];
const dispatcher: readonly Role[] = ["DI_Dispatcher"];
let directory: string;
let store: Store;
let ids: Record<"ACME" | "OTHER", number>;
let signIn: ConfigurableSignIn;
let hashed: number;
let hashQueue: HashQueue;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-import-users-"));
  store = await openFreshStore(directory);
  ids = {
    ACME: (await addCompany({ store, clock }, "ACME")).company.id,
    OTHER: (await addCompany({ store, clock }, "OTHER")).company.id,
  };
  signIn = createSignIn({
    store,
    clock,
    log: { info: () => undefined, warn: () => undefined },
    options: {
      enabled: false,
      maxScore: 15,
      windowMs: 1_000,
      banMs: 1_000,
      growthPercent: 0,
      allow: [],
      wrongPasswordDelayMs: 0,
      passwordCacheMs: 300_000,
    },
  });
  hashed = 0;
  const queue = createHashQueue(userImportHashing);
  hashQueue = {
    run(isFamiliar, task) {
      hashed += 1;
      return queue.run(isFamiliar, task);
    },
  };
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

interface Sending {
  readonly as?: readonly Role[];
  readonly company?: "ACME" | "OTHER";
  readonly rules?: Partial<ImportRules>;
}

function send(users: readonly unknown[], { as = admin, company = "ACME", rules }: Sending = {}) {
  const input = {
    companyId: ids[company],
    companyCode: company,
    callerRoles: as,
    body: { companyCode: company, users },
    rules: { ...defaultImportRules, ...rules },
  };
  return importUsers({ store, clock, hashQueue }, input, new AbortController().signal);
}

/** The roles in ACME that signing in gives; undefined when it is refused. */
async function rolesAtSignIn(userName: string, password: string, companyCode = "ACME") {
  const attempt = { userName, password, companyCode, address: "127.0.0.1", protocol: "http" as const };
  const outcome = await signIn.withPassword(attempt);
  if (outcome.kind === "refused") return undefined;
  return outcome.user.memberships.find((one) => one.companyCode === companyCode)?.roles;
}

function memberOf(userName: string, company: "ACME" | "OTHER" = "ACME") {
  return store.read
    .selectFrom("memberships")
    .selectAll()
    .where("company_id", "=", ids[company])
    .where("user_name", "=", userName)
    .executeTakeFirst();
}

async function profileOf(userName: string): Promise<unknown> {
  return JSON.parse((await memberOf(userName))?.profile ?? "null");
}

async function carriersOf(userName: string): Promise<string[]> {
  const rows = await store.read
    .selectFrom("user_carriers")
    .innerJoin("users", "users.id", "user_carriers.user_id")
    .select("partner_code")
    .where("users.user_name", "=", userName)
    .orderBy("partner_code")
    .execute();
  return rows.map((row) => row.partner_code);
}

function withRoles(...roles: readonly string[]) {
  return [{ role: roles.map((role) => ({ role })) }];
}

const ann = {
  userName: "ann",
  password: "open sesame",
  firstName: "Ann",
  lastName: "Berg",
  email: "ann@example.com",
  cdlNumber: 4711,
  assignedGroups: "C1;C2",
  accountNumber: "C3",
  dob: "1990-1-2",
  shoeSize: 38,
  userRoles: withRoles("DI_Driver"),
};

describe("an import of users", () => {
  it("creates a user who signs in at once, and keeps what a driver is found by", async () => {
    await send([ann]);
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Driver"]);
    const { password: _, userRoles: __, ...rest } = ann;
    expect(await profileOf("ann")).toEqual({ ...rest, dob: "1990-01-02T00:00:00" });
    expect(await memberOf("ann")).toMatchObject({
      email: "ann@example.com",
      cdl_number: "4711",
      full_name: "Ann Berg",
    });
    expect(await carriersOf("ann")).toEqual(["C1", "C2", "C3"]);
  });

  it("takes roles in the flat form too, each once and in one order", async () => {
    const userRoles = [{ role: "DI_Inquiry" }, { role: "DI_Driver" }, { role: "DI_Inquiry" }];
    await send([{ ...ann, userRoles }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Driver", "DI_Inquiry"]);
  });

  it("creates a user without a password or roles, who cannot sign in", async () => {
    await send([{ userName: "ann" }]);
    expect(await memberOf("ann")).toMatchObject({ roles: "[]", email: null, full_name: null });
    expect(await rolesAtSignIn("ann", "")).toBeUndefined();
  });

  it("updates a user: what is not sent, or sent as null, stays, password and roles too; an empty text goes", async () => {
    await send([ann]);
    const nulls = { email: null, password: null, userRoles: null, enabled: null, dob: null };
    await send([{ userName: "ann", lastName: "Wolf", accountNumber: "", assignedGroups: ["C9"], ...nulls }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Driver"]);
    expect(await memberOf("ann")).toMatchObject({ email: "ann@example.com", full_name: "Ann Wolf" });
    expect(await profileOf("ann")).toMatchObject({ firstName: "Ann", shoeSize: 38, accountNumber: "" });
    expect(await carriersOf("ann")).toEqual(["C9"]);
  });

  it("of two entries with one name keeps the later", async () => {
    await send([
      { ...ann, city: "Ulm" },
      { userName: "ann", email: "later@example.com" },
    ]);
    expect(await memberOf("ann")).toMatchObject({ email: "later@example.com", full_name: null });
    expect(await profileOf("ann")).not.toHaveProperty("city");
  });

  it("hashes a password that is the same as before once, to see that, and leaves it alone", async () => {
    await send([ann]);
    const hashOf = () => store.read.selectFrom("users").select("password_hash").executeTakeFirst();
    const before = await hashOf();
    await send([ann]);
    expect(await hashOf()).toEqual(before);
    expect(hashed).toBe(2);
  });

  it("is refused as a whole with each fault and its path, and never tells a password", async () => {
    const faulty = [
      ann,
      { firstName: "without a name" },
      { userName: "a:b" },
      { userName: "bob", password: "secret" },
      { userName: "bob", password: "line\nbreak" },
      { userName: "bob", userRoles: withRoles("King") },
      { userName: "bob", enabled: "yes" },
    ];
    const refused = await send(faulty).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      faults: [
        { code: "missing", path: "users[1].userName" },
        { code: "wrongType", path: "users[2].userName" },
        { code: "wrongType", path: "users[3].password" },
        { code: "wrongType", path: "users[4].password" },
        { code: "wrongType", path: "users[5].userRoles" },
        { code: "wrongType", path: "users[6].enabled" },
      ],
    });
    expect(JSON.stringify(refused)).not.toMatch(/secret|break/);
    expect(await memberOf("ann")).toBeUndefined();
    expect(hashed).toBe(0);
  });

  it("is refused when it has more entries than allowed, or, if asked for, unknown fields", async () => {
    await expect(send([ann, ann], { rules: { maxEntries: 1 } })).rejects.toMatchObject({ code: "tooLarge" });
    await expect(send([ann], { rules: { unknownFields: "refuse" } })).rejects.toMatchObject({
      faults: [{ code: "wrongType", path: "users[0].shoeSize" }],
    });
    expect(await memberOf("ann")).toBeUndefined();
  });

  it("is refused, to be sent again, when the password was changed while it was hashed", async () => {
    await send([ann]);
    const queue = createHashQueue(userImportHashing);
    hashQueue = {
      run: (isFamiliar, task) =>
        queue.run(isFamiliar, async () => {
          const verdict = await task();
          const deps = { store, clock };
          await addUser(deps, {
            userName: "ann",
            companyCode: "ACME",
            roles: ["DI_Driver"],
            password: "by another",
          });
          return verdict;
        }),
    };
    await expect(send([{ ...ann, password: "by the host" }])).rejects.toMatchObject({ code: "overloaded" });
    expect(await rolesAtSignIn("ann", "by another")).toEqual(["DI_Driver"]);
  });
});

describe("what an import changes", () => {
  beforeEach(async () => {
    await send([ann]);
    // Remembered from here on.
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Driver"]);
  });

  it("takes effect at the next sign-in when it is the password", async () => {
    await send([{ userName: "ann", password: "close sesame" }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toBeUndefined();
    expect(await rolesAtSignIn("ann", "close sesame")).toEqual(["DI_Driver"]);
  });

  it("takes effect at the next sign-in when it is the roles, or takes all of them", async () => {
    await send([{ userName: "ann", userRoles: withRoles("DI_Inquiry") }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Inquiry"]);
    await send([{ userName: "ann", userRoles: [] }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual([]);
  });

  it.each([
    [{ enabled: false }, { enabled: true }],
    [{ forcePwdChg: true }, { forcePwdChg: false }],
  ])("takes effect at the next sign-in when it is %j, and until %j", async (closing, opening) => {
    await send([{ userName: "ann", ...closing }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toBeUndefined();
    await send([{ userName: "ann", city: "Ulm" }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toBeUndefined();
    await send([{ userName: "ann", ...opening }]);
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Driver"]);
  });

  it("applies to a new user as well", async () => {
    await send([
      { ...ann, userName: "bob", enabled: false },
      { ...ann, userName: "eve", forcePwdChg: true },
    ]);
    expect(await rolesAtSignIn("bob", "open sesame")).toBeUndefined();
    expect(await rolesAtSignIn("eve", "open sesame")).toBeUndefined();
  });
});

describe("a dispatcher", () => {
  beforeEach(() => send([{ ...ann, userName: "boss", userRoles: withRoles("MemberAdmin") }]));

  it("creates and changes users", async () => {
    await send([ann], { as: dispatcher });
    await send([{ userName: "ann", userRoles: withRoles("DI_Integration") }], { as: dispatcher });
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["DI_Integration"]);
  });

  it("cannot grant MemberAdmin, also not beside other roles", async () => {
    const userRoles = withRoles("DI_Driver", "MemberAdmin");
    const refused = send([{ userName: "bob" }, { ...ann, userRoles }], { as: dispatcher });
    await expect(refused).rejects.toMatchObject({
      faults: [{ code: "roleMissing", path: "users[1].userRoles" }],
    });
    expect([await memberOf("ann"), await memberOf("bob")]).toEqual([undefined, undefined]);
  });

  it.each([
    ["the password", { password: "taken over" }],
    ["the roles", { userRoles: withRoles("DI_Driver") }],
    ["anything at all", { city: "Ulm" }],
  ])("cannot change %s of a MemberAdmin", async (_, change) => {
    const refused = send([{ userName: "boss", ...change }], { as: dispatcher });
    await expect(refused).rejects.toMatchObject({ faults: [{ code: "roleMissing", path: "users[0]" }] });
    expect(await rolesAtSignIn("boss", "open sesame")).toEqual(["MemberAdmin"]);
    // Only that of its creation: what is refused costs no hash, and tells nothing of the password.
    expect(hashed).toBe(1);
  });

  it("who is a MemberAdmin besides may do both", async () => {
    const both = [...dispatcher, ...admin];
    await send(
      [
        { userName: "boss", city: "Ulm" },
        { ...ann, userRoles: withRoles("MemberAdmin") },
      ],
      { as: both },
    );
    expect(await rolesAtSignIn("ann", "open sesame")).toEqual(["MemberAdmin"]);
  });
});

describe("a name that is known in another company", () => {
  it("is somebody else", async () => {
    await send([ann], { company: "OTHER" });
    await send([{ ...ann, password: "another one", userRoles: withRoles("DI_Inquiry") }]);
    expect(await rolesAtSignIn("ann", "open sesame", "OTHER")).toEqual(["DI_Driver"]);
    expect(await rolesAtSignIn("ann", "open sesame")).toBeUndefined();
    expect(await rolesAtSignIn("ann", "another one")).toEqual(["DI_Inquiry"]);
    await send([{ userName: "ann", enabled: false }]);
    expect(await rolesAtSignIn("ann", "open sesame", "OTHER")).toEqual(["DI_Driver"]);
  });
});

describe("a user who belongs to another company too", () => {
  beforeEach(async () => {
    const shared = { userName: "host", password: "open sesame" };
    await addUser({ store, clock }, { ...shared, companyCode: "ACME", roles: ["DI_Integration"] });
    await addUser({ store, clock }, { userName: "host", companyCode: "OTHER", roles: ["DI_Inquiry"] });
  });

  it.each([
    ["password", { password: "taken over" }],
    ["password", { password: "open sesame" }],
    ["enabled", { enabled: false }],
    ["forcePwdChg", { forcePwdChg: true }],
  ])("keeps its %s: %j is refused with 932", async (field, change) => {
    const refused = send([{ userName: "ann" }, { userName: "host", ...change }]);
    await expect(refused).rejects.toMatchObject({
      faults: [
        { code: "roleMissing", path: `users[1].${field}`, message: expect.stringContaining("operator") },
      ],
    });
    expect(await memberOf("ann")).toBeUndefined();
    expect(await rolesAtSignIn("host", "open sesame", "OTHER")).toEqual(["DI_Inquiry"]);
    expect(hashed).toBe(0);
  });

  it("can be given other roles and another profile in this one, what is as it was may be sent", async () => {
    const change = {
      enabled: true,
      forcePwdChg: false,
      email: "host@acme",
      userRoles: withRoles("DI_Driver"),
    };
    await send([{ userName: "host", ...change }]);
    expect(await rolesAtSignIn("host", "open sesame")).toEqual(["DI_Driver"]);
    expect(await rolesAtSignIn("host", "open sesame", "OTHER")).toEqual(["DI_Inquiry"]);
    expect(await memberOf("host")).toMatchObject({ email: "host@acme" });
    expect(await memberOf("host", "OTHER")).toMatchObject({ email: null });
  });
});
