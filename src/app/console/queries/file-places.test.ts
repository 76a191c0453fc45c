import { expect, test } from "vitest";
import type { ConsoleServices } from "../../../endpoints/http/console/console-services.ts";
import { filesPage } from "../../../endpoints/http/console/pages/files/files-page.ts";
import type { FilesAsked, FilesFound } from "../../../endpoints/http/console/pages/files/files-view.ts";
import { consoleRequest } from "../../../endpoints/http/console/testing/viewer.ts";
import { hasTimeToSearch } from "./file-places.ts";

test("a search goes on for a tenth of a second, and for a whole one when it is asked to look further", () => {
  const after = (ms: number, isFurther: boolean) =>
    hasTimeToSearch({ timeLeftMs: () => 2_000 - ms }, { isFurther })();
  expect([after(50, false), after(150, false)]).toEqual([true, false]);
  expect([after(150, true), after(950, true), after(1_050, true)]).toEqual([true, true, false]);
});

test("a page of files that was not searched to its end leads further back, and asks for that", async () => {
  const asked: FilesAsked[] = [];
  const nothing = { files: [], after: null, count: null, channels: [] };
  const found: FilesFound = { ...nothing, before: "7~x", searchedTo: Date.UTC(2026, 10, 5) };
  const services = {
    basePath: () => "",
    ask: async (_name: string, _scope: unknown, one: FilesAsked) => {
      asked.push(one);
      return found;
    },
  } as unknown as ConsoleServices;
  const open = async (query: string) => {
    const { body } = await filesPage.run(services, consoleRequest({ query: new URLSearchParams(query) }));
    return /<a rel="next" href="[^"?]*\?([^"]*)">([^<]*)</.exec(String(body)) ?? [];
  };
  const [, next = "", text] = await open("user=anna");
  expect(text).toBe("Look further back");
  await open(next.replaceAll("&amp;", "&"));
  expect(asked.map(({ isFurther, before, filter }) => [isFurther, before, filter.user])).toEqual([
    [false, undefined, "anna"],
    [true, "7~x", "anna"],
  ]);
});
