/**
 * The test runner of `run.ts`: Stryker's for vitest, which tries the drawn ones alone of the changes that tests run through.
 * For Stryker no test runs through the others. Without a sample it tries all.
 */
import {
  commonTokens,
  declareFactoryPlugin,
  type Injector,
  type PluginContext,
  PluginKind,
  tokens,
} from "@stryker-mutator/api/plugin";
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunResult,
  MutantRunStatus,
  type TestRunner,
} from "@stryker-mutator/api/test-runner";
import { strykerPlugins as plugins } from "@stryker-mutator/vitest-runner";
import { randomOf } from "../support/random-numbers.ts";
import { sampleOfRun } from "./sample.ts";

/** As many of the identifiers as are wanted. Each has its own number from the seed, so that one more or less moves no other. */
function drawn(ids: Iterable<string>, { size, seed }: { size: number; seed: number }): Set<string> {
  const numberOf = (id: string) =>
    randomOf(Math.imul(seed, 0x9e3779b1) ^ Math.imul(Number(id) + 1, 0x85ebca6b))();
  const numbered = [...ids].map((id) => ({ id, number: numberOf(id) }));
  return new Set(
    numbered
      .sort((one, other) => one.number - other.number)
      .slice(0, size)
      .map(({ id }) => id),
  );
}

function sampled(result: DryRunResult, say: (line: string) => void): DryRunResult {
  const sample = sampleOfRun();
  if (sample === undefined || result.status !== DryRunStatus.Complete) return result;
  if (result.mutantCoverage === undefined) return result;
  const perTest = Object.entries(result.mutantCoverage.perTest);
  const covered = new Set(perTest.flatMap(([, hits]) => Object.keys(hits)));
  const chosen = drawn(covered, sample);
  say(`drawn with seed ${sample.seed}: ${chosen.size} of ${covered.size} changes that tests run through`);
  const kept = perTest.map(([test, hits]) => [
    test,
    Object.fromEntries(Object.entries(hits).filter(([id]) => chosen.has(id))),
  ]);
  return { ...result, mutantCoverage: { ...result.mutantCoverage, perTest: Object.fromEntries(kept) } };
}

/**
 * A run ends before its last test only because a test has failed. Of failures that come soon after other results vitest loses
 * the result at times, and the change would pass as unseen.
 */
function withLostFailure(result: MutantRunResult, tests: readonly string[] | undefined): MutantRunResult {
  if (result.status !== MutantRunStatus.Survived || result.nrOfTests >= (tests?.length ?? 0)) return result;
  const failureMessage = "a test has failed, and vitest has lost which";
  return { status: MutantRunStatus.Killed, killedBy: [], failureMessage, nrOfTests: result.nrOfTests };
}

function sampledRunner(injector: Injector<PluginContext>): TestRunner {
  const factory = plugins[0]?.factory;
  if (factory === undefined) throw new Error("@stryker-mutator/vitest-runner has no test runner");
  const log = injector.resolve(commonTokens.logger);
  const runner = injector.injectFunction(factory);
  return {
    capabilities: () => runner.capabilities(),
    init: () => runner.init?.() ?? Promise.resolve(),
    dryRun: async (options) => sampled(await runner.dryRun(options), (line) => log.info(line)),
    mutantRun: async (options) => withLostFailure(await runner.mutantRun(options), options.testFilter),
    dispose: () => runner.dispose?.() ?? Promise.resolve(),
  };
}
sampledRunner.inject = tokens(commonTokens.injector);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, "sampled-vitest", sampledRunner)];
