/**
 * A death at every fail point, in short: the directory of one life is copied at each of them, which is what a SIGKILL there leaves, and
 * an engine opened on every copy. Deaths of that start are copied and opened in turn. The long form kills real servers:
 * `bun run test:crash --points`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchFailPoints } from "../../../src/base/process/fail-point.ts";
import { FAIL_POINTS, type FailPointName, isOfRemoteStore } from "../../../src/base/process/fail-point-names.ts";
import { put } from "../../engine/lines.ts";
import { copyHome, openHome, strayFiles, tearLog } from "./home.ts";
import { life } from "./life.ts";
import { changed, rows, type State, textOfEngine, textOfState } from "./state.ts";

/** A directory as a death left it, and the states that may be found in it. */
interface Remains {
  readonly path: string;
  readonly where: string;
  readonly allowed: readonly State[];
}

const EMPTY: State = new Map();
/** Starts of which every death is looked at, for each fail point. */
const DEATHS_OF_STARTS = 3;
/** After so many starts one writes and flushes, and is followed by another. */
const LIVES_ON_EVERY = 3;
/** Thousands of syncs, on a disk that others may keep busy. */
const TEST_MS_MAX = 180_000;

let folder = "";
let copies = 0;
const seen = new Map<FailPointName, number>();
const remains: Remains[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-points-"));
});
afterAll(async () => {
  watchFailPoints(null);
  await rm(folder, { recursive: true, force: true });
});

function noteSeen(name: FailPointName): number {
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  return count;
}

function keep(path: string, where: string, allowed: readonly State[]): Remains {
  const copy = join(folder, `copy-${copies++}`);
  copyHome(path, copy);
  return { path: copy, where, allowed };
}

/** Opens an engine on what is left; deaths of the start that are new are kept in `deaths`. */
async function checkStart({ path, where, allowed }: Remains, deaths: Remains[], index: number): Promise<void> {
  const hasThread = index % 2 === 0; // Whether the process before had one or not.
  watchFailPoints((name) => {
    if (noteSeen(name) <= DEATHS_OF_STARTS || name === "recover.tail-cut") deaths.push(keep(path, `${where}; start, ${name}`, allowed));
  });
  const { engine } = await openHome(path, { hasThread });
  watchFailPoints(null);
  const found = await textOfEngine(engine);
  const wanted = allowed.map(textOfState);
  if (!wanted.includes(found)) throw new Error(`after a death at ${where}:\n${found}\nwanted one of:\n${wanted.join("\nor\n")}`);
  expect({ where, strays: strayFiles(path) }).toEqual({ where, strays: [] });
  if (index % LIVES_ON_EVERY !== 0) {
    await engine.close();
    await rm(path, { recursive: true });
    return;
  }
  // And life goes on, as far as a flush and another start.
  await put(engine, "later,host=z v=1i 1");
  await engine.flushTable("public", "later");
  await engine.close();
  const again = await openHome(path, { hasThread: !hasThread });
  const after = changed(allowed[wanted.indexOf(found)] ?? EMPTY, rows("later", ["z", 1, 1]));
  expect({ where, found: await textOfEngine(again.engine) }).toEqual({ where, found: textOfState(after) });
  await again.engine.close();
  await rm(path, { recursive: true });
}

describe("a death at every fail point", () => {
  test(
    "of a life is survived by every acknowledged row, once, and by no file that nobody knows",
    async () => {
      const path = join(folder, "life");
      let state = EMPTY;
      const home = await openHome(path, { hasThread: true });
      for (const step of life) {
        const { name, change, halves = [] } = step;
        const after = change === undefined ? state : changed(state, change);
        const allowed = [state, after, ...halves.map((half) => changed(state, half))];
        const here = new Set<FailPointName>();
        watchFailPoints((point) => {
          if (here.has(point)) return;
          here.add(point);
          noteSeen(point);
          remains.push(keep(path, `${name}, ${point}`, allowed));
        });
        await step.run(home);
        state = after;
      }
      watchFailPoints(null);
      const reopened = await openHome(path);
      expect(await textOfEngine(reopened.engine)).toBe(textOfState(state));
      await reopened.engine.close();
      expect(strayFiles(path)).toEqual([]);
    },
    TEST_MS_MAX,
  );

  test(
    "leaves a directory that a server starts on; so does a death of that start",
    async () => {
      const deaths: Remains[] = [];
      const torn = remains.findLast(({ where }) => where.endsWith("log.synced"))!;
      remains.push({ ...keep(torn.path, `${torn.where}, with a torn end`, torn.allowed) });
      expect(tearLog(remains.at(-1)!.path)).toBe(true);
      for (const [i, each] of remains.entries()) await checkStart(each, deaths, i);
      for (let i = 0; deaths.length > 0; i++) await checkStart(deaths.shift()!, deaths, i);
    },
    TEST_MS_MAX,
  );

  test("is a death at each of them: none was missed", () => {
    const passed = Object.keys(FAIL_POINTS).filter((name) => !isOfRemoteStore(name)); // Those of a store: `../kill.test.ts`.
    expect(passed.filter((name) => !seen.has(name as FailPointName))).toEqual([]);
  });
});
