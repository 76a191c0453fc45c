/** Passwords that are guessed at from many addresses: the hosts work on, and nobody learns who exists. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { curl } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";

const bans = { maxScore: 4, banMs: 60_000, windowMs: 600_000 };
let site: Site;

beforeAll(async () => {
  site = await Site.make({ security: { wrongPasswordDelayMs: 0, bans } });
  await site.addUser("viewer", ["DI_Inquiry"]);
  await site.start();
});
afterAll(() => site.end());

/** The status of one request from an address of the loopback network; 404 is that of a user who is signed in. */
async function tryFrom(last: number, signIn: { userName?: string; password?: string } = {}): Promise<string> {
  const way = ["--interface", `127.0.0.${last}`, "-o", "/dev/null", "-w", "%{http_code}"];
  return (await curl(site, [...way, `${site.http}/v5/stop/info/NONE/${company}`], signIn)).stdout;
}

async function guessFrom(...addresses: readonly number[]): Promise<void> {
  for (const last of addresses) expect(await tryFrom(last, { password: `guess ${last}` })).toBe("401");
}

test("a user that is guessed at is slowed for strangers and never closed, and its host is none, after a restart either", async () => {
  expect(await tryFrom(2)).toBe("404");
  await guessFrom(10, 11, 12, 13, 14);
  expect(await tryFrom(20)).toBe("404");
  await guessFrom(21);
  expect(await tryFrom(21)).toBe("429");
  await guessFrom(2);
  expect(await tryFrom(2)).toBe("404");

  await site.stop();
  await site.start();
  await guessFrom(30, 31, 32, 33, 34, 2);
  expect(await tryFrom(2)).toBe("404");
  await guessFrom(35);
  expect(await tryFrom(35)).toBe("429");
});

test("as many guesses are let through at a user that exists as at one that does not", async () => {
  const answersTo = async (userName: string, last: number) => {
    const answers: string[] = [];
    for (let guess = 0; guess < 6; guess += 1)
      answers.push(await tryFrom(last, { userName, password: `guess ${guess}` }));
    return answers;
  };
  const answers = await answersTo("viewer", 40);
  expect(answers).toEqual(["401", "401", "401", "401", "429", "429"]);
  expect(await answersTo("nobody", 41)).toEqual(answers);
});
