/**
 * Signing in over SSH: password, keyboard-interactive (one question: the password) and public key.
 *
 * A key is granted only after a signature made with that same key has been verified; the question "would this key do?"
 * proves nothing. Every refusal looks the same from outside, whatever its reason.
 */
import type { AuthContext, AuthenticationType, KeyboardAuthContext, PublicKeyAuthContext } from "ssh2";
import ssh2 from "ssh2";
import { exchangeCompaniesOf } from "../../operations/users/exchange-companies.ts";
import type { KeyAttempt, SignedInUser, SignInCheck, SignInOutcome } from "../../sign-in/sign-in.ts";

export const signInMethods: AuthenticationType[] = ["publickey", "password", "keyboard-interactive"];

const keyTypes: ReadonlySet<string> = new Set([
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
]);

/** Longer names belong to nobody. */
const maxUserNameLength = 256;

export type Verdict =
  | { readonly kind: "granted"; readonly user: SignedInUser }
  | { readonly kind: "keyWouldDo" }
  | { readonly kind: "refused"; readonly reason: string; readonly isBanned: boolean };

export interface AuthenticationDeps {
  readonly signIn: SignInCheck;
  readonly address: string;
  /** RSA signatures with SHA-1 are taken only with `sftp.legacyAlgorithms`. */
  readonly isSha1Allowed: boolean;
}

function refused(reason: string): Verdict {
  return { kind: "refused", reason, isBanned: false };
}

/** Only users who may exchange files somewhere get in. */
function verdictOf(outcome: SignInOutcome): Verdict {
  if (outcome.kind === "refused")
    return { kind: "refused", reason: outcome.message, isBanned: outcome.code === "tooManyAttempts" };
  if (exchangeCompaniesOf(outcome.user).length === 0)
    return refused("the user has the role DI_Integration in no company");
  return { kind: "granted", user: outcome.user };
}

function isSignedWith(context: PublicKeyAuthContext): boolean {
  const { key, signature, blob } = context;
  if (signature === undefined || blob === undefined) return false;
  const parsed = ssh2.utils.parseKey(`${key.algo} ${key.data.toString("base64")}`);
  if (parsed instanceof Error || parsed.type !== key.algo || parsed.isPrivateKey()) return false;
  // The library gives an Error, which is truthy, for a signature it cannot check.
  return parsed.verify(blob, signature, context.hashAlgo) === true;
}

async function tryKey(deps: AuthenticationDeps, context: PublicKeyAuthContext): Promise<Verdict> {
  if (!keyTypes.has(context.key.algo)) return refused(`keys of type ${context.key.algo} are not accepted`);
  const isSha1 = context.key.algo === "ssh-rsa" && context.hashAlgo === undefined;
  if (isSha1 && !deps.isSha1Allowed)
    return refused("the client signs with ssh-rsa (SHA-1); sftp.legacyAlgorithms would accept it");
  const attempt: KeyAttempt = {
    userName: context.username,
    keyType: context.key.algo,
    keyBlob: Uint8Array.from(context.key.data),
    address: deps.address,
    protocol: "sftp",
  };
  if (context.signature === undefined) {
    const isKnown = await deps.signIn.isKeyKnown(attempt);
    return isKnown ? { kind: "keyWouldDo" } : refused("the key is not known for this user");
  }
  if (!isSignedWith(context)) return refused("the signature is not that of the key");
  return verdictOf(await deps.signIn.withVerifiedKey(attempt));
}

async function tryPassword(deps: AuthenticationDeps, userName: string, password: string): Promise<Verdict> {
  const attempt = { userName, password, address: deps.address, protocol: "sftp" } as const;
  return verdictOf(await deps.signIn.withPassword(attempt));
}

/** Asks for the password; undefined when the client went on to something else instead. */
function askForPassword(context: KeyboardAuthContext): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onAnswers = (answers: unknown): void => {
      const answer: unknown = Array.isArray(answers) ? answers[0] : undefined;
      resolve(typeof answer === "string" ? answer : undefined);
    };
    context.prompt([{ prompt: "Password: ", echo: false }], onAnswers);
  });
}

/** Decides about one attempt to sign in. Rejects only when the sign-in itself fails. */
export async function judge(deps: AuthenticationDeps, context: AuthContext): Promise<Verdict> {
  if (context.username.length > maxUserNameLength) return refused("the user name is too long");
  switch (context.method) {
    case "password":
      return tryPassword(deps, context.username, context.password);
    case "publickey":
      return tryKey(deps, context);
    case "keyboard-interactive": {
      const password = await askForPassword(context);
      if (password === undefined) return refused("the client gave no answer");
      return tryPassword(deps, context.username, password);
    }
    default:
      return refused(`sign-in by ${context.method} is not offered`);
  }
}
