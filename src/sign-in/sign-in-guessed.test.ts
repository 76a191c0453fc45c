/** Users whose passwords are guessed at from everywhere: their hosts work on, and the guessers get nowhere. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSignIn, type SignInFixture } from "../../test/support/sign-in-fixture.ts";
import { dayMs } from "../lib/durations.ts";

let at: SignInFixture;

beforeEach(async () => {
  at = await openSignIn();
});
afterEach(() => at.close());

describe("a user whose password is guessed from many addresses", () => {
  async function attack(userName: string): Promise<void> {
    for (let index = 0; index < 6; index += 1) {
      await at.withPassword({ userName, password: "wrong", address: `198.51.100.${index}` });
    }
  }

  it("goes on working for the host that has signed in before, while strangers have one try a minute", async () => {
    at.signIn = at.create({ maxScore: 4 });
    const stranger = { address: "203.0.113.1" };
    await at.withPassword();
    await attack("host");
    expect(await at.withPassword({ ...stranger, password: "wrong" })).toMatchObject({
      code: "badCredentials",
    });
    const refusal = { code: "tooManyAttempts", retryAfterMs: 60_000 };
    expect(await at.withPassword(stranger)).toMatchObject(refusal);
    expect(await at.withPassword()).toMatchObject({ kind: "signedIn" });
    at.time.now += 60_000;
    expect(await at.withPassword(stranger)).toMatchObject({ kind: "signedIn" });
    expect(await at.withPassword(stranger)).toMatchObject({ kind: "signedIn" });
    expect(at.logged).toContainEqual(expect.objectContaining({ user: "host", reason: "slowed" }));
  });

  it("gives a crowd of strangers one guess a minute each, however many they send at once", async () => {
    at.signIn = at.create({ maxScore: 4 });
    await attack("host");
    const guesses = Array.from({ length: 20 }, (_, index) =>
      at.withPassword({ password: `guess ${index}`, address: `203.0.113.${index % 4}` }),
    );
    const codes = (await Promise.all(guesses)).map((outcome) => outcome.kind === "refused" && outcome.code);
    expect(codes.filter((code) => code === "badCredentials")).toHaveLength(4);
    expect(codes.filter((code) => code === "tooManyAttempts")).toHaveLength(16);
  });

  it("looks the same when there is no such user", async () => {
    at.signIn = at.create({ maxScore: 4 });
    await attack("nobody");
    const guess = () => at.withPassword({ userName: "nobody", address: "203.0.113.1" });
    expect(await guess()).toMatchObject({ code: "badCredentials" });
    expect(await guess()).toMatchObject({ code: "tooManyAttempts", retryAfterMs: 60_000 });
  });

  it("knows its hosts again after a restart", async () => {
    await at.signIn.load();
    await at.withPassword();
    await at.signIn.settled();
    at.signIn = at.create({ maxScore: 4 });
    await at.signIn.load();
    expect(at.signIn.hasSignedInLately("192.0.2.1")).toBe(true);
    await attack("host");
    await at.withPassword({ password: "wrong" });
    expect(await at.withPassword()).toMatchObject({ kind: "signedIn" });
    at.time.now += dayMs;
    expect(at.signIn.hasSignedInLately("192.0.2.1")).toBe(false);
  });

  it("forgets hosts of ninety days ago", async () => {
    await at.withPassword();
    await at.signIn.settled();
    at.time.now += 91 * dayMs;
    await at.create().load();
    expect(await at.store.read.selectFrom("sign_in_addresses").selectAll().execute()).toEqual([]);
  });
});
