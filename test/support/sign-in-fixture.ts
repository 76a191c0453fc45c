/** The sign-in over a real store with a user `host` of the company ACME, under a clock that the test sets. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { isPasswordOf } from "../../src/lib/password-hash.ts";
import { addCompany } from "../../src/operations/users/company-admin.ts";
import {
  type ConfigurableSignIn,
  createSignIn,
  type SignInOptions,
} from "../../src/sign-in/create-sign-in.ts";
import type { KeyAttempt, PasswordAttempt, SignInOutcome } from "../../src/sign-in/sign-in.ts";
import type { HashQueueLimits } from "../../src/sign-in/sign-in-hash-queue.ts";
import { addUser } from "../../src/operations/users/user-admin.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "./fresh-store.ts";
import { minuteMs } from "../../src/lib/durations.ts";

export const hostPublicKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";
const keyBlob = Buffer.from(hostPublicKey.split(" ")[1] ?? "", "base64");

export const signInDefaults: SignInOptions = {
  enabled: true,
  maxScore: 15,
  windowMs: 30 * minuteMs,
  banMs: 30 * minuteMs,
  growthPercent: 50,
  allow: [],
  wrongPasswordDelayMs: 1_000,
  passwordCacheMs: 5 * minuteMs,
};

export interface SignInFixture {
  readonly store: Store;
  readonly time: { now: number };
  readonly clock: { now(): number };
  /** The one that the calls below use; a test may replace it. */
  signIn: ConfigurableSignIn;
  readonly waits: { ms: number; signal: AbortSignal | undefined }[];
  readonly logged: unknown[];
  create(options?: Partial<SignInOptions>, hashQueue?: HashQueueLimits): ConfigurableSignIn;
  withPassword(change?: Partial<PasswordAttempt>): Promise<SignInOutcome>;
  close(): Promise<void>;
}

/** How many passwords are hashed while something is done. */
export async function hashesOf(doing: () => Promise<unknown>): Promise<number> {
  const { calls } = vi.mocked(isPasswordOf).mock;
  const before = calls.length;
  await doing();
  return calls.length - before;
}

export function passwordAttempt(change: Partial<PasswordAttempt> = {}): PasswordAttempt {
  return { userName: "host", password: "open sesame", address: "192.0.2.1", protocol: "http", ...change };
}

export function keyAttempt(change: Partial<KeyAttempt> = {}): KeyAttempt {
  return {
    userName: "host",
    keyType: "ssh-ed25519",
    keyBlob,
    address: "192.0.2.1",
    protocol: "sftp",
    ...change,
  };
}

export async function openSignIn(): Promise<SignInFixture> {
  const directory = await mkdtemp(join(tmpdir(), "dropgate-sign-in-"));
  const store = await openFreshStore(directory);
  const time = { now: 1_000_000 };
  const clock = { now: () => time.now };
  const waits: SignInFixture["waits"] = [];
  const logged: unknown[] = [];
  const keep = (line: unknown) => logged.push(line);
  for (const code of ["ACME", "OTHER"]) await addCompany({ store, clock }, code);
  await addUser(
    { store, clock },
    { userName: "host", companyCode: "ACME", roles: ["DI_Integration"], password: "open sesame" },
  );
  const create: SignInFixture["create"] = (options = {}, hashQueue) =>
    createSignIn({
      store,
      clock,
      log: { info: keep, warn: keep },
      options: { ...signInDefaults, ...options },
      ...(hashQueue === undefined ? {} : { hashQueue }),
      wait: async (ms, signal) => {
        waits.push({ ms, signal });
      },
    });
  const fixture: SignInFixture = {
    ...{ store, time, clock, waits, logged, create },
    signIn: create(),
    withPassword: (change) => fixture.signIn.withPassword(passwordAttempt(change)),
    async close() {
      await fixture.signIn.settled();
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
  return fixture;
}
