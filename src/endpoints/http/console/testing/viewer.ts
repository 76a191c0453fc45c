/** A viewer of the console and a request of theirs, for tests of pages. */
import type { ConsoleRequest } from "../console-route.ts";
import type { ConsoleUser } from "../console-user.ts";

export function consoleUser(user: Partial<ConsoleUser> = {}): ConsoleUser {
  return {
    ...{
      userId: 1,
      userName: "anna",
      isOperator: false,
      formToken: "token-1",
      sessionName: "session-1",
      address: "127.0.0.1",
    },
    companies: [{ id: 7, code: "ACME", roles: ["MemberAdmin"] }],
    ...user,
  };
}

export function consoleRequest(request: Partial<ConsoleRequest> = {}): ConsoleRequest {
  return {
    ...{ requestId: "r-1", user: consoleUser(), params: {}, isPart: false, target: "/console" },
    lastEventId: undefined,
    ...{ query: new URLSearchParams(), form: new URLSearchParams() },
    signal: () => new AbortController().signal,
    ...request,
  };
}
