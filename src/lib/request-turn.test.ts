import { connect, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { currentTurn, renewTurn, runInTurn } from "./request-turn.ts";
import { listenFree } from "../../test/support/listen-free.ts";

function inTurn<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => runInTurn(() => resolve(work())));
}

it("what waits at the same moment runs in one turn, in its order", async () => {
  const order: number[] = [];
  const runs = [1, 2, 3].map((each) =>
    inTurn(() => {
      order.push(each);
      return currentTurn();
    }),
  );
  const turns = await Promise.all(runs);
  expect(order).toEqual([1, 2, 3]);
  expect(new Set(turns).size).toBe(1);
  expect(turns[0]).toBeTypeOf("number");
});

it("each turn is another one", async () => {
  expect(await inTurn(currentTurn)).not.toBe(await inTurn(currentTurn));
});

it("promises that settle without input belong to it, and what comes after it does not", async () => {
  const seen = await new Promise<(number | undefined)[]>((resolve) =>
    runInTurn(async () => {
      const atFirst = currentTurn();
      // Queued in the turn, it comes before anything that is read after the turn.
      const later = new Promise<number | undefined>((done) => setImmediate(() => done(currentTurn())));
      for (let hop = 0; hop < 20; hop += 1) await undefined;
      resolve([atFirst, currentTurn(), await later]);
    }),
  );
  expect(seen[1]).toBe(seen[0]);
  expect(seen[2]).toBeUndefined();
});

it("whatever is read from a socket comes outside of it", async () => {
  const server = createServer((socket) => socket.pipe(socket));
  onTestFinished(() => void server.close());
  const port = await listenFree(server);
  const turns: (number | undefined)[] = [];
  await new Promise<void>((done) => {
    const socket = connect(port, "127.0.0.1");
    const send = () => runInTurn(() => void socket.write("x"));
    socket.on("data", () => {
      turns.push(currentTurn());
      if (turns.length < 100) send();
      else socket.destroy();
    });
    socket.on("connect", send).on("close", () => done());
  });
  expect(new Set(turns)).toEqual(new Set([undefined]));
});

it("a renewed turn is another one for those that run on in it", async () => {
  const [before, after] = await inTurn(() => {
    const first = currentTurn();
    renewTurn();
    return [first, currentTurn()];
  });
  expect(after).toBeTypeOf("number");
  expect(after).not.toBe(before);
});
