import { expect, test } from "bun:test";
import { type Clock, systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { INT64, JSON2, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import type { LocalMetaStore } from "../../storage/meta-store/meta-store.ts";
import type { ColumnDefinition, TableDefinition } from "../../table/schema.ts";
import { fileKey } from "./meta-codec.ts";
import { StoredSchemas } from "../../../test/engine/stored-schemas.ts";

const TS: ColumnDefinition = { name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp", nullable: false };
const HOST: ColumnDefinition = { name: "host", type: STRING, semantic: "tag", nullable: true };
const V: ColumnDefinition = { name: "v", type: INT64, semantic: "field", nullable: true };

function table(changes: Partial<TableDefinition> = {}): TableDefinition {
  return { database: "public", name: "t", columns: [HOST, TS, V], primaryKey: ["host"], engine: "mito", options: {}, ...changes };
}

function store(): { readonly meta: LocalMetaStore & { failing: boolean }; readonly schemas: StoredSchemas } {
  const inner = memoryMetaStore();
  const meta = {
    ...inner,
    failing: false,
    commit(changes: Parameters<LocalMetaStore["commit"]>[0]): void {
      if (meta.failing) throw new DbError(StatusCode.StorageUnavailable, "disk is full");
      inner.commit(changes);
    },
  };
  return { meta, schemas: new StoredSchemas(meta) };
}

/** `Code: message` of what is thrown. */
function failureOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return `${Object.entries(StatusCode).find(([, code]) => code === error.code)?.[0]}: ${error.message}`;
  }
  return "none";
}

test("what was stored is there again", () => {
  const { meta, schemas } = store();
  schemas.createDatabase("metrics", { ttl: "1d" });
  const first = schemas.createTable(table());
  const [second] = schemas.applyAll([
    { kind: "create", definition: table({ database: "metrics" }) },
    { kind: "alter", database: "metrics", table: "t", change: { kind: "set-options", options: { ttl: "2d" } } },
  ]);
  const again = new StoredSchemas(meta);
  expect(again.databases().map(({ name }) => name)).toEqual(["greptime_private", "information_schema", "metrics", "public"]);
  expect(again.database("metrics")?.options).toEqual({ ttl: "1d" });
  expect(again.schema("public", "t")).toEqual(first);
  expect(again.schema("metrics", "t")).toMatchObject({ id: second?.id, version: 2, options: { ttl: "2d" } });
  expect(again.allSchemas().length).toBe(2);
});

test("ids of tables and columns are never used again", () => {
  const { meta, schemas } = store();
  const first = schemas.createTable(table());
  schemas.dropOneTable("public", "t");
  expect(Number(new StoredSchemas(meta).createTable(table()).id)).toBe(Number(first.id) + 1);
  const change = { kind: "add-columns" as const, columns: [{ ...V, name: "w" }], ifNotExists: false };
  const [altered] = new StoredSchemas(meta).applyAll([{ kind: "alter", database: "public", table: "t", change }]);
  expect(altered?.columns.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4]);
});

test("steps of one transaction build on each other, and none of them happens when one fails", () => {
  const { meta, schemas } = store();
  const add = (name: string): Parameters<StoredSchemas["applyAll"]>[0][number] => ({
    kind: "alter",
    database: "public",
    table: "t",
    change: { kind: "add-columns", columns: [{ ...V, name }], ifNotExists: false },
  });
  const results = schemas.applyAll([{ kind: "create", definition: table() }, add("w"), add("x")]);
  expect(results.map(({ version, columns }) => `${version}: ${columns.length}`)).toEqual(["3: 5", "3: 5", "3: 5"]);
  const before = meta.list("");
  expect(failureOf(() => schemas.applyAll([add("y"), add("w")]))).toStartWith("TableColumnExists");
  expect(meta.list("")).toEqual(before);
  expect(schemas.schema("public", "t")?.columns.length).toBe(5);
  meta.failing = true;
  expect(failureOf(() => schemas.applyAll([add("y")]))).toBe("StorageUnavailable: disk is full");
  expect(schemas.schema("public", "t")?.version).toBe(3);
});

test("a tag that is added joins the key at its end", () => {
  const { schemas } = store();
  schemas.createTable(table());
  const change = { kind: "add-columns" as const, columns: [{ ...HOST, name: "rack" }, V], ifNotExists: true };
  const [schema] = schemas.applyAll([{ kind: "alter", database: "public", table: "t", change }]);
  expect(schema?.primaryKey).toEqual(["host", "rack"]);
  expect(schema?.columns.map(({ name }) => name)).toEqual(["host", "ts", "v", "rack"]);
});

test("dropping a database or a table takes their entries along", () => {
  const { meta, schemas } = store();
  schemas.createDatabase("metrics", {});
  const { id } = schemas.createTable(table({ database: "metrics" }));
  meta.commit([{ key: fileKey(id, 1), value: {} }]);
  schemas.createTable(table());
  expect(schemas.dropOneDatabase("metrics").map(Number)).toEqual([Number(id)]);
  schemas.dropOneTable("public", "t");
  expect(meta.list("").map(({ key }) => key)).toEqual(["next/table"]);
});

