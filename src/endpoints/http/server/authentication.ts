/** Who the caller is (HTTP Basic) and what they may do (specification/accounts.md#sign-in). */
import { isAscii } from "node:buffer";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import type { Membership, SignedInUser, SignIn, SignInOutcome } from "../../../sign-in/sign-in.ts";
import { badCredentials } from "../../../sign-in/sign-in-refusals.ts";
import { isLoopback } from "./client-address.ts";
import { HttpRefusal, retryAfter } from "./http-refusal.ts";
import type { CompanyRoute } from "./route.ts";

const challenge = { "www-authenticate": 'Basic realm="dropgate", charset="UTF-8"' };
const bannedRetryMs = 60_000;

/** One text for every failed sign-in: an outsider learns nothing about who exists. */
const credentialsMessage = "wrong user or password. Send HTTP Basic credentials of an enabled user.";

interface Credentials {
  readonly userName: string;
  readonly password: string;
}

const basicForm = /^basic +([A-Za-z0-9+/_=-]+) *$/i;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** RFC 7617: UTF-8. Older clients send Latin-1, which is not valid UTF-8. */
function decodeCredentials(bytes: Buffer): string {
  // Nearly all credentials are ASCII; the decoder takes five times as long.
  if (isAscii(bytes)) return bytes.toString("latin1");
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}

function readBasic(header: string | undefined): Credentials | undefined {
  const token = header === undefined ? undefined : basicForm.exec(header)?.[1];
  if (token === undefined) return undefined;
  const text = decodeCredentials(Buffer.from(token, "base64"));
  const colon = text.indexOf(":");
  return colon < 1 ? undefined : { userName: text.slice(0, colon), password: text.slice(colon + 1) };
}

function tooMany(message: string, retryAfterMs: number): HttpRefusal {
  return new HttpRefusal("tooManyAttempts", message, { headers: retryAfter(retryAfterMs) });
}

function refusalOf(outcome: Extract<SignInOutcome, { kind: "refused" }>): HttpRefusal {
  if (outcome.code === "tooManyAttempts")
    return tooMany(outcome.message, outcome.retryAfterMs ?? bannedRetryMs);
  return new HttpRefusal(outcome.code, outcome.message, { headers: challenge });
}

/** Throws 933 (429) for an address that is banned. */
export function checkBan(signIn: Pick<SignIn, "bannedForMs">, address: string): void {
  const bannedForMs = signIn.bannedForMs(address);
  if (bannedForMs <= 0) return;
  throw tooMany(
    "too many failed sign-ins from this address. Wait, and check user and password.",
    bannedForMs,
  );
}

/**
 * Throws for user and password in clear: plain HTTP from another machine, unless that is allowed. Sends no challenge, which
 * would lead clients to send them.
 */
export function checkTransport(socket: Socket | TLSSocket, peer: string, allowPlain: boolean): void {
  if (allowPlain || "encrypted" in socket || isLoopback(peer)) return;
  const message =
    "user and password are not taken over plain HTTP from another machine. Use https, or, behind a TLS proxy, " +
    "have the operator set http.allowPlain.";
  throw new HttpRefusal("badCredentials", message, { status: 403 });
}

/**
 * The user of the credentials; among users of one name, that of the company in the path. Rejects with 930 (401, with the
 * challenge) or 933 (429).
 */
export async function signInUser(
  signIn: Pick<SignIn, "withPassword">,
  header: string | undefined,
  { address, companyCode }: { readonly address: string; readonly companyCode: string },
): Promise<SignedInUser> {
  const credentials = readBasic(header);
  if (credentials === undefined)
    throw new HttpRefusal("badCredentials", credentialsMessage, { headers: challenge });
  const { userName, password } = credentials;
  const outcome = await signIn.withPassword({ userName, password, address, companyCode, protocol: "http" });
  if (outcome.kind === "refused") throw refusalOf(outcome);
  return outcome.user;
}

/**
 * The membership by which the user may run the route. Throws 930 for a company of which the user is no member, like the
 * sign-in itself, so that nobody learns whether the company or a namesake there exists; 932 for a member without the role.
 */
export function authorise(route: CompanyRoute, user: SignedInUser, companyCode: string): Membership {
  const membership = user.memberships.find((one) => isSameCompanyCode(one.companyCode, companyCode));
  if (membership === undefined)
    throw new HttpRefusal("badCredentials", badCredentials.message, { headers: challenge });
  if (membership.roles.some((role) => route.access.includes(role))) return membership;
  const needed = route.access.join(" or ");
  throw new HttpRefusal(
    "roleMissing",
    `the user needs the role ${needed} in the company ${membership.companyCode}.`,
  );
}
