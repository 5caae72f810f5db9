/** A few kills of a real server. The long form is `bun run test:crash`. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "../../bench/macro/random.ts";
import { killAllServers } from "../../bench/macro/server-process.ts";
import type { FailPointName } from "../../src/base/process/fail-point-names.ts";
import { runCampaign } from "./campaign.ts";
import { diskFolder } from "../support/disk-folder.ts";
import { DOORS } from "./doors/doors.ts";
import { runPointCampaign } from "./points/campaign.ts";
import { type CampaignStore, startCampaignStore } from "./store.ts";

/** A dozen starts of a server each; minutes on a machine that others keep busy. */
const TEST_MS_MAX = 180_000;
/** Of the doors at named places: line protocol, remote write, Loki. */
const WRITERS_AT_POINTS = 3;
const SEED = 20_240_229;

/** One of each kind: in a worker, in a start that finds a torn log, at the end, and with a table dropped beside its flush. */
const NAMES: readonly FailPointName[] = ["flush.job-done", "recover.tail-cut", "flush.before-discard", "close.flushed"];

/** The same where files lie in a store: after an upload, a deletion, and in a start that uploads. */
const NAMES_ELSEWHERE: readonly FailPointName[] = ["upload.done", "remote.deleted", "upload.left-done"];

const folder = await mkdtemp(join(diskFolder(), "varve-crash-test-"));

afterAll(async () => {
  killAllServers();
  await rm(folder, { recursive: true });
});

test(
  "keeps every acknowledged row, once, over three kills in a row, one a number of threads, whatever door it came through",
  async () => {
    const report = await runCampaign({
      directory: join(folder, "kills"),
      seed: SEED,
      kills: 3,
      writers: DOORS.length,
      doors: DOORS,
      roundMsMax: 300,
      memtables: "mixed",
      threads: [3, 1, 2],
      fullCheckEvery: 3,
      progress: () => undefined,
    });
    expect(report.violations).toEqual([]);
    expect(report.kills).toBe(3);
    for (const { name } of DOORS) expect({ name, count: report.acknowledgedByDoor[name] }).toEqual({ name, count: expect.any(Number) });
    expect(Object.values(report.acknowledgedByDoor)).not.toContain(0);
    expect(report.rowsCompared).toBeGreaterThan(0);
  },
  TEST_MS_MAX,
);

test(
  "keeps every acknowledged row, and no file that nobody knows, when it dies at a named place",
  async () => {
    const directory = join(folder, "points");
    const report = await runPointCampaign({ directory, seed: SEED, writers: WRITERS_AT_POINTS, names: NAMES, progress: () => undefined });
    expect(report.violations).toEqual([]);
    expect(report.deaths).toBe(NAMES.length);
    expect(report.acknowledgedBatches).toBeGreaterThan(0);
  },
  TEST_MS_MAX,
);

describe("of a server whose files lie in an S3 store that is late, refuses and loses answers", () => {
  let store: CampaignStore | undefined;
  afterEach(() => store?.close());

  test(
    "every acknowledged row is there, once, and no object is left over, over two kills in a row",
    async () => {
      const directory = join(folder, "kills-elsewhere");
      store = await startCampaignStore(directory, undefined, seededRandom(SEED));
      const doors = DOORS.slice(0, WRITERS_AT_POINTS);
      const common = { seed: SEED, kills: 2, writers: doors.length, doors, roundMsMax: 300, memtables: "small", threads: [2, 1] } as const;
      const report = await runCampaign({ ...common, directory, store, fullCheckEvery: 2, progress: () => undefined });
      expect(report.violations).toEqual([]);
      expect(report.kills).toBe(2);
      expect(Object.values(report.acknowledgedByDoor)).not.toContain(0);
    },
    TEST_MS_MAX,
  );

  test(
    "the same holds when it dies at a named place of an upload or a deletion",
    async () => {
      const directory = join(folder, "points-elsewhere");
      store = await startCampaignStore(directory, undefined, seededRandom(SEED));
      const common = { seed: SEED, writers: WRITERS_AT_POINTS, names: NAMES_ELSEWHERE, progress: () => undefined };
      const report = await runPointCampaign({ ...common, directory, store });
      expect(report.violations).toEqual([]);
      expect(report.deaths).toBe(NAMES_ELSEWHERE.length);
    },
    TEST_MS_MAX,
  );
});
