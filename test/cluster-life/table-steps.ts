/** Steps that change tables: what they are, and where and how their rows lie. */
import type { ColumnDefinition, SchemaChange } from "../../src/table/schema.ts";
import { LINE_TYPES, sayable } from "../engine/line-text.ts";
import { definitionOf, type LiveTable, newLiveTable, rowsFor } from "../engine/live-table.ts";
import { OldNumbers } from "../engine/old-numbers.ts";
import { fieldColumn, pick, randomColumn, randomRetype, randomValue } from "../engine/random-table.ts";
import { DATABASE, type LifeState, TIME } from "./life-state.ts";
import { put } from "./row-steps.ts";

/** Makes a table, now and then with the name of one that is gone. */
export async function create(life: LifeState): Promise<void> {
  const { random } = life;
  const number = life.created++;
  const name = random.below(3) === 0 && number > 0 ? freeName(life) : `t${number}`;
  life.doing = `create ${name}`;
  const table = newLiveTable(random, name, TIME);
  table.model.livingFrom = () => life.ttls.livingFrom(table.ttl, table.random.unit);
  await life.alter((engine, tries) => engine.createTable(definitionOf(table, DATABASE), tries > 0));
  life.tables.push(table);
}

/** The name of a table that was dropped, if there is one. */
function freeName({ created, tables }: LifeState): string {
  for (let i = 0; i < created; i++) if (!tables.some(({ name }) => name === `t${i}`)) return `t${i}`;
  return `t${created}`;
}

/** Drops a table. */
export async function drop(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `drop ${table.name}`;
  life.tables.splice(life.tables.indexOf(table), 1);
  await life.alter((engine, tries) => engine.dropTable(DATABASE, table.name, tries > 0));
}

/** Writes all rows of a table to files. */
export async function flush(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `flush ${table.name}`;
  await life.insist(async () => {
    const { frontend } = await life.frontend();
    await frontend.engine.flushTable(DATABASE, table.name);
  });
}

/** Merges all files of a table. */
export async function compact(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `compact ${table.name}`;
  await life.insist(async () => {
    const { frontend } = await life.frontend();
    await frontend.engine.compactTable(DATABASE, table.name);
  });
}

/** Another ttl, or time passes. What has expired is gone for good before a ttl may become longer. */
export async function changeTtl(life: LifeState, table: LiveTable): Promise<void> {
  for (const one of life.tables) {
    await flush(life, one);
    await compact(life, one);
    one.model.removeExpired();
  }
  const change = life.ttls.next();
  life.doing = `ttl of ${table.name}: ${JSON.stringify(change)}`;
  if (change.kind === "clock") return;
  if (change.kind === "table") table.ttl = change.ttl;
  const options = { ttl: change.ttl };
  await life.alter((engine) =>
    change.kind === "table"
      ? engine.alterTable(DATABASE, table.name, { kind: "set-options", options })
      : engine.alterDatabase(DATABASE, options),
  );
}

/** Changes what a table is, one way or the other. */
export async function changeTable(life: LifeState, table: LiveTable): Promise<void> {
  const steps = [addColumn, addColumn, dropColumn, changeType, changeType, changeDefault, changeSpread, rename, truncate];
  await pick(life.random, steps)(life, table);
}

async function addColumn(life: LifeState, table: LiveTable): Promise<void> {
  if (table.isLines) return addColumnByLine(life, table);
  const column = randomColumn(life.random, table.nextColumn++);
  life.doing = `add ${column.name} to ${table.name}`;
  await life.alter((engine, tries) =>
    engine.alterTable(DATABASE, table.name, { kind: "add-columns", columns: [column], ifNotExists: tries > 0 }),
  );
  table.model.addColumn(column);
  if (column.semantic === "tag") life.numbers = new OldNumbers(life.random); // Nobody reads a tag under numbers that are older than it.
}

async function addColumnByLine(life: LifeState, table: LiveTable): Promise<void> {
  const { random } = life;
  const { model } = table;
  const column = fieldColumn(`field${table.nextColumn++}`, pick(random, LINE_TYPES));
  life.doing = `add ${column.name} to ${table.name} by a line`;
  if (model.livingFrom() !== undefined) return; // A row that has expired makes no column.
  const row = sayable(model, rowsFor(random, table).rows)[0];
  const value = column.type.kind === "string" ? "first" : column.type.kind === "boolean" ? true : 1;
  if (row === undefined) return;
  model.addColumn(column);
  await put(life, table, [{ given: new Set(), rows: [new Map([...row, [column.name, value] as const])] }]);
}

