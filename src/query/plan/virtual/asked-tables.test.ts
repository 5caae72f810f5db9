/** Lists of tables whose rows are elsewhere, some of them where nobody answers. */
import { beforeEach, expect, test } from "bun:test";
import { rowsHere } from "../../../../test/support/cluster/rows-here.ts";
import { errorOf, failureOf } from "../../../../test/support/failure-of.ts";
import { QueryFixture, runSql } from "../../../../test/support/query-fixture.ts";
import { systemClock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Table } from "../../../table/catalog.ts";
import { newConnection } from "../../connection.ts";
import { asked } from "./asked-tables.ts";

const noOwner = async (): Promise<void> => {
  throw new DbError(StatusCode.StorageUnavailable, "shard 1 has no owner");
};
const never = (): Promise<void> => new Promise(() => undefined);
const answers = async (): Promise<void> => undefined;
const { signal } = new AbortController();

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  for (const name of ["a", "b", "c"]) {
    await fixture.sql(`CREATE TABLE ${name} (ts TIMESTAMP TIME INDEX, v DOUBLE)`);
    await fixture.sql(`INSERT INTO ${name} VALUES (1, 1), (2, 2)`);
  }
});

function tableOf(name: string, refreshed: NonNullable<Table["refreshed"]>): Table {
  const table = fixture.catalog.table("public", name);
  if (table === undefined) throw new Error("it was made");
  return Object.assign(table, { refreshed });
}

rowsHere("sizes without a question").test("sizes of a table whose shard does not answer are NULL; all else is there", async () => {
  tableOf("a", answers);
  tableOf("b", noOwner);
  const rows = async (sql: string): Promise<unknown> => (await fixture.sql(sql)).rows;
  expect(
    await rows(
      "SELECT table_name, table_rows, data_length, avg_row_length, engine, max_data_length FROM information_schema.tables " +
        "WHERE table_schema = 'public' AND table_name <> 'numbers' ORDER BY 1",
    ),
  ).toEqual([
    ["a", 2, 200, 100, "mito", 0],
    ["b", undefined, undefined, undefined, "mito", 0],
    ["c", 2, 200, 100, "mito", 0],
  ]);
  expect(
    await rows("SELECT region_rows, disk_size, sst_num, region_role FROM information_schema.region_statistics ORDER BY table_id"),
  ).toEqual([
    [2, 0, 0, "Leader"],
    [undefined, undefined, undefined, "Leader"],
    [2, 0, 0, "Leader"],
  ]);
  expect(await rows("SELECT flushed_sequence, state FROM information_schema.region_info ORDER BY table_id")).toEqual([
    [0, "Leader(Writable)"],
    [undefined, "Leader(Writable)"],
    [0, "Leader(Writable)"],
  ]);
  const variables = { ...fixture.context.variables, connection: newConnection("postgres", signal) };
  const classes = "SELECT relname, reltuples FROM pg_catalog.pg_class WHERE relname IN ('a', 'b') ORDER BY 1";
  expect((await runSql(classes, { ...fixture.context, variables })).rows).toEqual([
    ["a", 2],
    ["b", -1],
  ]);
  const status = (await fixture.sql("SHOW TABLE STATUS")) as { readonly rows: readonly (readonly unknown[])[] };
  expect(status.rows.map((row) => [row[0], row[4]])).toEqual([
    ["a", 2],
    ["b", undefined],
    ["c", 2],
    ["numbers", undefined],
  ]);
});

test("files are a row each: that some are not known is said, and nothing is left out", async () => {
  tableOf("b", noOwner);
  for (const list of ["ssts_manifest", "ssts_storage"]) {
    const { code, message } = await failureOf(fixture.sql(`SELECT * FROM information_schema.${list}`));
    expect([code, message]).toEqual([
      StatusCode.StorageUnavailable,
      `cannot list files in ${list}: a shard of 1 table does not answer; region_peers says which have no owner`,
    ]);
  }
});

test("who does not answer is waited for only so long, for all at once", async () => {
  const tables = [tableOf("a", answers), tableOf("b", never), tableOf("c", never)];
  const begun = systemClock.monotonicMillis();
  const unanswered = await asked(tables, "figures", signal, 60);
  expect(unanswered).toEqual(new Set(tables.slice(1).map(({ schema }) => schema.id)));
  expect(systemClock.monotonicMillis() - begun).toBeLessThan(2000);
});

rowsHere("sizes without a question").test("nobody is asked where all rows are here", () => {
  expect(asked(fixture.catalog.tables("public"), "figures", signal)).toBeUndefined();
});

test("a client that leaves ends the wait, and what is no trouble of a shard is thrown", async () => {
  const leaving = new AbortController();
  const left = failureOf(asked([tableOf("a", never)], "figures", leaving.signal) ?? answers());
  leaving.abort();
  expect(await left).toMatchObject({ code: StatusCode.Cancelled });
  const mistake = async (): Promise<void> => {
    throw new TypeError("a mistake");
  };
  expect(await errorOf(asked([tableOf("b", mistake)], "figures", signal) ?? answers())).toBeInstanceOf(TypeError);
});
