/**
 * Each act of the console as a form sends it, who may do it, and the row in the audit that it leaves. The table has all acts:
 * one that is added does not compile until it has its case.
 */
import { expect } from "vitest";
import type { ActName } from "../../src/endpoints/http/console/console-services.ts";
import { bannedAddress } from "./console-story.ts";
import { company } from "./daemon.ts";

type Fields = Readonly<Record<string, string>>;

interface ActCase {
  /** The address of its form, with the names of subjects. */
  readonly path: string;
  /** Besides the reason, and when its page was made. */
  readonly fields?: Fields;
  /** Who does it; others than an administrator of the company are refused, or others than an operator. */
  readonly by: "admin" | "operator";
  /** The status when the reason is missing. */
  readonly unexplained: 400 | 422;
  /** Where its answer leads; undefined where the answer itself shows what was done. */
  readonly leadsTo: string | undefined;
  readonly subject: string;
  readonly before: object | null;
  readonly after: object | null;
  /** What the next one is told whose page is as old: not done, and why; or done again, as that harms nobody. */
  readonly next: { readonly status: 409 | 422; readonly why: RegExp } | "harmless";
}

const publicKey =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";
const fingerprint = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU";
const user = "/console/users/{userId}";
const target = "/console/targets/{company}/host";
const remote = "/console/remotes/{company}/{name}";
const some = expect.any(String);
const isOf = (why: RegExp, status: 409 | 422 = 409) => ({ status, why });
const named = { by: "admin", unexplained: 400 } as const;
const ofUser = { by: "admin", unexplained: 422, subject: "user inquiry" } as const;

