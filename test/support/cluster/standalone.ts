/**
 * Tests of what only a standalone server has, in runs where every `TestServer` is a cluster: `bun run test:process:cluster`.
 *
 * Left out there, with a reason in their names, is what looks into the folder, the log or the threads of one server. Whatever clients see
 * is asked of both: an answer that differs is a fault.
 *
 *     const { describe, test } = standalone("its log is damaged"); // of a whole file
 *     standalone("ingest threads").test("metrics are those of all threads", …);
 */
import { describe, test } from "bun:test";

/** `VARVE_TEST_CLUSTER=1`: every `TestServer` is a cluster of its own. */
export const IN_CLUSTER: boolean = process.env["VARVE_TEST_CLUSTER"] === "1";

/** What declares tests of a standalone server. */
export interface StandaloneTests {
  readonly test: typeof test;
  readonly describe: typeof describe;
}

/** A form of `test` or `describe`, as far as names go. */
interface Declare {
  (name: string, body: (...values: readonly never[]) => unknown, millisMax?: number): void;
}
interface DeclareAny extends Declare {
  each(cases: readonly unknown[]): Declare;
}

/**
 * `test` and `describe`, left out in a cluster.
 *
 * @param why what they ask of that a cluster has not, or has elsewhere
 * @param isCluster whether this run is one of a cluster; of queries within one process `REMOTE_SHARDS` says so
 */
export function standalone(why: string, isCluster: boolean = IN_CLUSTER): StandaloneTests {
  if (!isCluster) return { test, describe };
  // Both have one shape, whose many forms no type tells.
  return {
    test: named(test.skip as unknown as DeclareAny, why) as unknown as typeof test,
    describe: named(describe.skip as unknown as DeclareAny, why) as unknown as typeof describe,
  };
}

/** The same, with the reason behind each name. */
function named(declare: DeclareAny, why: string): DeclareAny {
  const renamed =
    (one: Declare): Declare =>
    (name, ...rest) =>
      one(`${name} [standalone: ${why}]`, ...rest);
  const each = (cases: readonly unknown[]): Declare => renamed(declare.each(cases));
  const plain = Object.assign(renamed(declare), { each });
  return Object.assign(renamed(declare), { each, concurrent: plain, skipIf: () => plain });
}
