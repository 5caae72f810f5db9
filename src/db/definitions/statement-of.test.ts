/** Messages of the native interface and what is there afterwards, as SHOW CREATE says it. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "bun:test";
import { ColumnDataType as Type, SemanticType, TimeUnit } from "../../../proto/gen/greptime/v1/common_pb.js";
import { AddColumnLocation_LocationType, CommentObjectType, DdlRequestSchema } from "../../../proto/gen/greptime/v1/ddl_pb.js";
import { AUTO, put } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { DbError } from "../../base/error.ts";
import { statusNameOf } from "../../base/status-code.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { AccessMode } from "../auth/user.ts";
import { LocalDb } from "../local-db.ts";
import type { Session } from "../session.ts";

/** A member of DdlRequest and its fields. */
interface Expr {
  readonly case: string | undefined;
  readonly value?: object;
}

type Init = MessageInitShape<typeof DdlRequestSchema>;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function session(mode: AccessMode = "rw"): Session {
  return { database: "public", timeZone: "UTC", user: { name: "someone", mode }, signal: new AbortController().signal };
}

class Fixture {
  readonly machine: Machine;
  readonly db: LocalDb;

  constructor(machine: Machine) {
    this.machine = machine;
    this.db = new LocalDb(machine.engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
  }

  static async start(): Promise<Fixture> {
    return new Fixture(await Machine.start());
  }

  /** Affected rows, or the code and text of the failure. */
  async define(expr: Expr, mode: AccessMode = "rw"): Promise<number | string> {
    try {
      const result = await this.db.define(create(DdlRequestSchema, { expr } as Init), session(mode));
      return result.kind === "affected" ? result.rowCount : "rows";
    } catch (error) {
      return error instanceof DbError ? `${statusNameOf(error.code)}: ${error.message}` : String(error);
    }
  }

  async sql(text: string): Promise<string> {
    const cells: string[] = [];
    for await (const result of this.db.sql(text, session())) {
      if (result.kind === "affected") continue;
      for await (const { rowCount, vectors } of result.batches) {
        for (let row = 0; row < rowCount; row++)
          for (const [c, vector] of vectors.entries()) cells.push(String(scalarAt(vector, result.headers[c]!.type, row)));
      }
    }
    return cells.join("|");
  }
}

const TS = { name: "ts", dataType: Type.TIMESTAMP_MILLISECOND, semanticType: SemanticType.TIMESTAMP };
const HOST = { name: "host", dataType: Type.STRING, semanticType: SemanticType.TAG, isNullable: true };

function table(name: string, more: object = {}): Expr {
  const value = { tableName: name, columnDefs: [HOST, TS], timeIndex: "ts", primaryKeys: ["host"], ...more };
  return { case: "createTable", value };
}

test("databases are made, changed, and made once", async () => {
  const all = await Fixture.start();
  const made: Expr = { case: "createDatabase", value: { schemaName: "d", options: { ttl: "7d" } } };
  expect(await all.define(made)).toBe(1);
  expect(await all.define(made)).toStartWith("DatabaseAlreadyExists");
  const again: Expr = { case: "createDatabase", value: { schemaName: "d", createIfNotExists: true } };
  expect(await all.define(again)).toBe(0);
  const set = { case: "setDatabaseOptions", value: { setDatabaseOptions: [{ key: "ttl", value: "1h" }] } } as const;
  expect(await all.define({ case: "alterDatabase", value: { schemaName: "d", kind: set } })).toBe(0);
  expect(await all.sql("SHOW CREATE DATABASE d")).toContain("ttl = '1h'");
  const unset = { case: "unsetDatabaseOptions", value: { keys: ["ttl"] } } as const;
  expect(await all.define({ case: "alterDatabase", value: { schemaName: "d", kind: unset } })).toBe(0);
  expect(await all.sql("SHOW CREATE DATABASE d")).not.toContain("ttl");
});

test("tables have the columns, defaults, indexes and options of the message", async () => {
  const all = await Fixture.start();
  const field = { semanticType: SemanticType.FIELD, isNullable: true };
  const columnDefs = [
    { ...HOST, options: { options: { inverted_index: "true" } } },
    TS,
    { ...field, name: "n", dataType: Type.INT64, defaultConstraint: bytes('{"Value":{"Int64":-9223372036854775808}}'), comment: "count" },
    {
      ...field,
      name: "s",
      dataType: Type.STRING,
      options: { options: { skipping_index: "{}" } },
      defaultConstraint: bytes('{"Value":{"String":"it\'s"}}'),
    },
    { ...field, name: "at", dataType: Type.TIMESTAMP_NANOSECOND, defaultConstraint: bytes('{"Function":"now()"}') },
    {
      ...field,
      name: "d",
      dataType: Type.DECIMAL128,
      datatypeExtension: { typeExt: { case: "decimalType", value: { precision: 5, scale: 2 } } },
    },
  ] as const;
  const value = { tableName: "t", columnDefs, timeIndex: "ts", primaryKeys: ["host"], tableOptions: { ttl: "7d" }, desc: "all of it" };
  expect(await all.define({ case: "createTable", value })).toBe(0);
  const shown = await all.sql("SHOW CREATE TABLE t");
  for (const part of [
    '"host" STRING NULL INVERTED INDEX',
    "\"n\" BIGINT NULL DEFAULT -9223372036854775808 COMMENT 'count'",
    "DEFAULT 'it''s' SKIPPING INDEX",
    "DEFAULT now()",
    '"d" DECIMAL(5, 2) NULL',
    "comment = 'all of it'",
    "ttl = '7days'",
  ]) {
    expect(shown).toContain(part);
  }
  expect(await all.define(table("t"))).toStartWith("TableAlreadyExists");
  expect(await all.define(table("t", { createIfNotExists: true }))).toBe(0);
  expect(await all.define(table("u", { timeIndex: "" }))).toStartWith("InvalidSyntax: Missing time index");
  expect(await all.define(table("u", { schemaName: "none" }))).toStartWith("DatabaseNotFound");
  const list = { ...HOST, name: "l", dataType: Type.LIST };
  expect(await all.define(table("u", { columnDefs: [HOST, TS, list] }))).toContain("column name: l, error: columns of type LIST");
  const odd = { ...HOST, name: "o", defaultConstraint: bytes("{") };
  expect(await all.define(table("u", { columnDefs: [HOST, TS, odd] }))).toContain("default_constraint of column o");
});

test("each change of a table", async () => {
  const all = await Fixture.start();
  await all.define(table("t"));
  const alter = (kind: object, tableName = "t"): Promise<number | string> => all.define({ case: "alterTable", value: { tableName, kind } });
  const column = { name: "v", dataType: Type.INT32, semanticType: SemanticType.FIELD, isNullable: true };
  const first = { locationType: AddColumnLocation_LocationType.FIRST };
  const added = { addColumns: [{ columnDef: column, location: first }, { columnDef: { ...HOST, name: "zone" } }] };
  expect(await alter({ case: "addColumns", value: added })).toBe(0);
  expect(await alter({ case: "addColumns", value: added })).toStartWith("TableColumnExists");
  expect(await alter({ case: "addColumns", value: { addColumns: [{ columnDef: column, addIfNotExists: true }] } })).toBe(0);
  expect(await alter({ case: "modifyColumnTypes", value: { modifyColumnTypes: [{ columnName: "v", targetType: Type.INT64 }] } })).toBe(0);
  const defaults = { setDefaults: [{ columnName: "v", defaultConstraint: bytes('{"Value":{"Int64":3}}') }] };
  expect(await alter({ case: "setDefaults", value: defaults })).toBe(0);
  const skipping = { options: { case: "skipping", value: { columnName: "v", enable: true, granularity: 512n } } };
  expect(await alter({ case: "setIndexes", value: { setIndexes: [skipping] } })).toBe(0);
  expect(await alter({ case: "setIndex", value: { options: { case: "inverted", value: { columnName: "zone" } } } })).toBe(0);
  expect(await alter({ case: "setTableOptions", value: { tableOptions: [{ key: "ttl", value: "1d" }] } })).toBe(0);
  const shown = await all.sql("SHOW CREATE TABLE t");
  for (const part of ['"v" BIGINT NULL DEFAULT 3', "granularity = '512'", '"zone" STRING NULL INVERTED INDEX', "ttl = '1day'"]) {
    expect(shown).toContain(part);
  }
  expect(shown).toContain('PRIMARY KEY ("host", "zone")');
  expect(await alter({ case: "dropDefaults", value: { dropDefaults: [{ columnName: "v" }] } })).toBe(0);
  expect(
    await alter({ case: "unsetIndexes", value: { unsetIndexes: [{ options: { case: "skipping", value: { columnName: "v" } } }] } }),
  ).toBe(0);
  expect(await alter({ case: "unsetIndex", value: { options: { case: "inverted", value: { columnName: "zone" } } } })).toBe(0);
  expect(await alter({ case: "unsetTableOptions", value: { keys: ["ttl"] } })).toBe(0);
  expect(await all.sql("SHOW CREATE TABLE t")).not.toMatch(/INDEX WITH|INVERTED|ttl|DEFAULT/);
  expect(await alter({ case: "dropColumns", value: { dropColumns: [{ name: "v" }] } })).toBe(0);
  expect(await alter({ case: "renameTable", value: { newTableName: "u" } })).toBe(0);
  expect(await alter({ case: "repartition", value: {} }, "u")).toStartWith("Unsupported");
  expect(await alter({ case: undefined }, "u")).toContain("names no change");
  expect(await alter({ case: "renameTable", value: { newTableName: "w" } })).toStartWith("TableNotFound");
});

test("comments, views, flows, truncation, drops", async () => {
  const all = await Fixture.start();
  await put(all.machine.engine, "cpu,host=a v=1i 1000000\ncpu,host=b v=2i 2000000", AUTO);
  const comment = { objectType: CommentObjectType.COLUMN, objectName: "cpu", columnName: "v", comment: "said" };
  expect(await all.define({ case: "commentOn", value: comment })).toBe(0);
  expect(await all.define({ case: "commentOn", value: { objectName: "cpu", comment: "table" } })).toBe(0);
  expect(await all.sql("SHOW CREATE TABLE cpu")).toMatch(/COMMENT 'said'[^]*comment = 'table'/);
  const view = { viewName: "w", definition: "CREATE VIEW w AS SELECT v FROM cpu ORDER BY v" };
  expect(await all.define({ case: "createView", value: view })).toBe(0);
  expect(await all.sql("SELECT * FROM w")).toBe("1|2");
  expect(await all.define({ case: "createView", value: { viewName: "x", logicalPlan: bytes("plan") } })).toStartWith("Unsupported");
  expect(await all.define({ case: "createView", value: { viewName: "x", definition: "DROP TABLE cpu" } })).toContain("is no query");
  expect(await all.define({ case: "dropView", value: { viewName: "w" } })).toBe(0);
  expect(await all.define({ case: "dropView", value: { viewName: "w" } })).toStartWith("TableNotFound");
  const flow = { flowName: "f", sinkTableName: { tableName: "s" }, sql: "SELECT v FROM cpu" };
  expect(await all.define({ case: "createFlow", value: flow })).toStartWith("Unsupported");
  expect(await all.define({ case: "dropFlow", value: { flowName: "f" } })).toStartWith("FlowNotFound");
  expect(await all.define({ case: "dropFlow", value: { flowName: "f", dropIfExists: true } })).toBe(0);
  const ranges = { timeUnit: TimeUnit.MILLISECOND, timeRanges: [{ start: 2n, end: 1n }] };
  expect(await all.define({ case: "truncateTable", value: { tableName: "cpu", timeRanges: ranges } })).toContain("is after its end");
  expect(await all.define({ case: "truncateTable", value: { tableName: "cpu" } })).toBe(0);
  expect(await all.sql("SELECT count(*) FROM cpu")).toBe("0");
  expect(await all.define({ case: "dropTable", value: { tableName: "cpu" } }, "ro")).toStartWith("PermissionDenied");
  expect(await all.define({ case: "dropTable", value: { tableName: "cpu" } })).toBe(0);
  expect(await all.define({ case: "dropTable", value: { tableName: "cpu" } })).toStartWith("TableNotFound");
  expect(await all.define({ case: "dropTable", value: { tableName: "cpu", dropIfExists: true } })).toBe(0);
  expect(await all.define({ case: undefined })).toContain("the DdlRequest: it is empty");
});
