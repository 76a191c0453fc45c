/** What becomes of a user who is signed in when an administrator changes something. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  hostPublicKey,
  keyAttempt,
  openSignIn,
  type SignInFixture,
} from "../../test/support/sign-in-fixture.ts";
import { saveMembership } from "../store/accounts/users.ts";
import { lossSince } from "../operations/users/exchange-companies.ts";
import {
  addUserKey,
  listKeysOfUser,
  removeUserKey,
  setPassword,
  setEnabled,
} from "../operations/users/user-admin.ts";

let at: SignInFixture;

beforeEach(async () => {
  at = await openSignIn();
});
afterEach(() => at.close());

describe("a signed-in user", () => {
  async function signedIn() {
    const outcome = await at.withPassword();
    if (outcome.kind !== "signedIn") throw new Error("the sign-in was refused");
    return outcome.user;
  }

  it("is told as it is now: with its roles, and no more once disabled or gone", async () => {
    const { userId } = await signedIn();
    const membership = { companyId: 1, userId, userName: "host", roles: ["DI_Inquiry"] } as const;
    await at.store.write("site", (tx) => saveMembership(tx, membership));
    expect(await at.signIn.signedInNow(userId)).toMatchObject({ memberships: [{ roles: ["DI_Inquiry"] }] });
    await setEnabled(at, { userName: "host" }, false);
    expect(await at.signIn.signedInNow(userId)).toBeUndefined();
    expect(await at.signIn.signedInNow(userId + 1)).toBeUndefined();
  });

  it("has lost its proof once the password is another, and not by a new key", async () => {
    const user = await signedIn();
    await addUserKey(at, { userName: "host", publicKey: hostPublicKey });
    expect(lossSince(user, await at.signIn.signedInNow(user.userId))).toBeUndefined();
    await setPassword(at, { userName: "host", password: "close sesame" });
    expect(lossSince(user, await at.signIn.signedInNow(user.userId))).toBe("the password was changed");
  });

  it("by key has lost it once that key is removed, and not by another one", async () => {
    await addUserKey(at, { userName: "host", publicKey: hostPublicKey });
    const outcome = await at.signIn.withVerifiedKey(keyAttempt());
    if (outcome.kind !== "signedIn") throw new Error("the sign-in was refused");
    const { user } = outcome;
    expect(lossSince(user, await at.signIn.signedInNow(user.userId))).toBeUndefined();
    const [key] = await listKeysOfUser(at, { userName: "host" });
    await removeUserKey(at, { userName: "host", fingerprint: key?.fingerprint ?? "" });
    expect(lossSince(user, await at.signIn.signedInNow(user.userId))).toBe("the key was removed");
    expect(lossSince(await signedIn(), await at.signIn.signedInNow(user.userId))).toBeUndefined();
  });
});
