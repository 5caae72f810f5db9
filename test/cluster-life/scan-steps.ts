/** Steps that read: each answer has to be what the model says, whatever frontend is asked. */
import { ALL_TIME } from "../../src/table/scan.ts";
import { checkScan, startScan } from "../engine/check-scan.ts";
import { describe } from "../engine/life-words.ts";
import type { LiveTable } from "../engine/live-table.ts";
import { pick, randomScan } from "../engine/random-table.ts";
import { sqlRows } from "../engine/sql-session.ts";
import { DATABASE, type LifeState, TIME } from "./life-state.ts";

/** A random scan through one of the frontends. */
export async function check(life: LifeState, table: LiveTable): Promise<void> {
  const request = randomScan(life.random, table.random, table.model);
  life.doing = `${life.doing.slice(0, 60)}; scan ${table.name} (${table.model.mode}) ${describe(request)}`;
  await life.insist(async () => {
    const found = life.tableOf(await life.frontend(), table);
    await checkScan(found, table.model, { ...request, numbers: life.numbers.of(found) });
  });
}

/** A scan, and the bounds of the table's times. */
export async function scan(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = "";
  await check(life, table);
  const bounds = await life.insist(async () => {
    const found = life.tableOf(await life.frontend(), table);
    await found.refreshed?.("figures");
    return found.timeBounds();
  });
  for (const row of table.model.scan({ timeRange: ALL_TIME, tagPredicates: [] })) {
    const time = row.get(TIME) as bigint;
    if (bounds === undefined || time < bounds.start || time >= bounds.end) throw new Error(`time bounds hold ${time}`);
  }
}

/** All of a table through every frontend. */
async function checkWhole(life: LifeState, table: LiveTable): Promise<void> {
  const { columns } = table.model;
  const request = { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "series-time" as const };
  const projection = columns.map(({ name }) => name);
  for (const each of life.machine.frontends) {
    life.doing = `${life.doing.slice(0, 60)}; all of ${table.name} (${table.model.mode}) through ${each.name}`;
    await life.insist(async () => {
      if (!life.machine.frontends.includes(each)) return; // It died meanwhile.
      await each.frontend.refresh();
      await checkScan(life.tableOf(each, table), table.model, { ...request, projection });
    });
  }
}

/** What runs while a scan stands still: the rows stay what they are. */
export async function scanBeside(life: LifeState, table: LiveTable, other: () => Promise<void>): Promise<void> {
  const request = randomScan(life.random, table.random, table.model);
  const doing = `scan ${table.name} (${table.model.mode}) ${describe(request)} beside another`;
  let isDone = false;
  await life.insist(async () => {
    life.doing = doing;
    const started = await startScan(life.tableOf(await life.frontend(), table), table.model, request);
    if (!isDone) await other();
    isDone = true;
    life.doing = `${doing}: ${life.doing}`.slice(0, 400);
    await started.finish();
  });
}

/** Counts by SQL, which runs where the rows are. */
export async function checkCounts(life: LifeState, table: LiveTable): Promise<void> {
  const { model } = table;
  const tag = model.tagNames.length === 0 ? undefined : pick(life.random, model.tagNames);
  const field = pick(
    life.random,
    model.columns.filter(({ semantic }) => semantic === "field"),
  ).name;
  const rows = model.scan({ timeRange: ALL_TIME, tagPredicates: [] });
  const groups = new Map<string, [rows: number, values: number]>();
  if (tag === undefined) groups.set("", [0, 0]);
  for (const row of rows) {
    const key = tag === undefined ? "" : JSON.stringify(row.get(tag) ?? null);
    const [all, values] = groups.get(key) ?? [0, 0];
    groups.set(key, [all + 1, values + (row.get(field) === undefined ? 0 : 1)]);
  }
  const by = tag === undefined ? "" : `"${tag}", `;
  const text = `SELECT ${by}count(*), count("${field}") FROM "${table.name}"${tag === undefined ? "" : ` GROUP BY "${tag}"`}`;
  life.doing = text;
  const want = Array.from(groups, ([key, [all, values]]) => [...(tag === undefined ? [] : [key]), all, values].join(" "));
  await life.insist(async () => {
    const { db } = await life.frontend();
    const got = (await sqlRows(db, text)).map((cells) => cells.join(" "));
    if (got.sort().join("\n") !== want.sort().join("\n")) throw new Error(`counts; got ${got.join(", ")}; want ${want.join(", ")}`);
  });
}

/** Every frontend has the tables that there are, and their rows. */
export async function checkAll(life: LifeState): Promise<void> {
  const want = life.tables.map(({ name }) => name).sort();
  for (const each of life.machine.frontends) {
    life.doing = `tables of ${each.name}`;
    await life.insist(async () => {
      if (!life.machine.frontends.includes(each)) return; // It died meanwhile.
      await each.frontend.refresh();
      const got = each.frontend.engine.tables(DATABASE).map(({ schema }) => schema.name);
      if (got.sort().join() !== want.join()) throw new Error(`tables: got ${got.join()}; want ${want.join()}`);
    });
  }
  for (const table of life.tables) await checkWhole(life, table);
}