/** In the order in which they are done, on a story of the console: each finds what the ones before it have left. */
export const actCases: Readonly<Record<ActName, ActCase>> = {
  "deliveries.release": {
    leadsTo: "/console/deliveries?done=deliveriesReleased",
    ...{ path: "/console/deliveries/act/release", by: "operator", unexplained: 400 },
    subject: "held deliveries",
    before: { backup: "b-1", restoredAt: some },
    after: { released: expect.arrayContaining([{ company, target: "host", open: expect.any(Number) }]) },
    next: isOf(/it was released by operator at /),
  },
  "file.retry": {
    leadsTo: "/console/files/{reference}?done=fileRetried",
    ...{ ...named, path: "/console/files/{reference}/retry", subject: "file {fileName} {reference}" },
    before: { state: "refused", decidedAt: some, reasons: [925] },
    after: { state: "retry" },
    next: isOf(/it was retried by admin at /),
  },
  "delivery.giveUp": {
    leadsTo: "/console/deliveries/{waiting}?done=deliveriesGivenUp",
    ...{ ...named, path: "/console/deliveries/act/give-up", fields: { of: "{waiting}" } },
    subject: "{waiting}",
    before: { state: "waiting", fault: "credentials" },
    after: { state: "dropped" },
    next: isOf(/it was given up by admin at /),
  },
  "delivery.retry": {
    leadsTo: "/console/deliveries/{dead}?done=deliveriesRetried",
    ...{ ...named, path: "/console/deliveries/act/retry", fields: { of: "{dead}" } },
    subject: "{dead}",
    before: { state: "dead", fault: "refused" },
    after: { state: "waiting", dueAt: some },
    next: isOf(/it was retried by admin at |it is waiting/),
  },
  "delivery.resend": {
    leadsTo: "/console/deliveries/{delivered}?done=deliveriesResent",
    ...{ ...named, path: "/console/deliveries/act/resend", fields: { of: "{delivered}" } },
    subject: "{delivered}",
    before: { state: "delivered" },
    after: { state: "waiting" },
    next: isOf(/it was sent again by admin at /),
  },
  "target.retry": {
    leadsTo: "/console/deliveries?done=targetRetried",
    ...{ ...named, path: `${target}/retry`, subject: "target host", next: "harmless" },
    before: { failures: expect.any(Number) },
    after: { hastened: expect.any(Number) },
  },
  "target.pause": {
    leadsTo: "/console/deliveries?done=targetPaused",
    ...{ ...named, path: `${target}/pause`, subject: "target host", before: null },
    after: { pausedBy: "admin", reason: "to see target.pause" },
    next: isOf(/it was paused by admin at /),
  },
  "target.resume": {
    leadsTo: "/console/deliveries?done=targetResumed",
    ...{ ...named, path: `${target}/resume`, subject: "target host", after: null },
    before: { pausedBy: "admin", reason: "to see target.pause" },
    next: isOf(/it was resumed by admin at /),
  },
  "remote.poll": {
    leadsTo: "/console/remotes?done=remotePolled",
    ...{ ...named, path: `${remote}/poll`, subject: "remote partner", next: "harmless" },
    before: { failures: expect.any(Number) },
    after: { askedAt: some },
  },
  "remote.pause": {
    leadsTo: "/console/remotes?done=remotePaused",
    ...{ ...named, path: `${remote}/pause`, subject: "remote partner", before: null },
    after: { pausedBy: "admin", reason: "to see remote.pause" },
    next: isOf(/it was paused by admin at /),
  },
  "remote.resume": {
    leadsTo: "/console/remotes?done=remoteResumed",
    ...{ ...named, path: `${remote}/resume`, subject: "remote partner", after: null },
    before: { pausedBy: "admin", reason: "to see remote.pause" },
    next: isOf(/it was resumed by admin at /),
  },
  "export.again": {
    leadsTo: "/console/exports?done=exportAgain",
    ...{ ...named, path: "/console/exports/{company}/{name}/{number}/again", subject: "export nightly 1" },
    before: { madeAt: some },
    after: { target: "outbound", file: some },
    next: isOf(/it was delivered again by admin at /),
  },
  "ban.lift": {
    leadsTo: "/console/users?done=banLifted#bans",
    ...{ path: "/console/users/bans/lift", fields: { name: bannedAddress }, by: "operator" },
    ...{ unexplained: 422, subject: `address ${bannedAddress}` },
    before: { bannedUntil: some, count: 1 },
    after: {},
    next: isOf(/it was lifted by operator at /),
  },
  "company.add": {
    leadsTo: "/console/users?company=NEXT&done=companyAdded",
    ...{ path: "/console/companies/add", by: "operator", unexplained: 422, subject: "company NEXT" },
    fields: { code: "NEXT", name: "Next Foods" },
    before: null,
    after: { code: "NEXT", name: "Next Foods" },
    next: isOf(/there is a company NEXT already/, 422),
  },
  "user.add": {
    leadsTo: undefined,
    ...{ path: "/console/users/add", by: "admin", unexplained: 422, subject: "user recruit" },
    fields: { company, userName: "recruit", role: "DI_Inquiry" },
    before: null,
    after: { roles: ["DI_Inquiry"], hasPassword: true },
    next: isOf(/the company has a user recruit already/, 422),
  },
  "user.roles": {
    leadsTo: "/console/users/{userId}?done=userRoles",
    ...{ ...ofUser, path: `${user}/roles` },
    fields: { company, before: "DI_Inquiry", role: "DI_Dispatcher" },
    before: { roles: ["DI_Inquiry"] },
    after: { roles: ["DI_Dispatcher"] },
    next: isOf(/the roles were changed meanwhile/, 422),
  },
  "user.disable": {
    leadsTo: "/console/users/{userId}?done=userDisabled",
    ...{ ...ofUser, path: `${user}/disable`, next: "harmless" },
    before: { enabled: true },
    after: { enabled: false },
  },
  "user.enable": {
    leadsTo: "/console/users/{userId}?done=userEnabled",
    ...{ ...ofUser, path: `${user}/enable`, next: "harmless" },
    before: { enabled: false },
    after: { enabled: true },
  },
  "user.password": {
    leadsTo: undefined,
    ...{ ...ofUser, path: `${user}/password`, next: "harmless", fields: { mustChange: "yes" } },
    before: { hasPassword: true, mustChange: false },
    after: { hasPassword: true, isNewPassword: true, mustChange: true },
  },
  "user.addKey": {
    leadsTo: "/console/users/{userId}?done=userKeyAdded",
    ...{ ...ofUser, path: `${user}/add-key`, fields: { publicKey }, before: null },
    after: { key: fingerprint },
    next: isOf(/the user has this key already/, 422),
  },
  "user.removeKey": {
    leadsTo: "/console/users/{userId}?done=userKeyRemoved",
    ...{ ...ofUser, path: `${user}/remove-key`, fields: { fingerprint }, after: null },
    before: { key: fingerprint },
    next: isOf(/the user has no such key any more/, 422),
  },
  "ledger.verify": {
    leadsTo: "/console/health?done=verificationBegun",
    ...{ path: "/console/health/verify", by: "operator", unexplained: 422, subject: "ledger" },
    ...{ before: null, after: null, next: "harmless" },
  },
};
