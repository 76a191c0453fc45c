/**
 * Signing in, for every protocol (specification/accounts.md#sign-in).
 */
import type { ErrorCode } from "../lib/errors.ts";
import type { UserMembership } from "../store/accounts/users.ts";

export type SignInProtocol = "http" | "sftp" | "ftp";

export type Membership = UserMembership;

/** What a sign-in rests on: a connection that outlives it ends when this changes. */
export interface SignInProof {
  /** Another one after each change of the password. */
  readonly passwordVersion: string;
  /** The key by which it was, base64 of its SSH wire form; left out for a password. */
  readonly keyBlob?: string;
}

export interface SignedInUser {
  readonly userId: number;
  readonly userName: string;
  readonly memberships: readonly Membership[];
  readonly proof: SignInProof;
}

/** A user as it is at this moment. */
export interface CurrentUser extends Omit<SignedInUser, "proof"> {
  readonly passwordVersion: string;
  readonly keyBlobs: ReadonlySet<string>;
}

export type SignInOutcome =
  | { readonly kind: "signedIn"; readonly user: SignedInUser }
  | {
      readonly kind: "refused";
      readonly code: Extract<ErrorCode, "badCredentials" | "tooManyAttempts">;
      /** Safe to show; tells an outsider nothing about who exists. */
      readonly message: string;
      readonly retryAfterMs?: number;
    };

export interface SignInAttempt {
  readonly userName: string;
  readonly address: string;
  readonly protocol: SignInProtocol;
}

export interface PasswordAttempt extends SignInAttempt {
  /** The company the request is about, if that is known: when it has a user of that name, no other one will do. */
  readonly companyCode?: string;
  readonly password: string;
  /** The caller has the user change the password before anything else: one that must do that may sign in. */
  readonly canChangePassword?: boolean;
}

export interface KeyAttempt extends SignInAttempt {
  /** SSH algorithm name of the key, for example `ssh-ed25519`. */
  readonly keyType: string;
  /** The public key in SSH wire form. */
  readonly keyBlob: Uint8Array;
}

/** For protocols whose connections outlive the request: what an administrator changes takes effect at once. */
export interface SignInReview {
  /** The user as it is now; undefined when it may not sign in any more. */
  signedInNow(userId: number): Promise<CurrentUser | undefined>;
}

/** State of addresses, over all protocols together. */
export interface AddressStanding {
  /** Milliseconds for which the address is still banned; 0 when it is not. */
  bannedForMs(address: string): number;
  /** Whether anybody has signed in from the address during the last day. */
  hasSignedInLately(address: string): boolean;
  /** The address broke a connection or request limit (3 points). */
  reportBrokenLimit(address: string): void;
  /** A connection of the address was open for the whole time that there is to sign in, and nobody did (1 point). */
  reportSilence(address: string): void;
}

export interface SignIn extends AddressStanding {
  /**
   * A wrong password is answered after `security.wrongPasswordDelayMs`, or at once when `signal` aborts: then nobody
   * waits for the answer any more. It counts all the same.
   */
  withPassword(attempt: PasswordAttempt, signal?: AbortSignal): Promise<SignInOutcome>;
  /**
   * Whether this key would be accepted. Proves nothing yet: the caller verifies the signature, then calls
   * `withVerifiedKey`.
   */
  isKeyKnown(attempt: KeyAttempt): Promise<boolean>;
  /** The caller has verified a signature made with this key. */
  withVerifiedKey(attempt: KeyAttempt, signal?: AbortSignal): Promise<SignInOutcome>;
}

/** The part that decides about one attempt. */
export type SignInCheck = Pick<SignIn, "withPassword" | "isKeyKnown" | "withVerifiedKey">;
