/** COPY of a table, a query or a database, to files and from files (contract query.md 1.10). */
import { Pace } from "../../../base/scheduler/pace.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Table } from "../../../table/catalog.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { databaseNotFound, tableNotFound } from "../../../table/not-found.ts";
import type { FileAccess, FoundFile } from "../../../table/file-access.ts";
import { isFileTable } from "../../../table/file-table.ts";
import { isPhysicalTable, physicalWriteRefusal } from "../../../table/metric.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import { type CopyOptions, copyOptions } from "../../copy/copy-options.ts";
import { exportRows, firstRows } from "../../copy/export.ts";
import { fileRows } from "../../copy/file-reader.ts";
import { COPY_FILES_MAX } from "../../copy/limits.ts";
import { timeWindow } from "../../copy/time-window.ts";
import { type ExecOptions, prepareSelect } from "../shared/select.ts";
import { answer } from "../../operator/answer.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { resolveName } from "../../plan/from/source.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Expression, ObjectName, Query } from "../../sql/syntax/ast.ts";
import { plainSelect } from "../../sql/syntax/plain-trees.ts";
import type { Copy } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { fileStemOf, tableNameOf } from "./copy-file-name.ts";
import { CopyImport, withWrittenRows } from "./copy-import.ts";
import { checkWritable } from "../table/create-table.ts";
import { checkNoFileTable } from "../table/external-table.ts";
import { checkNoView } from "../shared/no-view.ts";

type CopyOf<K extends Copy["subject"]["kind"]> = Extract<Copy["subject"], { kind: K }>;

/** What the tables and files of one statement share. */
interface Job {
  readonly statement: Copy;
  readonly files: FileAccess;
  /** Keys in lower case. */
  readonly connection: Readonly<Record<string, string>>;
  readonly options: CopyOptions;
  readonly context: QueryContext;
  readonly exec: ExecOptions;
}

/** Copies rows; the count is that of rows copied. @throws DbError */
export async function copy(statement: Copy, context: QueryContext, exec: ExecOptions): Promise<StatementResult> {
  const { subject, direction } = statement;
  const options = copyOptions(statement.options, subject.kind === "database" ? `database-${direction}` : direction);
  const connection = Object.fromEntries(Object.entries(statement.connection).map(([key, value]) => [key.toLowerCase(), value]));
  const job: Job = { statement, files: filesOf(context), connection, options, context, exec };
  return { kind: "affected", rowCount: await copied(subject, job) };
}

/** The files that statements may reach. @throws DbError Unsupported where there are none */
function filesOf({ files }: QueryContext): FileAccess {
  if (files === undefined) throw new DbError(StatusCode.Unsupported, "cannot copy: this server reaches no files");
  return files;
}

function copied(subject: Copy["subject"], job: Job): Promise<number> {
  const { direction, location, limit } = job.statement;
  switch (subject.kind) {
    case "query":
      if (job.options.startTime !== undefined || job.options.endTime !== undefined)
        throw invalidArguments("cannot copy a query: start_time and end_time are of tables; put the range into the query");
      return queryTo(subject.query, location, limit, job);
    case "table":
      return direction === "to" ? tableTo(subject.name, location, limit, job) : tableFrom(subject.name, location, limit, job);
    case "database":
      return direction === "to" ? databaseTo(subject, job) : databaseFrom(subject, job);
  }
}

async function queryTo(query: Query, location: string, limit: number | undefined, job: Job): Promise<number> {
  const { plan, exec } = await prepareSelect(query, job.context, job.exec);
  const batches = limit === undefined ? answer(plan, exec) : firstRows(answer(plan, exec), limit);
  const to = { files: job.files, location, connection: job.connection };
  return exportRows({ headers: plan.columns, batches }, to, job.options, exec);
}

function tableTo(name: ObjectName, location: string, limit: number | undefined, job: Job): Promise<number> {
  const { options, context, statement } = job;
  const resolved = resolveName(name, context.variables.database);
  const table = context.catalog.table(resolved.database, resolved.table);
  const { span } = statement;
  const bounds = [
    [">=", options.startTime],
    ["<", options.endTime],
  ] as const;
  let where: Expression | undefined;
  for (const [operator, text] of bounds) {
    if (text === undefined) continue;
    if (table === undefined) {
      checkNoView(resolved, "copy a range of times of", context, "; copy a query of it");
      throw tableNotFound(resolved.database, resolved.table);
    }
    const time = timeIndexOf(table.schema);
    if (time.type.kind === "timestamp") timeWindow(options, time.type.unit, context.variables.timeZone);
    const left: Expression = { kind: "column", name: [time.name], quoted: false, span };
    const bound: Expression = { kind: "binary", operator, left, right: { kind: "string", value: text, span }, span };
    where = where === undefined ? bound : { kind: "binary", operator: "and", left: where, right: bound, span };
  }
  const items = [{ kind: "star", table: undefined, span }] as const;
  const select = plainSelect({ items, from: { kind: "table", name, alias: undefined, span }, where, span });
  return queryTo(select, location, limit, job);
}

