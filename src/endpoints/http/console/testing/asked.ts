/** A request as it comes to the console, and what the console is made of, for tests of who gets what. */
import type { ConsoleSession, ConsoleSessions } from "../../../../sign-in/console-sessions.ts";
import type { PageRequest } from "../../server/route.ts";
import type { ConsoleServices } from "../console-services.ts";
import type { ConsoleDeps } from "../session/session-route.ts";

/** An open session of `anna`, who administers ACME. */
export const openSession: ConsoleSession = {
  ...{ id: "a".repeat(43), userId: 7, userName: "anna", mustChangePassword: false },
  memberships: [{ companyId: 1, companyCode: "ACME", roles: ["MemberAdmin"] }],
};

/** A console whose sessions are those that `find` knows. */
export function consoleDeps(
  find: ConsoleSessions["find"],
  { operators = [], basePath = "" }: { operators?: readonly string[]; basePath?: string } = {},
): ConsoleDeps {
  return {
    services: { basePath: () => basePath } as ConsoleServices,
    sessions: { find } as ConsoleSessions,
    operators: () => operators,
    changePassword: async () => undefined,
  };
}

/** A request over plain HTTP with the cookie of the open session. */
export function pageRequest(more: Partial<PageRequest> = {}): PageRequest {
  return {
    ...{ requestId: "r", params: {}, query: new URLSearchParams(), target: "/console", address: "192.0.2.1" },
    headers: { cookie: `dropgate-plain=${openSession.id}` },
    isEncrypted: false,
    form: async () => new URLSearchParams(),
    checkTransport: () => undefined,
    noteUser: () => undefined,
    signal: () => new AbortController().signal,
    ...more,
  };
}
