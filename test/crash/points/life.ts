/**
 * One life of an engine, step by step, that passes every fail point of a running server. Each step takes effect whole or not at all.
 */
import type { Engine } from "../../../src/engine/engine.ts";
import { STRING, TIMESTAMP_NANOSECOND } from "../../../src/column/data-type.ts";
import { RowBatchBuilder } from "../../../src/table/rows/row-batch-builder.ts";
import type { TableDefinition } from "../../../src/table/schema.ts";
import { AUTO, put, refusal } from "../../engine/lines.ts";
import { metricBatch, type Sample } from "../../support/metric-batch.ts";
import type { Home } from "./home.ts";
import { rows, type StateChange } from "./state.ts";

/** One step: what is done, and what the tables hold once it is acknowledged. */
export interface Step {
  readonly name: string;
  run(home: Home): Promise<unknown>;
  /** None: the step changes no row. */
  readonly change?: StateChange;
  /** What else may be found when the step is cut short: e.g. a table that the write made before its rows were logged. */
  readonly halves?: readonly StateChange[];
}

/** A time a hundred days after the others, in nanoseconds: rows of both are in files of their own. */
const FAR = 100 * 86_400 * 1e9;

function tableOf(name: string, database = "public"): TableDefinition {
  return {
    database,
    name,
    columns: [
      { name: "host", type: { kind: "string" }, semantic: "tag", nullable: true },
      { name: "v", type: { kind: "int", bits: 64, signed: true }, semantic: "field", nullable: true },
      { name: "greptime_timestamp", type: { kind: "timestamp", unit: "nanosecond" }, semantic: "timestamp", nullable: false },
    ],
    primaryKey: ["host"],
    engine: "mito",
    options: {},
  };
}

function write(line: string, change: StateChange, halves: readonly StateChange[] = []): Step {
  return { name: `write ${line}`, run: ({ engine }) => put(engine, line), change, halves };
}

const flush = (table: string): Step => ({ name: `flush ${table}`, run: ({ engine }) => engine.flushTable("public", table) });
const both = (one: StateChange, other: StateChange): StateChange => {
  return (state) => {
    one(state);
    other(state);
  };
};
const gone = (table: string): StateChange => {
  return (state) => void state.delete(table);
};
const emptied = (table: string): StateChange => {
  return (state) => void state.set(table, new Map());
};
const renamed = (from: string, to: string): StateChange => {
  return (state) => {
    state.set(to, state.get(from) ?? new Map<string, string>());
    state.delete(from);
  };
};

/** Samples of metrics at host `a`, which make logical tables. */
function push(values: Readonly<Record<string, number>>, change: StateChange, halves: readonly StateChange[] = []): Step {
  const samples: Sample[] = Object.entries(values).map(([metric, value]) => ({ metric, labels: { host: "a" }, time: 1, value }));
  return {
    name: `push ${Object.keys(values).join()}`,
    run: ({ engine }) => engine.write("public", metricBatch(samples), AUTO),
    change,
    halves,
  };
}

