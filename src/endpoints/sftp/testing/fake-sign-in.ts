import type {
  CurrentUser,
  SignedInUser,
  SignIn,
  SignInOutcome,
  SignInReview,
} from "../../../sign-in/sign-in.ts";

export interface FakeSignIn extends SignIn, SignInReview {
  /** What an administrator changed after the sign-in, by user id: `undefined` for disabled. */
  readonly changed: Map<number, Partial<CurrentUser> | undefined>;
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

const users: Readonly<Record<string, Omit<SignedInUser, "proof">>> = {
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

const passwordVersion = "first";

function granted(userName: string, keyBlob?: string): SignInOutcome {
  const user = users[userName];
  const proof = { passwordVersion, ...(keyBlob === undefined ? {} : { keyBlob }) };
  return user === undefined ? refused : { kind: "signedIn", user: { ...user, proof } };
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
      const keyBlob = Buffer.from(attempt.keyBlob).toString("base64");
      return (await fake.isKeyKnown(attempt)) ? granted(attempt.userName, keyBlob) : refused;
    },
    async signedInNow(userId) {
      const user = Object.values(users).find((one) => one.userId === userId);
      const change = fake.changed.get(userId);
      if (user === undefined || (fake.changed.has(userId) && change === undefined)) return undefined;
      return { ...user, passwordVersion, keyBlobs: fake.keys, ...change };
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