function fieldsOf({ model }: LiveTable): ColumnDefinition[] {
  return model.columns.filter(({ semantic }) => semantic === "field");
}

/** Half of the time another column takes its name at once. */
async function dropColumn(life: LifeState, table: LiveTable): Promise<void> {
  const fields = fieldsOf(table);
  if (fields.length < 2) return;
  const { name } = pick(life.random, fields);
  life.doing = `drop column ${name} of ${table.name}`;
  await life.alter(async (engine, tries) => {
    const isGone = engine.table(DATABASE, table.name)?.schema.columns.every((column) => column.name !== name) === true;
    if (tries === 0 || !isGone) await engine.alterTable(DATABASE, table.name, { kind: "drop-columns", names: [name] });
  });
  table.model.dropColumn(name);
  table.retyped.delete(name);
  if (table.isLines || life.random.below(2) === 0) return;
  const column = { ...randomColumn(life.random, 0), name, semantic: "field" as const };
  const change: SchemaChange = { kind: "add-columns", columns: [column], ifNotExists: false };
  await life.alter((engine, tries) => engine.alterTable(DATABASE, table.name, { ...change, ifNotExists: tries > 0 }));
  table.model.addColumn(column);
}

async function changeType(life: LifeState, table: LiveTable): Promise<void> {
  const { random } = life;
  const { name, type: from } = pick(random, fieldsOf(table));
  const type = randomRetype(random, from, table.isLines, table.model.mode === "last_non_null");
  if (type === undefined || table.retyped.has(name)) return;
  life.doing = `make ${name} of ${table.name}, ${from.kind}, ${JSON.stringify(type)}`;
  table.retyped.add(name);
  await life.alter(async (engine, tries) => {
    const now = engine.table(DATABASE, table.name)?.schema.columns.find((column) => column.name === name)?.type;
    const isDone = tries > 0 && Bun.deepEquals(now, type);
    if (!isDone) await engine.alterTable(DATABASE, table.name, { kind: "change-type", column: name, type });
  });
  table.model.changeType(name, type);
}

async function changeDefault(life: LifeState, table: LiveTable): Promise<void> {
  if (table.isLines) return;
  const { name, type } = pick(life.random, fieldsOf(table));
  const value = life.random.below(3) === 0 ? undefined : randomValue(life.random, type);
  life.doing = `set the default of ${name} of ${table.name}`;
  const chosen = value === undefined ? undefined : { kind: "literal" as const, value };
  await life.alter((engine) => engine.alterTable(DATABASE, table.name, { kind: "set-default", column: name, default: chosen }));
  table.model.setDefault(name, value);
}

/** Holds behind all rows: nothing that is seen changes, but for statements that began before and read rows that came after. */
async function changeSpread(life: LifeState, table: LiveTable): Promise<void> {
  const spread = pick(life.random, [undefined, 1, 2, 8]);
  life.doing = `spread ${table.name} over ${spread} shards`;
  const from = BigInt(life.random.below(1000));
  await life.alter((engine) => engine.alterTable(DATABASE, table.name, { kind: "set-spread", spread, from }));
  life.numbers = new OldNumbers(life.random);
}

async function rename(life: LifeState, table: LiveTable): Promise<void> {
  const name = `t${life.created++}`;
  life.doing = `rename ${table.name} to ${name}`;
  await life.alter(async (engine, tries) => {
    const isDone = tries > 0 && engine.table(DATABASE, name) !== undefined;
    if (!isDone) await engine.alterTable(DATABASE, table.name, { kind: "rename", name });
  });
  table.name = name;
}

async function truncate(life: LifeState, table: LiveTable): Promise<void> {
  life.doing = `truncate ${table.name}`;
  await life.insist(async () => {
    const { frontend } = await life.frontend();
    await frontend.engine.truncateTable(DATABASE, table.name);
  });
  table.model.clear();
}
