import { afterEach, describe, expect, test, vi } from "vitest";
import type { ConsoleSession, ConsoleSessions } from "../../../../sign-in/console-sessions.ts";
import type { Answer, EventStream } from "../../server/answer.ts";
import { HttpRefusal } from "../../server/http-refusal.ts";
import type { PageRequest, PageRoute } from "../../server/route.ts";
import { createConsole } from "../console-endpoint.ts";
import type { ConsoleRoute } from "../console-route.ts";
import type { ConsoleServices } from "../console-services.ts";
import { guardedRoutes } from "./console-guard.ts";
import type { ConsoleDeps } from "./session-route.ts";

const session: ConsoleSession = {
  ...{ id: "a".repeat(43), userId: 7, userName: "anna", mustChangePassword: false },
  memberships: [{ companyId: 1, companyCode: "ACME", roles: ["MemberAdmin"] }],
};

/** The session is there as long as `isOpen` says. */
function depsWith(isOpen: () => boolean, operators: readonly string[] = []): ConsoleDeps {
  const find: ConsoleSessions["find"] = async () => (isOpen() ? session : undefined);
  return {
    services: { basePath: () => "" } as ConsoleServices,
    sessions: { find } as ConsoleSessions,
    operators: () => operators,
    changePassword: async () => undefined,
  };
}

function requestOf(more: Partial<PageRequest> = {}): PageRequest {
  return {
    ...{ requestId: "r", params: {}, query: new URLSearchParams(), target: "/console", address: "192.0.2.1" },
    headers: { cookie: `dropgate-plain=${session.id}` },
    isEncrypted: false,
    form: async () => new URLSearchParams(),
    checkTransport: () => undefined,
    noteUser: () => undefined,
    signal: () => new AbortController().signal,
    ...more,
  };
}

const isPage = (route: { readonly access: unknown }): route is PageRoute => route.access === "console";

describe("over plain HTTP from another machine", () => {
  const routes = createConsole(depsWith(() => true)).routes.filter(isPage);

  test.each(routes.map(({ method, path, respond }) => [method, path, respond] as const))(
    "%s %s is refused before anything else is looked at",
    async (_method, _path, respond) => {
      const refusal = new HttpRefusal("badCredentials", "use https", { status: 403 });
      const asked = requestOf({
        checkTransport() {
          throw refusal;
        },
        form: () => Promise.reject(new Error("the form was read")),
      });
      await expect(respond(asked)).rejects.toBe(refusal);
    },
  );
});

describe("an operator", () => {
  const page: ConsoleRoute = {
    ...{ access: "console", name: "page", method: "GET", path: "/console/page", who: "operator" },
    run: async (_services, { user }) => ({ status: 200, contentType: "x", body: String(user.isOperator) }),
  };
  const ask = async (operators: readonly string[]): Promise<number | undefined> => {
    const [route] = guardedRoutes(
      [page],
      depsWith(() => true, operators),
    );
    try {
      return (await route?.respond(requestOf()))?.status;
    } catch (error) {
      return error instanceof HttpRefusal && error.code === "roleMissing" ? 403 : undefined;
    }
  };

  test.each([[["anna@ACME"]], [["anna@acme"]], [["zoe@ACME", "anna@ACME"]]])("is one of %j", async (list) => {
    expect(await ask(list)).toBe(200);
  });

  test.each([[[]], [["anna@OTHER"]], [["Anna@ACME"]], [["anna"]], [["x@anna@ACME"]], [["@ACME"]]])(
    "is none of %j: another user has that name, or none",
    async (list) => {
      expect(await ask(list)).toBe(403);
    },
  );
});

describe("events", () => {
  afterEach(() => void vi.useRealTimers());

  test("end soon after their session", async () => {
    vi.useFakeTimers();
    let isOpen = true;
    let ends = 0;
    let isSubscribed = false;
    const live: ConsoleRoute = {
      ...{ access: "console", name: "live", method: "GET", path: "/console/live", who: "signedIn" },
      isBackground: true,
      async run(): Promise<Answer> {
        const subscribe = () => {
          isSubscribed = true;
          return () => {
            isSubscribed = false;
          };
        };
        return { status: 200, contentType: "text/event-stream", body: { subscribe } };
      },
    };
    const [route] = guardedRoutes(
      [live],
      depsWith(() => isOpen),
    );
    const answer = await route?.respond(requestOf());
    const body = answer?.body;
    if (typeof body !== "object" || !("subscribe" in body)) throw new Error("no events");
    const end = () => {
      ends += 1;
    };
    const stream: EventStream = { send: () => undefined, end };
    const unsubscribe = body.subscribe(stream);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([ends, isSubscribed]).toEqual([0, true]);
    isOpen = false;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(ends).toBe(1);
    unsubscribe();
    expect([isSubscribed, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
