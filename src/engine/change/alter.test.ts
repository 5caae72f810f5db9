import { twoRows } from "../../../test/engine/two-rows.ts";
import { describe, expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { BOOLEAN, type DataType, DATE, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { ColumnDefinition, SchemaChange } from "../../table/schema.ts";

const field = (name: string, type: DataType = INT64): ColumnDefinition => ({ name, type, semantic: "field", nullable: true });

async function alter(machine: Machine, ...changes: SchemaChange[]): Promise<void> {
  await machine.engine.alterTable("public", "cpu", { kind: "several", changes });
}

/** The same answer now, after the log was replayed, from files, and after a restart. */
async function check(machine: Machine, projection: readonly string[], want: readonly string[]): Promise<void> {
  const same = async (): Promise<void> => expect(await read(machine.engine, "cpu", { projection })).toEqual([...want]);
  await same();
  await machine.crash();
  await same();
  await machine.engine.flushTable("public", "cpu");
  await same();
  await machine.engine.compactTable("public", "cpu");
  await same();
  await machine.restart();
  await same();
}

describe("tags that are added", () => {
  const tag = (name: string, value?: string | number): ColumnDefinition => ({
    name,
    type: typeof value === "number" ? INT64 : STRING,
    semantic: "tag",
    nullable: true,
    ...(value === undefined ? {} : { default: { kind: "literal", value } }),
  });
  const add = (column: ColumnDefinition): SchemaChange => ({ kind: "add-columns", columns: [column], ifNotExists: false });

  test("have their default in older rows, wherever these are, and in rows that leave them out", async () => {
    const machine = await twoRows();
    await alter(machine, add(tag("zone", "eu")), add(tag("rack", 7)), add(tag("plain")));
    await put(machine.engine, "cpu,host=c v=3i 3\ncpu,host=d,zone=us v=4i 4");
    const all = ["'a'|'eu'|'7'|NULL|1", "'b'|'eu'|'7'|NULL|2", "'c'|'eu'|'7'|NULL|3", "'d'|'us'|'7'|NULL|4"];
    await check(machine, ["host", "zone", "rack", "plain", "v"], all);
  });

  test("make a later row with the default's value the same series", async () => {
    const machine = await twoRows();
    await alter(machine, add(tag("zone", "eu")));
    await put(machine.engine, "cpu,host=a,zone=eu v=10i 1\ncpu,host=b v=20i 2");
    await check(machine, ["host", "zone", "v"], ["'a'|'eu'|10", "'b'|'eu'|20"]);
    expect(machine.engine.table("public", "cpu")?.statistics().seriesCount).toBe(2);
  });

  test("keep in older rows what they had when their default changes", async () => {
    const machine = await twoRows();
    await alter(machine, add(tag("zone", "eu")));
    await put(machine.engine, "cpu,host=c v=3i 3");
    await alter(machine, { kind: "set-default", column: "zone", default: { kind: "literal", value: "us" } });
    await put(machine.engine, "cpu,host=c v=4i 4");
    await alter(machine, { kind: "set-default", column: "zone", default: undefined });
    await put(machine.engine, "cpu,host=c v=5i 5");
    await check(machine, ["host", "zone", "v"], ["'a'|'eu'|1", "'b'|'eu'|2", "'c'|NULL|5", "'c'|'eu'|3", "'c'|'us'|4"]);
  });

  test("are found by their default in files that are older than they are and not open yet", async () => {
    const machine = await twoRows();
    await machine.engine.flushTable("public", "cpu");
    await alter(machine, add(tag("zone", "eu")), add(tag("plain")));
    const found = (column: string, ...values: readonly (string | undefined)[]): Promise<string[]> =>
      read(machine.engine, "cpu", { projection: ["host", "v"], tagPredicates: [{ kind: "in", column, values }] });
    const all = ["'a'|1", "'b'|2"];
    for (const [column, values, want] of [
      ["zone", ["eu"], all],
      ["zone", ["us", "eu"], all],
      ["zone", ["us"], []],
      ["zone", [undefined], []],
      ["plain", [undefined], all],
      ["plain", ["eu"], []],
    ] as const) {
      await machine.restart();
      expect({ column, values, found: await found(column, ...values) }).toEqual({ column, values, found: [...want] });
    }
    await alter(machine, { kind: "set-default", column: "zone", default: { kind: "literal", value: "us" } });
    await machine.restart();
    expect(await found("zone", "eu")).toEqual(all);
    await machine.restart();
    expect(await found("zone", "us")).toEqual([]);
  });

  test("are NULL in older rows without a default, with the empty text, and with current_timestamp()", async () => {
    const machine = await twoRows();
    const now: ColumnDefinition = { ...tag("at"), type: TIMESTAMP_NANOSECOND, default: { kind: "now" } };
    await alter(machine, add(tag("zone")), add(tag("empty", "")), add(now));
    await check(machine, ["host", "zone", "empty", "at"], ["'a'|NULL|NULL|NULL", "'b'|NULL|NULL|NULL"]);
  });
});

describe("a cast that fails where fields merge one by one", () => {
  test("is NULL, which leaves the place to an older value that is still stored", async () => {
    const machine = await Machine.start();
    await put(machine.engine, 'cpu,host=a v="1",w=1i 1', { tableOptions: { merge_mode: "last_non_null" } });
    await machine.engine.flushTable("public", "cpu");
    await put(machine.engine, 'cpu,host=a v="none" 1');
    await alter(machine, { kind: "change-type", column: "v", type: INT64 });
    await check(machine, ["v", "w"], ["1|1"]);
  });

  test("is NULL for good when the older value was merged away before", async () => {
    const machine = await Machine.start();
    await put(machine.engine, 'cpu,host=a v="1",w=1i 1', { tableOptions: { merge_mode: "last_non_null" } });
    await put(machine.engine, 'cpu,host=a v="none" 1');
    await machine.engine.flushTable("public", "cpu");
    await alter(machine, { kind: "change-type", column: "v", type: INT64 });
    await check(machine, ["v", "w"], ["NULL|1"]);
    await put(machine.engine, "cpu,host=a v=5i 1");
    await check(machine, ["v", "w"], ["5|1"]);
  });
});

describe("columns", () => {
  test("stand where they are put, in one change that is made whole or not at all", async () => {
    const machine = await twoRows();
    const columns = [
      { ...field("first"), place: { kind: "first" as const } },
      { ...field("second"), place: { kind: "after" as const, column: "first" } },
      { ...field("v"), ifNotExists: true },
    ];
    await alter(machine, { kind: "add-columns", columns, ifNotExists: false });
    const names = (): unknown => machine.engine.table("public", "cpu")?.schema.columns.map(({ name }) => name);
    expect(names()).toEqual(["first", "second", "host", "v", "greptime_timestamp"]);
    const bad = alter(machine, { kind: "drop-columns", names: ["first"] }, { kind: "drop-columns", names: ["none"] });
    expect(await refusal(bad)).toMatchObject({ code: "TableColumnNotFound", message: "Column none not exists in table cpu" });
    expect(names()).toEqual(["first", "second", "host", "v", "greptime_timestamp"]);
    await machine.crash();
    expect(names()).toEqual(["first", "second", "host", "v", "greptime_timestamp"]);
  });

  test("that are dropped and added again are other columns", async () => {
    const machine = await twoRows();
    await alter(machine, { kind: "drop-columns", names: ["v"] });
    await check(machine, ["host"], ["'a'", "'b'"]);
    await alter(machine, {
      kind: "add-columns",
      columns: [{ ...field("v"), default: { kind: "literal", value: 7 } }, field("w")],
      ifNotExists: false,
    });
    await check(machine, ["host", "v", "w"], ["'a'|7|NULL", "'b'|7|NULL"]);
  });

  test("a decoder that knew a dropped column makes it again", async () => {
    const machine = await twoRows();
    await alter(machine, { kind: "drop-columns", names: ["v"] });
    await put(machine.engine, 'cpu,host=c v="text" 3');
    await check(machine, ["host", "v"], ["'a'|NULL", "'b'|NULL", "'c'|'text'"]);
  });

  test.each([
    [{ kind: "drop-columns", names: ["host"] }, "InvalidArguments", "Not allowed to remove index column host from table cpu"],
    [{ kind: "drop-columns", names: ["greptime_timestamp"] }, "InvalidArguments", "Not allowed to remove index column greptime_timestamp"],
    [{ kind: "change-type", column: "none", type: STRING }, "TableColumnNotFound", "Column none not exists in table cpu"],
    [{ kind: "change-type", column: "host", type: INT64 }, "InvalidArguments", "primary key index column 'host'"],
    [{ kind: "change-type", column: "greptime_timestamp", type: INT64 }, "InvalidArguments", "timestamp index column"],
    [{ kind: "change-type", column: "v", type: { kind: "binary" } }, "InvalidArguments", "column 'v' cannot be cast automatically to type"],
    [
      { kind: "add-columns", columns: [{ ...field("k"), nullable: false }], ifNotExists: false },
      "InvalidArguments",
      "Invalid alter table(cpu) request: no default value for column k",
    ],
    [
      { kind: "add-columns", columns: [{ ...field("k"), place: { kind: "after", column: "x" } }], ifNotExists: false },
      "TableColumnNotFound",
      "Column x not exists in table cpu",
    ],
    [{ kind: "add-columns", columns: [field("v")], ifNotExists: false }, "TableColumnExists", "Column v already exists in table cpu"],
    [{ kind: "rename", name: "a\tb" }, "InvalidArguments", "Invalid table name: a b: it holds a control character"],
  ] as readonly (readonly [SchemaChange, string, string])[])("%j is refused", async (change, code, message) => {
    const machine = await twoRows();
    const answer = await refusal(alter(machine, change));
    expect(answer.code).toBe(code);
    expect(answer.message).toContain(message);
  });
});

describe("types", () => {
  test("change for rows in files, in memory and in the log alike, and again", async () => {
    const machine = await twoRows();
    await alter(machine, { kind: "change-type", column: "v", type: STRING });
    await put(machine.engine, 'cpu,host=c v="x" 3');
    await alter(machine, { kind: "add-columns", columns: [field("w")], ifNotExists: false });
    await check(machine, ["host", "v"], ["'a'|'1'", "'b'|'2'", "'c'|'x'"]);
    await alter(machine, { kind: "change-type", column: "v", type: FLOAT64 });
    await put(machine.engine, "cpu,host=d v=1.5 4");
    await check(machine, ["v"], ["1", "2", "NULL", "1.5"]);
    expect(() => put(machine.engine, 'cpu,host=d v="x" 5')).toThrow("column v: expected DOUBLE, got STRING");
  });

  test("take the value as it was written while it is only in memory", async () => {
    const machine = await Machine.start();
    await put(machine.engine, "cpu,host=a v=0.1 1");
    await alter(machine, { kind: "change-type", column: "v", type: BOOLEAN }, { kind: "change-type", column: "v", type: INT64 });
    expect(await read(machine.engine, "cpu", { projection: ["v"] })).toEqual(["0"]);
    await alter(machine, { kind: "change-type", column: "v", type: STRING });
    expect(await read(machine.engine, "cpu", { projection: ["v"] })).toEqual(["'0.1'"]);
  });

  test("a write under way when its column changes is read under the new type", async () => {
    const machine = await twoRows();
    machine.wal.hold();
    const write = put(machine.engine, "cpu,host=c v=3i 3");
    await alter(machine, { kind: "change-type", column: "v", type: STRING });
    machine.wal.release();
    await write;
    await check(machine, ["v"], ["'1'", "'2'", "'3'"]);
  });

  test("a flush under way when its column changes writes what is then cast", async () => {
    const machine = await twoRows();
    machine.holdFlush();
    const flushed = machine.engine.flushTable("public", "cpu");
    await alter(machine, { kind: "change-type", column: "v", type: FLOAT64 });
    machine.releaseFlush();
    await flushed;
    await check(machine, ["v"], ["1", "2"]);
  });

  test("defaults are cast with their column; current_timestamp() stays one of times only", async () => {
    const machine = await twoRows();
    const added: ColumnDefinition = { ...field("d", FLOAT64), default: { kind: "literal", value: 0.5 } };
    const at: ColumnDefinition = { ...field("at", TIMESTAMP_NANOSECOND), default: { kind: "now" } };
    await alter(machine, { kind: "add-columns", columns: [added, at], ifNotExists: false });
    await alter(machine, { kind: "change-type", column: "d", type: STRING }, { kind: "change-type", column: "at", type: DATE });
    const columns = machine.engine.table("public", "cpu")?.schema.columns.slice(-2);
    expect(columns?.map((column) => column.default)).toEqual([
      { kind: "literal", value: "0.5" },
      { kind: "literal", value: undefined },
    ]);
    await check(machine, ["d"], ["'0.5'", "'0.5'"]);
  });
});

describe("defaults", () => {
  test("that change leave older rows as they are", async () => {
    const machine = await twoRows();
    await alter(machine, {
      kind: "add-columns",
      columns: [{ ...field("k"), default: { kind: "literal", value: 100 } }, field("n")],
      ifNotExists: false,
    });
    await alter(
      machine,
      { kind: "set-default", column: "k", default: { kind: "literal", value: 101 } },
      { kind: "set-default", column: "n", default: { kind: "literal", value: 9 } },
    );
    await put(machine.engine, "cpu,host=c v=3i 3");
    await check(machine, ["k", "n"], ["100|NULL", "100|NULL", "101|9"]);
    await alter(machine, { kind: "set-default", column: "k", default: undefined });
    await put(machine.engine, "cpu,host=d v=3i 4");
    await check(machine, ["k"], ["100", "100", "101", "NULL"]);
  });

  test("of NOT NULL columns stay", async () => {
    const machine = await twoRows();
    const columns = [{ ...field("o"), nullable: false, default: { kind: "literal" as const, value: 1 } }];
    await alter(machine, { kind: "add-columns", columns, ifNotExists: false });
    const dropped = refusal(alter(machine, { kind: "set-default", column: "o", default: undefined }));
    expect((await dropped).message).toBe("Invalid alter table(cpu) request: column o is not nullable and `default` cannot be dropped");
    const retyped = refusal(alter(machine, { kind: "change-type", column: "o", type: STRING }));
    expect((await retyped).message).toBe("Invalid alter table(cpu) request: column 'o' must be nullable to ensure safe conversion.");
  });
});

test("a renamed table keeps its rows, and its old name is free at once", async () => {
  const machine = await twoRows();
  await machine.engine.alterTable("public", "cpu", { kind: "rename", name: "old" });
  await put(machine.engine, "cpu,host=z v=9i 9");
  await put(machine.engine, "old,host=c v=3i 3");
  const rename = machine.engine.alterTable("public", "old", { kind: "rename", name: "cpu" });
  expect(await refusal(rename)).toMatchObject({
    code: "TableAlreadyExists",
    message: "Table already exists, table: greptime.public.cpu",
  });
  for (const again of [() => machine.crash(), () => machine.engine.flushTable("public", "old"), () => machine.restart()]) {
    expect(await read(machine.engine, "old", { projection: ["host"] })).toEqual(["'a'", "'b'", "'c'"]);
    expect(await read(machine.engine, "cpu", { projection: ["host"] })).toEqual(["'z'"]);
    await again();
  }
});

test("a table that stops merging keeps what it merged", async () => {
  const machine = await twoRows();
  await put(machine.engine, "cpu,host=b v=20i 2");
  await alter(machine, { kind: "set-options", options: { append_mode: "true" } });
  await put(machine.engine, "cpu,host=b v=200i 2");
  expect((await read(machine.engine, "cpu", { projection: ["v"] })).sort()).toEqual(["1", "20", "200"]);
});

test("a spread that changed is kept, with the times that it holds for", async () => {
  const machine = await twoRows();
  const spread = async (value: number | undefined, from: bigint): Promise<readonly unknown[]> => {
    await alter(machine, { kind: "set-spread", spread: value, from });
    await machine.crash();
    const schema = machine.engine.table("public", "cpu")?.schema;
    return [schema?.options["spread"], schema?.spreads];
  };
  expect(await spread(8, 100n)).toEqual(["8", [{ spread: 4 }, { from: 100n, spread: 8 }]]);
  expect(await spread(undefined, 200n)).toEqual([undefined, [{ spread: 4 }, { from: 100n, spread: 8 }, { from: 200n, spread: 4 }]]);
  expect(await spread(8, 200n)).toEqual(["8", [{ spread: 4 }, { from: 100n, spread: 8 }]]);
  expect(await spread(4, 50n)).toEqual(["4", undefined]);
});

test("options of a database are changed and taken away, durably", async () => {
  const machine = await twoRows();
  await machine.engine.alterDatabase("public", { ttl: "1day", storage: "File" });
  await machine.engine.alterDatabase("public", { storage: undefined });
  await machine.crash();
  expect(machine.engine.database("public")?.options).toEqual({ ttl: "1day" });
  expect((await refusal(machine.engine.alterDatabase("none", {}))).code).toBe("DatabaseNotFound");
  expect((await refusal(machine.engine.alterDatabase("information_schema", {}))).code).toBe("InvalidArguments");
});
