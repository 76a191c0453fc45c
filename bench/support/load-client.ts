/** Starts the client of the gateway benches and gives it its jobs. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { FromClient, LoadJob, LoadResult, ToClient } from "./load-job.ts";

export interface RunningJob {
  /** Rejects when the server ends a connection, or answers anything but 200. */
  readonly result: Promise<LoadResult>;
  /** Ends the measured time now. */
  stop(): void;
}

export interface LoadClient {
  /** One job at a time. */
  begin(job: LoadJob): RunningJob;
  end(): void;
}

async function messageOf(child: ChildProcess): Promise<FromClient> {
  const done = new AbortController();
  const { signal } = done;
  try {
    return await Promise.race([
      once(child, "message", { signal }).then(([message]) => message as FromClient),
      once(child, "exit", { signal }).then(([code]) => ({ failure: `it ended with ${code}` })),
    ]);
  } finally {
    done.abort();
  }
}

async function resultOf(child: ChildProcess): Promise<LoadResult> {
  const message = await messageOf(child);
  if ("failure" in message) throw new Error(`the client of the bench failed: ${message.failure}`);
  const { failed, requests } = message.result;
  if (failed > 0) throw new Error(`${failed} of ${requests} requests were not answered with 200`);
  return message.result;
}

/** The same client for all servers, so that it is as warm for each of them. */
export function startLoadClient(): LoadClient {
  const script = join(import.meta.dirname, "../gateway-client.ts");
  const execArgv = ["--disable-warning=ExperimentalWarning"];
  const child = fork(script, { serialization: "advanced", execArgv });
  const send = (message: ToClient) => child.send(message);
  return {
    begin(job) {
      const result = resultOf(child);
      send({ job });
      return { result, stop: () => send("stop") };
    },
    end: () => child.kill(),
  };
}