async function tableFrom(name: ObjectName, location: string, limit = Number.POSITIVE_INFINITY, job: Job): Promise<number> {
  const { options, context } = job;
  const resolved = resolveName(name, context.variables.database);
  checkWritable(resolved.database);
  const table = context.catalog.table(resolved.database, resolved.table);
  if (table === undefined) {
    checkNoView(resolved, "copy into", context);
    throw tableNotFound(resolved.database, resolved.table);
  }
  if (isPhysicalTable(table.schema)) throw new DbError(StatusCode.Unsupported, physicalWriteRefusal(resolved.table));
  checkNoFileTable(table.schema);
  const found = matching(await job.files.list(location, job.connection), options, location);
  const { type } = timeIndexOf(table.schema);
  const range = timeWindow(options, type.kind === "timestamp" ? type.unit : "millisecond", context.variables.timeZone);
  const target = { schema: table.schema, named: [], environment: environmentOf(context.clock, context.variables) };
  const rows = new CopyImport(target, resolved.database, context, options, range, limit);
  const names = table.schema.columns.map((column) => column.name);
  try {
    for (const { location: one } of found) {
      if (rows.isFull) break;
      await fileInto(rows, one, names, job);
    }
    await rows.finish();
  } catch (thrown) {
    throw withWrittenRows(thrown, rows);
  }
  return rows.rowCount;
}

async function fileInto(
  rows: CopyImport,
  location: string,
  names: readonly string[],
  { files, connection, options, context }: Job,
): Promise<void> {
  const file = await files.open(location, connection);
  try {
    for await (const part of fileRows(file, names, options, new Pace(context.scheduler))) {
      await rows.take(part, location);
      if (rows.isFull) break;
    }
  } finally {
    await file.close();
  }
}

/** The files whose names the pattern allows. @throws DbError InvalidArguments for too many */
function matching(files: readonly FoundFile[], { pattern }: CopyOptions, location: string): readonly FoundFile[] {
  const found = pattern === undefined ? files : files.filter(({ name }) => pattern.test(name));
  if (found.length > COPY_FILES_MAX)
    throw invalidArguments(`cannot read '${location}': ${found.length} files, at most ${COPY_FILES_MAX} go at a time`);
  return found;
}

/** A folder's location. @throws DbError InvalidArguments */
function folderOf(location: string): string {
  if (location.endsWith("/")) return location;
  throw invalidArguments(`cannot copy a database: '${location}' must be a folder; end it with '/'`);
}

function databaseTo({ name }: CopyOf<"database">, job: Job): Promise<number> {
  const { catalog } = job.context;
  if (catalog.database(name) === undefined) throw databaseNotFound(name);
  const folder = folderOf(job.statement.location);
  const tables = catalog.tables(name).filter(({ schema }: Table) => !isPhysicalTable(schema) && !isFileTable(schema));
  const steps = tables.map(({ schema }) => {
    const file = `${folder}${fileStemOf(schema.name)}.${job.options.format}`;
    return () => tableTo([CATALOG_NAME, name, schema.name], file, undefined, job);
  });
  return allOf(steps, job.options);
}

async function databaseFrom({ name }: CopyOf<"database">, job: Job): Promise<number> {
  checkWritable(name);
  if (job.context.catalog.database(name) === undefined) throw databaseNotFound(name);
  const ending = `.${job.options.format}`;
  const found = await job.files.list(folderOf(job.statement.location), job.connection);
  const named = new Map(job.context.catalog.tables(name).map(({ schema }) => [fileStemOf(schema.name), schema.name]));
  const steps = found
    .filter((file) => file.name.endsWith(ending))
    .map((file) => {
      const stem = file.name.slice(0, -ending.length);
      const table = named.get(stem) ?? tableNameOf(stem);
      return () => tableFrom([CATALOG_NAME, name, table], file.location, undefined, job);
    });
  return allOf(steps, job.options);
}

/**
 * Runs steps, some at a time, and adds up their counts. The first failure ends it once the steps under way are done; with
 * `continue_on_error` the others still run, and only when none works is the failure told.
 */
async function allOf(steps: readonly (() => Promise<number>)[], { parallelism, continueOnError }: CopyOptions): Promise<number> {
  let total = 0;
  let next = 0;
  let good = 0;
  let failure: { readonly thrown: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < steps.length && (failure === undefined || continueOnError)) {
      const step = steps[next++];
      if (step === undefined) return;
      try {
        const count = await step(); // Before the sum is read: other steps add to it meanwhile.
        total += count;
        good++;
      } catch (thrown) {
        failure ??= { thrown };
        if (thrown instanceof DbError && thrown.code === StatusCode.Cancelled) throw thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelism, steps.length) }, worker));
  if (failure !== undefined && (!continueOnError || good === 0)) throw failure.thrown;
  return total;
}