const wide = Array.from({ length: TABLE_COLUMNS_MAX }, (_, i): ColumnDefinition => ({ ...V, name: `v${i}` }));
const rejects: readonly (readonly [string, (schemas: StoredSchemas) => unknown])[] = [
  ["TableAlreadyExists: Table already exists: `greptime.public.have`", (s) => s.createTable(table({ name: "have" }))],
  ["DatabaseNotFound: Database not found: none", (s) => s.createTable(table({ database: "none" }))],
  ["Unsupported: Schema `information_schema` is read-only", (s) => s.createTable(table({ database: "information_schema" }))],
  ["InvalidArguments: Invalid table name: 1 t: it holds", (s) => s.createTable(table({ name: "1\nt" }))],
  ["InvalidArguments: Invalid table name: : the empty name", (s) => s.createTable(table({ name: "" }))],
  ["InvalidArguments: Invalid column name: : the empty name", (s) => s.createTable(table({ columns: [HOST, TS, { ...V, name: "" }] }))],
  ["InvalidArguments: Invalid column name: ", (s) => s.createTable(table({ columns: [HOST, TS, { ...V, name: "ü".repeat(513) }] }))],
  ["InvalidArguments: cannot give table t two columns of the name v", (s) => s.createTable(table({ columns: [HOST, TS, V, V] }))],
  ["InvalidArguments: cannot give table t 4097 columns", (s) => s.createTable(table({ columns: [TS, ...wide], primaryKey: [] }))],
  ["InvalidArguments: cannot create table t: it has 0 time indexes", (s) => s.createTable(table({ columns: [HOST, V] }))],
  [
    "InvalidArguments: cannot create table t: it has 2 time indexes",
    (s) => s.createTable(table({ columns: [HOST, TS, { ...TS, name: "t2" }] })),
  ],
  [
    "InvalidArguments: cannot create table t: its primary key (v) is not its tags (host)",
    (s) => s.createTable(table({ primaryKey: ["v"] })),
  ],
  ["InvalidArguments: cannot create table t: its primary key () is not its tags (host)", (s) => s.createTable(table({ primaryKey: [] }))],
  ["DatabaseAlreadyExists: Schema public already exists", (s) => s.createDatabase("public", {})],
  ["InvalidArguments: Schema information_schema already exists", (s) => s.createDatabase("information_schema", {})],
  ["InvalidArguments: Unexpected, violated: Invalid database name: a b: it holds", (s) => s.createDatabase("a\0b", {})],
  ["DatabaseNotFound: Database not found: none", (s) => s.dropOneDatabase("none")],
  ["InvalidArguments: cannot drop database public: it belongs to the server", (s) => s.dropOneDatabase("public")],
  ["TableNotFound: Table not found: greptime.public.none", (s) => s.dropOneTable("public", "none")],
  ["DatabaseNotFound: Database not found: none", (s) => s.dropOneTable("none", "t")],
  [
    "InvalidArguments: cannot add time index t2 to table have: it has one",
    (s) =>
      s.applyAll([
        {
          kind: "alter",
          database: "public",
          table: "have",
          change: { kind: "add-columns", columns: [{ ...TS, name: "t2" }], ifNotExists: false },
        },
      ]),
  ],
];

test.each(rejects)("refused: %s", (want, work) => {
  const { meta, schemas } = store();
  schemas.createTable(table({ name: "have" }));
  const before = meta.list("");
  expect(failureOf(() => work(schemas))).toStartWith(want);
  expect(meta.list("")).toEqual(before);
});

test("names with every allowed character are accepted", () => {
  const { schemas } = store();
  for (const name of ["a", "_a", ":a", "-a", "a.b@c#d-e:f_9", "x".repeat(1024)])
    expect(schemas.createTable(table({ name })).name).toBe(name);
});

test("a table knows when it was created, whatever becomes of it", () => {
  const meta = memoryMetaStore();
  let now = 1_700_000_000_000;
  const clock: Clock = { ...systemClock, nowMillis: () => now };
  new StoredSchemas(meta, undefined, clock).createTable(table());
  now += 1000;
  const change = { kind: "rename" as const, name: "u" };
  const [renamed] = new StoredSchemas(meta, undefined, clock).applyAll([{ kind: "alter", database: "public", table: "t", change }]);
  expect(renamed?.createdMillis).toBe(1_700_000_000_000);
  expect(new StoredSchemas(memoryMetaStore()).createTable(table()).createdMillis).toBeUndefined();
});

test("types of paths go with the type that has them", () => {
  const { schemas } = store();
  const hints = [{ path: ["a"], type: INT64, nullable: true }];
  const document: ColumnDefinition = { name: "j", type: JSON2, semantic: "field", nullable: true, hints };
  expect(schemas.createTable(table({ columns: [HOST, TS, document] })).columns[2]?.hints).toEqual(hints);
  const change = { kind: "change-type" as const, column: "j", type: STRING };
  const [changed] = schemas.applyAll([{ kind: "alter", database: "public", table: "t", change }]);
  expect(changed?.columns[2]).toMatchObject({ name: "j", type: STRING });
  expect(changed?.columns[2]?.hints).toBeUndefined();
});
