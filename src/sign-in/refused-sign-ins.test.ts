import { afterEach, beforeEach, expect, test } from "vitest";
import { findUsersByName } from "../store/accounts/users.ts";
import { openSignIn, type SignInFixture } from "../../test/support/sign-in-fixture.ts";
import { RefusedSignIns } from "./refused-sign-ins.ts";

let fixture: SignInFixture;
beforeEach(async () => {
  fixture = await openSignIn();
});
afterEach(() => fixture.close());

async function refusedOfHost() {
  const [record] = await findUsersByName(fixture.store.read, "host");
  return fixture.signIn.refusedOf(record?.id ?? 0);
}

test("what one address fails with again and again is one entry with its number, and what comes between is kept", async () => {
  await fixture.withPassword({ password: "wrong" });
  fixture.time.now += 60_000;
  await fixture.withPassword({ password: "wrong too" });
  await fixture.withPassword({ password: "wrong", protocol: "sftp" });
  const refused = await refusedOfHost();
  expect(refused).toEqual([
    { address: "192.0.2.1", protocol: "sftp", reason: "wrongPassword", at: 1_060_000, times: 1 },
    { address: "192.0.2.1", protocol: "http", reason: "wrongPassword", at: 1_060_000, times: 2 },
  ]);
});

test("a right password of a disabled user is told as that, and one that signs in is not told at all", async () => {
  await fixture.withPassword();
  expect(await refusedOfHost()).toEqual([]);
  await fixture.store.write("site", (tx) =>
    tx.updateTable("users").set({ is_enabled: 0 }).where("user_name", "=", "host").execute(),
  );
  await fixture.withPassword();
  expect(await refusedOfHost()).toMatchObject([{ reason: "disabled", times: 1 }]);
});

test("the last ten are kept of a user", () => {
  const refused = new RefusedSignIns();
  for (let index = 0; index < 12; index += 1) {
    const attempt = { address: `192.0.2.${index}`, protocol: "http" as const, at: index };
    refused.note(attempt, new Map([[1, "wrongPassword"]]));
  }
  const kept = refused.of(1).map(({ at }) => at);
  expect(kept).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  expect(refused.of(2)).toEqual([]);
});
