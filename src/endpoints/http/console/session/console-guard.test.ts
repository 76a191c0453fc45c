import { afterEach, describe, expect, test, vi } from "vitest";
import type { Answer, EventStream } from "../../server/answer.ts";
import { HttpRefusal } from "../../server/http-refusal.ts";
import type { PageRoute } from "../../server/route.ts";
import { createConsole } from "../console-endpoint.ts";
import type { ConsoleRoute } from "../console-route.ts";
import { consoleDeps, openSession, pageRequest } from "../testing/asked.ts";
import { guardedRoutes } from "./console-guard.ts";

/** The session is there as long as `isOpen` says. */
function depsWith(isOpen: () => boolean, operators: readonly string[] = []) {
  return consoleDeps(async () => (isOpen() ? openSession : undefined), { operators });
}

const isPage = (route: { readonly access: unknown }): route is PageRoute => route.access === "console";

describe("over plain HTTP from another machine", () => {
  const routes = createConsole(depsWith(() => true)).routes.filter(isPage);

  test.each(routes.map(({ method, path, respond }) => [method, path, respond] as const))(
    "%s %s is refused before anything else is looked at",
    async (_method, _path, respond) => {
      const refusal = new HttpRefusal("badCredentials", "use https", { status: 403 });
      const asked = pageRequest({
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
      return (await route?.respond(pageRequest()))?.status;
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
        return {
          status: 200,
          contentType: "text/event-stream",
          body: { turnAway: () => undefined, subscribe },
        };
      },
    };
    const asked: unknown[] = [];
    const deps = consoleDeps(async (_id, options) => {
      asked.push(options);
      return isOpen ? openSession : undefined;
    });
    const [route] = guardedRoutes([live], deps);
    const answer = await route?.respond(pageRequest());
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
    // Whoever only watches keeps no session open.
    expect(asked).toEqual(asked.map(() => ({ isBackground: true })));
    unsubscribe();
    expect([isSubscribed, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
