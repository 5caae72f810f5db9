/**
 * Which test files run together. Loading what a test needs, and running it until it is fast, was a third of the time of those in `src`:
 * their files share one world a worker, so that what one loaded is there for the next (`bun test --no-isolate`). They run in groups, since
 * what files leave in memory is given back with their workers.
 *
 * | processor time of one worker | a world each | one world |
 * |---|---|---|
 * | `src/query`, 153 files | 179 s | 131 s |
 * | `src/server`, 99 files | 73 s | 47 s |
 * | `src/engine`, 79 files | 39 s | 23 s |
 *
 * Files of `test` look at the process as a whole and keep a world each.
 */

/** Test files that one run of `bun test` takes. */
export interface TestGroup {
  /** The folder, as `bun test` takes it; undefined is all that there is. */
  readonly folder: string | undefined;
  /** Globs of files that others take. */
  readonly ignored: readonly string[];
  /** Whether each file has a global object of its own. */
  readonly isIsolated: boolean;
}

/** Every test file is in one of them (`test/gate.test.ts`). Those that wait much come last: steps beside them get their turn then. */
export const TEST_GROUPS: readonly TestGroup[] = [
  { folder: "src/query", ignored: [], isIsolated: false },
  { folder: "src/server", ignored: [], isIsolated: false },
  { folder: "src", ignored: ["src/query/**", "src/server/**"], isIsolated: false },
  { folder: undefined, ignored: ["src/**"], isIsolated: true },
];

/** The arguments of `bun` that run a group. */
export function testArguments({ folder, ignored, isIsolated }: TestGroup): readonly string[] {
  return [
    "test",
    `--parallel=${WORKERS}`,
    `--timeout=${TIMEOUT_MS}`,
    `--timings=${TIMES_FILE}`,
    ...(isIsolated ? [] : ["--no-isolate"]),
    ...ignored.map((glob) => `--path-ignore-patterns=${glob}`),
    ...(folder === undefined ? [] : [`./${folder}/`]),
  ];
}

/**
 * Three workers on two cores, for which the gate's promise of ten minutes is: many tests wait for a server. More do not pay: five for the
 * files of `test` made `test/process` alone faster (140 s for 190 s), but in the whole gate two tests took longer than they may.
 */
const WORKERS = 3;
const TIMEOUT_MS = 20_000;
/** Milliseconds of the slowest files, which are started first, so that none is alone at the end. */
export const TIMES_FILE = "bin/test-times.json";
