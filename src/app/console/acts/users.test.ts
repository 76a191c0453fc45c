/** Who may change which user, what is not done before it is agreed to, and in whose audit it stands. */
import { beforeEach, describe, expect, test } from "vitest";
import { type ActSite, openActSite } from "../../../../test/support/console-acts.ts";
import { configOf } from "../../../../test/support/message-site.ts";
import type { Role } from "../../../domain/users/role.ts";
import { ActRefused } from "../../../endpoints/http/console/console-acts.ts";
import type { ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { ledgerOfEachTest } from "../../../inbound/testing/ledger-fixture.ts";
import { isPasswordOf } from "../../../lib/password-hash.ts";
import { listAudit } from "../../../store/accounts/audit-lists.ts";
import { findUserById, listKeysOf, saveMembership } from "../../../store/accounts/users.ts";

const ledger = ledgerOfEachTest();
const now = 1_700_000_000_000;
const publicKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";
const fingerprint = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU";

let site: ActSite;
/** The administrator of ACME; of the other company; an operator, who has a role in ACME. */
let anna: ConsoleUser;
let zoe: ConsoleUser;
let olga: ConsoleUser;
let ben: ConsoleUser;
let other: number;

beforeEach(async () => {
  const config = await configOf({});
  const named = { ...config, console: { ...config.console, operators: ["olga@ACME"] } };
  site = await openActSite({ store: ledger.store, stateDir: ledger.stateDir, now, config: named });
  other = await ledger.company("GLOBEX");
  anna = await site.user("anna", ["MemberAdmin"], ledger.companyId);
  zoe = await site.user("zoe", ["MemberAdmin"], other);
  olga = await site.user("olga", ["DI_Inquiry"], ledger.companyId, true);
  ben = await site.user("ben", ["DI_Inquiry"], ledger.companyId);
  await letSignIn(anna, zoe, olga, ben);
});

const inStore = (work: Parameters<typeof ledger.store.write<void>>[1]) => ledger.store.write("site", work);

/** They get a password, without which nobody signs in to the console. */
async function letSignIn(...users: readonly ConsoleUser[]): Promise<void> {
  const ids = users.map(({ userId }) => userId);
  await inStore(async (tx) => {
    await tx.updateTable("users").set({ password_hash: "scrypt" }).where("id", "in", ids).execute();
  });
}

async function addToOther({ userId, userName }: ConsoleUser, role: Role = "DI_Inquiry"): Promise<void> {
  await inStore((tx) => saveMembership(tx, { companyId: other, userId, userName, roles: [role] }));
}

const ofAcme = (user = anna) => ({ user, companyId: ledger.companyId, reason: "asked for" });
const ofOther = () => ({ user: zoe, companyId: other, reason: "asked for" });
const ofAll = (user = olga) => ({ user, companyId: undefined, reason: "asked for" });
const of = (user: ConsoleUser, isAgreed = false) => ({ userId: user.userId, isAgreed });

async function stored({ userId }: ConsoleUser) {
  const record = await findUserById(ledger.store.read, userId);
  if (record === undefined) throw new Error("the user is gone");
  return record;
}

const rolesOf = async (user: ConsoleUser, companyId = ledger.companyId) =>
  (await stored(user)).memberships.find((one) => one.companyId === companyId)?.roles;

/** Entries of the audit: of which company, of what kind, about whom, before and after. */
async function noted() {
  const companyIds = [ledger.companyId, other, null];
  const entries = await listAudit(ledger.store.read, { companyIds, limit: 100 });
  return entries.map(({ companyId, kind, subject, before, after }) => ({
    ...{ companyId, kind, subject },
    before: before === null ? null : JSON.parse(before),
    after: after === null ? null : JSON.parse(after),
  }));
}

describe("roles", () => {
  const change = (user: ConsoleUser, before: readonly string[], roles: readonly string[], agreed = false) =>
    site.act("user.roles", ofAcme(), { ...of(user, agreed), companyId: ledger.companyId, before, roles });

  test("are exactly those that are given, in the company alone, and noted there", async () => {
    await addToOther(ben);
    expect(await change(ben, ["DI_Inquiry"], ["DI_Driver", "DI_Dispatcher"])).toEqual({ kind: "done" });
    expect(await rolesOf(ben)).toEqual(["DI_Dispatcher", "DI_Driver"]);
    expect(await rolesOf(ben, other)).toEqual(["DI_Inquiry"]);
    expect(await noted()).toEqual([
      {
        ...{ companyId: ledger.companyId, kind: "user.roles", subject: "user ben" },
        ...{ before: { roles: ["DI_Inquiry"] }, after: { roles: ["DI_Dispatcher", "DI_Driver"] } },
      },
    ]);
  });

  test("none takes the user out of the company", async () => {
    await addToOther(ben);
    expect(await change(ben, ["DI_Inquiry"], [])).toEqual({ kind: "done" });
    expect((await stored(ben)).memberships.map(({ companyId }) => companyId)).toEqual([other]);
  });

  test("that have changed since they were shown are not overwritten", async () => {
    await expect(change(ben, ["DI_Driver"], ["MemberAdmin"])).rejects.toMatchObject({ code: "overloaded" });
    expect(await rolesOf(ben)).toEqual(["DI_Inquiry"]);
    expect(await noted()).toEqual([]);
  });

  test("that there are not are refused with those that there are", async () => {
    await expect(change(ben, ["DI_Inquiry"], ["Root"])).rejects.toThrow(/there is no such role: .*DI_Driver/);
    await expect(change(ben, ["Root"], ["DI_Driver"])).rejects.toBeInstanceOf(ActRefused);
  });

  test("of another company are nobody's business here", async () => {
    await addToOther(ben);
    const asked = { ...of(ben), companyId: other, before: ["DI_Inquiry"], roles: ["MemberAdmin"] };
    await expect(site.act("user.roles", ofAcme(), asked)).rejects.toMatchObject({ kind: "unknown" });
    expect(await rolesOf(ben, other)).toEqual(["DI_Inquiry"]);
    const ofZoe = { ...of(zoe), companyId: ledger.companyId, before: [], roles: ["MemberAdmin"] };
    await expect(site.act("user.roles", ofAcme(), ofZoe)).rejects.toMatchObject({ code: "missing" });
    expect(await rolesOf(zoe)).toBeUndefined();
  });

  test("are changed by operators in any company, and noted in that", async () => {
    const asked = { ...of(zoe, true), companyId: other, before: ["MemberAdmin"], roles: ["DI_Inquiry"] };
    expect(await site.act("user.roles", ofAll(), asked)).toEqual({ kind: "done" });
    expect((await noted()).map(({ companyId }) => companyId)).toEqual([other]);
  });

  test("of the last administrator, and one's own, are lost only when that was agreed to", async () => {
    const lost = { kind: "toBeAgreed", companies: ["ACME"], isLastOperator: false, isOneself: true };
    expect(await change(anna, ["MemberAdmin"], ["DI_Inquiry"])).toEqual(lost);
    expect(await rolesOf(anna)).toEqual(["MemberAdmin"]);
    expect(await noted()).toEqual([]);
    // What is given besides the right takes nothing away.
    const kept = await change(anna, ["MemberAdmin"], ["MemberAdmin", "DI_Driver"]);
    expect(kept).toEqual({ kind: "done" });
    const again = await change(anna, ["MemberAdmin", "DI_Driver"], ["DI_Driver"], true);
    expect(again).toEqual({ kind: "done" });
    expect(await rolesOf(anna)).toEqual(["DI_Driver"]);
  });

  test("of one of two administrators are taken away without asking", async () => {
    const carl = await site.user("carl", ["MemberAdmin"], ledger.companyId);
    const second = { ...of(carl), companyId: ledger.companyId, before: ["MemberAdmin"], roles: [] };
    // Who has no password cannot sign in, and is no loss.
    expect(await site.act("user.roles", ofAcme(), second)).toEqual({ kind: "done" });
    const dora = await site.user("dora", ["MemberAdmin"], ledger.companyId);
    await letSignIn(dora);
    expect(await change(dora, ["MemberAdmin"], ["DI_Driver"])).toEqual({ kind: "done" });
  });

  test("of the last operator are lost only when that was agreed to", async () => {
    const lost = { kind: "toBeAgreed", companies: [], isLastOperator: true, isOneself: false };
    expect(await change(olga, ["DI_Inquiry"], [])).toEqual(lost);
    expect(await change(olga, ["DI_Inquiry"], ["DI_Driver"])).toEqual({ kind: "done" });
    expect(await change(olga, ["DI_Driver"], [], true)).toEqual({ kind: "done" });
  });
});

describe("whether a user may sign in", () => {
  test("is changed once, and noted in each company of the user when an operator does it", async () => {
    await addToOther(ben);
    for (const act of ["user.disable", "user.disable"] as const)
      expect(await site.act(act, ofAll(), of(ben))).toEqual({ kind: "done" });
    expect((await stored(ben)).isEnabled).toBe(false);
    const change = { kind: "user.disable", subject: "user ben" };
    const values = { before: { enabled: true }, after: { enabled: false } };
    expect(await noted()).toEqual([
      { companyId: other, ...change, ...values },
      { companyId: ledger.companyId, ...change, ...values },
    ]);
    expect(await site.act("user.enable", ofAll(), of(ben))).toEqual({ kind: "done" });
    expect((await stored(ben)).isEnabled).toBe(true);
  });

  test("of a user of other companies too is an operator's business", async () => {
    await addToOther(ben);
    await expect(site.act("user.disable", ofAcme(), of(ben))).rejects.toMatchObject({ code: "roleMissing" });
    await expect(site.act("user.password", ofAcme(), { ...of(ben), mustChange: false })).rejects.toThrow(
      "the user belongs to other companies too",
    );
    await expect(site.act("user.addKey", ofOther(), { ...of(ben), publicKey })).rejects.toThrow(
      "the user belongs to other companies too",
    );
    expect((await stored(ben)).isEnabled).toBe(true);
  });

  test("of the last administrator, the last operator and oneself is taken away only when that was agreed to", async () => {
    const disable = (user: ConsoleUser, by = ofAcme(), isAgreed = false) =>
      site.act("user.disable", by, of(user, isAgreed));
    const ofAnna = { kind: "toBeAgreed", companies: ["ACME"], isLastOperator: false, isOneself: true };
    expect(await disable(anna)).toEqual(ofAnna);
    const ofOlga = { kind: "toBeAgreed", companies: [], isLastOperator: true, isOneself: false };
    expect(await disable(olga)).toEqual(ofOlga);
    const olgaHerself = await site.act("user.disable", ofAll(), of(olga));
    expect(olgaHerself).toEqual({ ...ofOlga, isOneself: true });
    expect([(await stored(anna)).isEnabled, (await stored(olga)).isEnabled]).toEqual([true, true]);
    expect(await disable(olga, ofAcme(), true)).toEqual({ kind: "done" });
    expect((await stored(olga)).isEnabled).toBe(false);
    // To let somebody sign in takes nothing from anybody.
    expect(await site.act("user.enable", ofAcme(), of(olga))).toEqual({ kind: "done" });
  });

  test("of one of two operators is taken away without asking, while the other can sign in", async () => {
    const config = await configOf({});
    const operators = ["olga@ACME", "rita@GLOBEX"];
    const two = { ...config, console: { ...config.console, operators } };
    const acts = await openActSite({ store: ledger.store, stateDir: ledger.stateDir, now, config: two });
    const rita = await acts.user("rita", ["DI_Inquiry"], other);
    const isLast = async () => {
      const done = await acts.act("user.disable", ofAcme(), of(olga));
      if (done.kind === "toBeAgreed") return done.isLastOperator;
      await acts.act("user.enable", ofAcme(), of(olga));
      return false;
    };
    expect(await isLast()).toBe(true);
    await letSignIn(rita);
    expect(await isLast()).toBe(false);
  });
});

describe("a password", () => {
  test("is a new one that fits, and the note says no more than that there is one", async () => {
    const { password } = await site.act("user.password", ofAcme(), { ...of(ben), mustChange: true });
    const { passwordHash, mustChangePassword } = await stored(ben);
    expect(await isPasswordOf(password, passwordHash ?? "")).toBe(true);
    expect([mustChangePassword, password.length > 15]).toEqual([true, true]);
    const [entry] = await noted();
    expect(entry?.before).toEqual({ hasPassword: true, mustChange: false });
    expect(entry?.after).toEqual({ hasPassword: true, isNewPassword: true, mustChange: true });
    expect(JSON.stringify(await noted())).not.toContain(password);
  });
});

describe("a user of no company", () => {
  test("is an operator's business, noted for no company", async () => {
    await inStore(async (tx) => {
      await tx.deleteFrom("memberships").where("user_id", "=", ben.userId).execute();
      await tx.updateTable("users").set({ password_hash: null }).where("id", "=", ben.userId).execute();
    });
    await expect(site.act("user.disable", ofAcme(), of(ben))).rejects.toMatchObject({ code: "missing" });
    await site.act("user.password", ofAll(), { ...of(ben), mustChange: false });
    expect(await noted()).toMatchObject([
      { companyId: null, before: { hasPassword: false }, after: { hasPassword: true, mustChange: false } },
    ]);
  });
});

describe("a key", () => {
  test("is added once and removed once, with its fingerprint in the audit", async () => {
    await site.act("user.addKey", ofAcme(), { ...of(ben), publicKey });
    await expect(site.act("user.addKey", ofAcme(), { ...of(ben), publicKey })).rejects.toMatchObject({
      ...{ kind: "changed", message: actWords.users.hasKey },
    });
    await site.act("user.removeKey", ofAcme(), { ...of(ben), fingerprint });
    await expect(site.act("user.removeKey", ofAcme(), { ...of(ben), fingerprint })).rejects.toMatchObject({
      code: "missing",
    });
    expect(await listKeysOf(ledger.store.read, ben.userId)).toEqual([]);
    expect((await noted()).map(({ kind, before, after }) => [kind, before, after])).toEqual([
      ["user.removeKey", { key: fingerprint }, null],
      ["user.addKey", null, { key: fingerprint }],
    ]);
  });
});

describe("a user that is added", () => {
  const asked = (more: object = {}) => ({
    ...{ companyId: ledger.companyId, userName: "nora", roles: ["DI_Driver", "DI_Inquiry"] },
    ...{ publicKey: undefined, mustChange: true },
    ...more,
  });

  test("has the roles and a password that is told once", async () => {
    const { userId, password } = await site.act("user.add", ofAcme(), asked());
    const nora = await stored({ ...ben, userId });
    expect(nora).toMatchObject({ userName: "nora", isEnabled: true, mustChangePassword: true });
    expect(nora.memberships).toMatchObject([{ companyCode: "ACME", roles: ["DI_Driver", "DI_Inquiry"] }]);
    expect(await isPasswordOf(password ?? "", nora.passwordHash ?? "")).toBe(true);
    expect(await noted()).toEqual([
      {
        ...{ companyId: ledger.companyId, kind: "user.add", subject: "user nora", before: null },
        after: { roles: ["DI_Driver", "DI_Inquiry"], hasPassword: true },
      },
    ]);
  });

  test("with a key has no password, and none to change", async () => {
    const added = await site.act("user.add", ofAcme(), asked({ publicKey }));
    expect(added).not.toHaveProperty("password");
    const record = await stored({ ...ben, userId: added.userId });
    expect([record.passwordHash, record.mustChangePassword]).toEqual([null, false]);
    expect(await listKeysOf(ledger.store.read, added.userId)).toHaveLength(1);
    expect((await noted())[0]?.after).toMatchObject({ hasPassword: false, key: fingerprint });
  });

  test.each([
    [{ roles: [] }, "a user needs a role"],
    [{ roles: ["Root"] }, "there is no such role"],
    [{ userName: "no\nname" }, /user ?name/i],
    [{ userName: "ben" }, "the company has a user ben already"],
    [{ publicKey: "no key" }, /key/],
  ])("as %o is refused", async (more, why) => {
    await expect(site.act("user.add", ofAcme(), asked(more))).rejects.toThrow(why);
    expect(await noted()).toEqual([]);
  });

  test("is added to the own company alone, and by operators to any", async () => {
    await expect(site.act("user.add", ofAcme(), asked({ companyId: other }))).rejects.toMatchObject({
      kind: "unknown",
    });
    // Somebody else, though the name is known elsewhere.
    const { userId } = await site.act("user.add", ofAll(), asked({ companyId: other, userName: "ben" }));
    expect(userId).not.toBe(ben.userId);
    expect((await noted()).map(({ companyId }) => companyId)).toEqual([other]);
  });
});

describe("the right to act", () => {
  test.each([
    ["who may only look", () => ({ ...ofAcme(ben) })],
    ["who administers another company", () => ({ ...ofAcme(zoe) })],
    ["who is no operator, for all companies", () => ofAll(anna)],
    ["an operator, for a company in which they may only look", () => ofAcme(olga)],
  ])("is none of %s", async (_who, by) => {
    await expect(site.act("user.disable", by(), of(ben))).rejects.toMatchObject({ code: "roleMissing" });
    expect([(await stored(ben)).isEnabled, await noted()]).toEqual([true, []]);
  });

  test("ends with the role, also between the page and its form, and with being enabled", async () => {
    const asked = { ...of(anna, true), companyId: ledger.companyId, before: ["MemberAdmin"] };
    await site.act("user.roles", ofAcme(), { ...asked, roles: ["DI_Inquiry"] });
    await expect(site.act("user.disable", ofAcme(), of(ben))).rejects.toMatchObject({
      ...{ code: "roleMissing", message: actWords.mayNotAct("MemberAdmin") },
    });
    await inStore(async (tx) => {
      await tx.updateTable("users").set({ is_enabled: 0 }).where("id", "=", olga.userId).execute();
    });
    await expect(site.act("user.disable", ofAll(), of(ben))).rejects.toMatchObject({
      ...{ code: "roleMissing", message: actWords.mayNotOperate },
    });
    await expect(site.act("user.disable", ofAll({ ...olga, userId: 99 }), of(ben))).rejects.toThrow();
    expect((await stored(ben)).isEnabled).toBe(true);
  });
});
