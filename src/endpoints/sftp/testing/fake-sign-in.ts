import type { SignedInUser, SignIn, SignInOutcome, SignInReview } from "../../../operations/sign-in.ts";

export interface FakeSignIn extends SignIn, SignInReview {
  /** What an administrator changed after the sign-in, by user id: other memberships, or `undefined` for disabled. */
  readonly changed: Map<number, SignedInUser | undefined>;
  /** Public keys of `host`, as base64 of their wire form. */
  readonly keys: Set<string>;
  readonly brokenLimits: string[];
  /** Addresses of connections that were open too long without a sign-in. */
  readonly silences: string[];
  /** Addresses from which somebody has signed in lately. */
  readonly knownAddresses: Set<string>;
  bannedMs: number;
  attempts: number;
}

export const knownUser = { name: "host", password: "secret" } as const;

const users: Readonly<Record<string, SignedInUser>> = {
  host: {
    userId: 1,
    userName: "host",
    memberships: [
      { companyId: 7, companyCode: "ACME", roles: ["DI_Integration"] },
      { companyId: 8, companyCode: "OTHER", roles: ["DI_Driver"] },
    ],
  },
  driver: {
    userId: 2,
    userName: "driver",
    memberships: [{ companyId: 7, companyCode: "ACME", roles: ["DI_Driver"] }],
  },
};

const refused: SignInOutcome = { kind: "refused", code: "badCredentials", message: "wrong user or password" };

function granted(userName: string): SignInOutcome {
  const user = users[userName];
  return user === undefined ? refused : { kind: "signedIn", user };
}

/** Knows `host` (may exchange) and `driver` (may not), both with the password `secret`. */
export function createFakeSignIn(): FakeSignIn {
  const fake: FakeSignIn = {
    keys: new Set(),
    brokenLimits: [],
    silences: [],
    knownAddresses: new Set(),
    changed: new Map(),
    bannedMs: 0,
    attempts: 0,
    async withPassword({ userName, password }) {
      fake.attempts += 1;
      return password === knownUser.password ? granted(userName) : refused;
    },
    async isKeyKnown({ userName, keyBlob }) {
      return userName === knownUser.name && fake.keys.has(Buffer.from(keyBlob).toString("base64"));
    },
    async withVerifiedKey(attempt) {
      fake.attempts += 1;
      return (await fake.isKeyKnown(attempt)) ? granted(attempt.userName) : refused;
    },
    async signedInNow(userId) {
      if (fake.changed.has(userId)) return fake.changed.get(userId);
      return Object.values(users).find((user) => user.userId === userId);
    },
    bannedForMs: () => fake.bannedMs,
    hasSignedInLately: (address) => fake.knownAddresses.has(address),
    reportSilence: (address) => {
      fake.silences.push(address);
    },
    reportBrokenLimit: (address) => {
      fake.brokenLimits.push(address);
    },
  };
  return fake;
}
