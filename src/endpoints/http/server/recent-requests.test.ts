import { expect, test } from "vitest";
import { RecentRequests, type RecentRequest } from "./recent-requests.ts";

function request(requestId: string, user: string | undefined): RecentRequest {
  const answered = { at: 1, method: "GET", route: "readStop", company: "ACME", status: 200, durationMs: 2 };
  return { ...answered, requestId, user };
}

test("a request is found by its id, and what strangers ask pushes no user's out", () => {
  const recent = new RecentRequests();
  recent.note(request("of-a-user", "anna"));
  for (let count = 0; count < 20_000; count += 1) recent.note(request(`stranger-${count}`, undefined));
  expect(recent.find("of-a-user")).toMatchObject({ user: "anna", status: 200 });
  expect(recent.find("stranger-19999")).toMatchObject({ user: undefined });
  expect(recent.find("stranger-0")).toBeUndefined();
  for (let count = 0; count < 20_000; count += 1) recent.note(request(`anna-${count}`, "anna"));
  expect(recent.find("of-a-user")).toBeUndefined();
  expect(recent.find("no-such-id")).toBeUndefined();
});
