import { DbError } from "../../base/error.ts";
import { toldError } from "../../base/told-error.ts";
import { expect, test } from "bun:test";
import { errorOf } from "../../../test/support/failure-of.ts";
import { tableId } from "../../base/units.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { SlabPool } from "../../storage/memtable/arena.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { CatalogChange, CatalogNews, Reply } from "./messages.ts";
import { SharedState } from "./shared-state.ts";
import { ThreadArenas } from "./thread-memory.ts";
import { ONE_SHARD } from "../schema/shards.ts";
import { ThreadTables } from "./thread-tables.ts";

function schema(id: number, name: string, tags: readonly string[] = ["host"]): TableSchema {
  return {
    id: tableId(id),
    database: "public",
    name,
    version: 1,
    engine: "mito",
    options: {},
    primaryKey: tags,
    columns: [
      { id: 1, name: "v", type: INT64, semantic: "field", nullable: true },
      { id: 2, name: "time", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
      ...tags.map((tag, t) => ({ id: 3 + t, name: tag, type: STRING, semantic: "tag" as const, nullable: true })),
    ],
  };
}

function put(...schemas: readonly TableSchema[]): CatalogChange[] {
  return schemas.map((each) => ({ kind: "schema", schema: each }));
}

/** A mirror of these tables, and what makes the owner's next answer. */
function mirror(changes: readonly CatalogChange[]): { tables: ThreadTables; answer: (reply: Reply) => void } {
  const shared = new SharedState(1);
  let next: Reply | undefined;
  const link = {
    post: () => undefined,
    call: (): Reply => {
      if (next === undefined) throw new Error("nothing should be asked");
      return next;
    },
    listen: () => undefined,
  };
  const arenas = new ThreadArenas(new SlabPool(0), shared, () => undefined);
  const tables = new ThreadTables({ shared, shards: ONE_SHARD, link, arenas, news: { version: 0, isWhole: true, changes } }, () =>
    Promise.resolve(),
  );
  return {
    tables,
    answer: (reply) => {
      next = reply;
      shared.version++;
    },
  };
}

function news(version: number, changes: readonly CatalogChange[], isWhole = false): Reply {
  const told: CatalogNews = { version, isWhole, changes };
  return { kind: "news", news: told, isApplied: true };
}

test("nothing is asked while nothing changes", () => {
  const { tables, answer } = mirror([...put(schema(1, "a")), { kind: "databases", databases: [{ name: "public", options: {} }] }]);
  tables.refresh();
  expect([tables.find("public", "a")?.schema.id, tables.find("public", "b"), [...tables.databases]]).toEqual([
    tableId(1),
    undefined,
    ["public"],
  ]);
  answer(news(1, put(schema(2, "b"))));
  tables.refresh();
  tables.refresh();
  expect(tables.find("public", "b")?.schema.id).toBe(tableId(2));
});

test("a new version keeps the series; another name or a drop makes keys of decoders void", () => {
  const { tables, answer } = mirror(put(schema(1, "a")));
  const table = tables.find("public", "a");
  table?.registry.register(["x"]);
  const { dropEpoch } = tables;
  answer(news(1, put(schema(1, "a", ["host", "dc"]))));
  tables.refresh();
  expect([tables.find("public", "a") === table, table?.registry.columnCount, table?.registry.register(["x"])]).toEqual([true, 2, 0]);
  expect(tables.dropEpoch).toBe(dropEpoch);
  answer(news(2, put(schema(1, "b"))));
  tables.refresh();
  expect([tables.find("public", "a"), tables.find("public", "b") === table]).toEqual([undefined, true]);
  expect(tables.dropEpoch).toBeGreaterThan(dropEpoch);
  answer(news(3, [{ kind: "dropped", tableId: tableId(1) }]));
  tables.refresh();
  expect([tables.find("public", "b"), [...tables.entries()].length]).toEqual([undefined, 0]);
});

test("a whole catalog takes away what it does not name, and tables may have swapped their names in it", () => {
  const { tables, answer } = mirror(put(schema(1, "a"), schema(2, "b"), schema(3, "c")));
  answer(news(9, put(schema(1, "b"), schema(2, "a")), true));
  tables.refresh();
  const found = ["a", "b", "c"].map((name) => tables.find("public", name)?.schema.id);
  expect(found).toEqual([tableId(2), tableId(1), undefined]);
});

test("a table that is full takes rows of series that it has, and no others", async () => {
  const { tables, answer } = mirror(put(schema(1, "a")));
  const registry = tables.find("public", "a")?.registry;
  registry?.register(["x"]);
  answer(news(1, [{ kind: "full", tableId: tableId(1) }]));
  tables.refresh();
  expect([registry?.register(["x"]), registry?.isFull]).toEqual([0, true]);
  expect((await errorOf(Promise.try(() => registry?.register(["y"])))).message).toStartWith(
    "cannot add a series to table a: it has 1 already",
  );
});

test("what the owner refuses is thrown, and a mirror that is behind looks again", async () => {
  const { tables, answer } = mirror([]);
  answer({ kind: "refused", error: toldError(new DbError(1004, "cannot do it")) });
  expect((await errorOf(Promise.try(async () => void (await tables.evolve([]))))).message).toBe("cannot do it");
  const behind = { ...(news(1, put(schema(1, "a"))) as Extract<Reply, { kind: "news" }>), isApplied: false };
  answer(behind);
  expect(tables.evolve([])).toBe("refreshed");
  expect(tables.find("public", "a")?.schema.id).toBe(tableId(1));
});