/** Deletes a row of table cpu. */
function deletion(host: string, time: bigint): Step {
  const builder = new RowBatchBuilder("cpu", [
    { name: "host", type: STRING, semantic: "tag" },
    { name: "greptime_timestamp", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
  ]);
  builder.add([host, time]);
  const change: StateChange = (state) => void state.get("cpu")?.delete(`${host} ${time}`);
  return { name: `delete ${host} ${time}`, run: ({ engine }) => engine.delete("public", builder.batch()), change };
}

/** A write on the ingest thread. */
function writeOnThread(line: string, change: StateChange, halves: readonly StateChange[] = []): Step {
  return { name: `write on a thread ${line}`, run: ({ thread }) => put(thread!, line), change, halves };
}

/** Lets a flush or merge make its files, empties its table, and lets it go on. */
async function discard(home: Home, work: (engine: Engine) => Promise<void>): Promise<void> {
  const stands = home.hold();
  const working = work(home.engine);
  await stands;
  const removal = home.engine.truncateTable("public", "cpu");
  home.release();
  await Promise.all([working, removal]);
}

const LIFE: readonly Step[] = [
  write("cpu,host=a v=1i 1\nmem,host=a v=1i 1", both(rows("cpu", ["a", 1, 1]), rows("mem", ["a", 1, 1])), [both(rows("cpu"), rows("mem"))]),
  write(`cpu,host=b v=2i 2\ncpu,host=a v=20i ${FAR}`, rows("cpu", ["b", 2, 2], ["a", 20, FAR])),
  write("cpu,host=a v=3i,extra=1i 3", rows("cpu", ["a", 3, 3])),
  { name: "create a database", run: ({ engine }) => engine.createDatabase("side", {}, false) },
  { name: "alter a database", run: ({ engine }) => engine.alterDatabase("side", { ttl: "90d" }) },
  { name: "create a table of it", run: ({ engine }) => engine.createTable(tableOf("inner", "side"), false) },
  { name: "create a table", run: ({ engine }) => engine.createTable(tableOf("made"), false), change: rows("made") },
  write("made,host=a v=1i 1", rows("made", ["a", 1, 1])),
  {
    name: "alter a table",
    run: ({ engine }) => engine.alterTable("public", "made", { kind: "set-options", options: { ttl: "1000000d" } }),
  },
  {
    name: "rename a table",
    run: ({ engine }) => engine.alterTable("public", "mem", { kind: "rename", name: "memory" }),
    change: renamed("mem", "memory"),
  },
  flush("cpu"),
  write(`cpu,host=a v=10i 1\ncpu,host=c v=4i ${FAR}`, rows("cpu", ["a", 10, 1], ["c", 4, FAR])),
  flush("cpu"),
  { name: "merge cpu", run: ({ engine }) => engine.compactTable("public", "cpu") },
  {
    name: "fail a write",
    run({ engine, disk }) {
      disk.fail("write", "no space left on device", 40, 2); // After the header of its segment and the statement that there is one.
      return refusal(put(engine, "cpu,host=lost v=9i 9"));
    },
  },
  write("cpu,host=d v=5i 5", rows("cpu", ["d", 5, 5])),
  {
    name: "fail a sync, and go on once the log works again",
    async run({ engine, disk }) {
      disk.fail("sync", "i/o error");
      await refusal(put(engine, "cpu,host=lost v=9i 9"));
      while (engine.failure() !== undefined) await Bun.sleep(5);
    },
    halves: [rows("cpu", ["lost", 9, 9])], // It may come back until it is cut off.
  },
  push({ up: 1.5, down: 2.5 }, both(rows("up", ["a", 1.5, 1]), rows("down", ["a", 2.5, 1])), [both(rows("up"), rows("down"))]),
  writeOnThread("cpu,host=t v=6i 6\nthreads,host=t v=1i 1", both(rows("cpu", ["t", 6, 6]), rows("threads", ["t", 1, 1])), [
    rows("threads"),
  ]),
  deletion("b", 2n),
  deletion("t", 6n),
  writeOnThread("cpu,host=t v=7i 6", rows("cpu", ["t", 7, 6])),
  { name: "truncate a logical table", run: ({ engine }) => engine.truncateTable("public", "down"), change: emptied("down") },
  flush("up"),
  { name: "drop a logical table", run: ({ engine }) => engine.dropTable("public", "down", false), change: gone("down") },
  { name: "merge up", run: ({ engine }) => engine.compactTable("public", "up") },
  flush("memory"),
  flush("made"),
  flush("cpu"),
  { name: "truncate memory", run: ({ engine }) => engine.truncateTable("public", "memory"), change: emptied("memory") },
  {
    name: "truncate cpu while it is flushed",
    async run(home) {
      await put(home.engine, "cpu,host=e v=6i 6");
      await discard(home, (engine) => engine.flushTable("public", "cpu"));
    },
    change: emptied("cpu"),
    halves: [rows("cpu", ["e", 6, 6])],
  },
  write("cpu,host=f v=7i 7", rows("cpu", ["f", 7, 7])),
  flush("cpu"),
  write("cpu,host=g v=8i 8", rows("cpu", ["g", 8, 8])),
  flush("cpu"),
  {
    name: "truncate cpu while it is merged",
    run: (home) => discard(home, (engine) => engine.compactTable("public", "cpu")),
    change: emptied("cpu"),
  },
  { name: "drop made", run: ({ engine }) => engine.dropTable("public", "made", false), change: gone("made") },
  { name: "drop a database", run: ({ engine }) => engine.dropDatabase("side", false) },
  write("cpu,host=h v=9i 9\nmemory,host=h v=9i 9", both(rows("cpu", ["h", 9, 9]), rows("memory", ["h", 9, 9]))),
  { name: "end", run: ({ engine }) => engine.close() },
];

/** See the file header. */
export const life: readonly Step[] = LIFE;
