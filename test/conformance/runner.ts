/** Runs case files against a server over `/v1/sql` and counts by topic. */
import { join } from "node:path";
import { postSql } from "../support/http-client.ts";
import type { TestServer } from "../support/server-process.ts";
import type { Case, CaseFile } from "./case-file.ts";
import { type JsonValue, parseExact } from "./cell-text.ts";
import { compare, type Reply } from "./compare.ts";

/** Longest pause that a case may ask for. */
const SLEEP_MS_MAX = 5000;
const BUILT_IN: ReadonlySet<string> = new Set(["public", "information_schema", "pg_catalog", "greptime_private"]);

/** A case that failed, or whose error is another one than expected. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly sql: string;
  readonly why: string;
}

/** Counts of a topic. */
export interface Counts {
  pass: number;
  fail: number;
  skip: number;
  sameCode: number;
  otherCode: number;
  files: number;
  cleanFiles: number;
}

/** Everything that a run found out. */
export interface Report {
  readonly topics: Map<string, Counts>;
  readonly failures: Finding[];
  readonly otherCodes: Finding[];
}

/** Runs all files, one after another, each in a database of its own or in an empty public one. */
export async function runCases(server: TestServer, files: readonly CaseFile[]): Promise<Report> {
  const report: Report = { topics: new Map(), failures: [], otherCodes: [] };
  for (const [number, file] of files.entries()) {
    const counts = report.topics.get(file.topic) ?? { pass: 0, fail: 0, skip: 0, sameCode: 0, otherCode: 0, files: 0, cleanFiles: 0 };
    report.topics.set(file.topic, counts);
    const before = counts.fail;
    await new FileRun(server, file, `cases_${number}`, report, counts).run();
    counts.files++;
    if (counts.fail === before) counts.cleanFiles++;
  }
  return report;
}

/** One file: the database and the zone change with its statements. */
class FileRun {
  private readonly server: TestServer;
  private readonly file: CaseFile;
  private readonly home: string;
  private readonly report: Report;
  private readonly counts: Counts;
  private database: string;
  private zone: string | undefined;

  constructor(server: TestServer, file: CaseFile, database: string, report: Report, counts: Counts) {
    this.server = server;
    this.file = file;
    this.home = file.isPublic ? "public" : database;
    this.database = this.home;
    this.report = report;
    this.counts = counts;
  }

  async run(): Promise<void> {
    await this.clean();
    if (!this.file.isPublic) await ask(this.server, `CREATE DATABASE ${this.home}`, "public");
    for (const item of this.file.cases) await this.one(item);
    await this.clean();
  }

  /** Drops what other files, or this one, left behind. */
  private async clean(): Promise<void> {
    const { server } = this;
    for (const [what, list] of [
      ["FLOW", "FLOWS"],
      ["VIEW", "VIEWS"],
      ["TABLE", "TABLES"],
      ["TABLE", "TABLES"],
    ] as const)
      for (const name of await names(server, `SHOW ${list}`))
        if (name !== "numbers") await ask(server, `DROP ${what} IF EXISTS "${name}"`, "public");
    for (const name of await names(server, "SHOW DATABASES"))
      if (!BUILT_IN.has(name)) await ask(server, `DROP DATABASE IF EXISTS "${name}"`, "public");
  }

  private async one(item: Case): Promise<void> {
    const { counts, server } = this;
    const sql = item.sql.replaceAll("${SQLNESS_HOME}", join(server.dataHome, "copy"));
    if (item.skip !== undefined || this.changesSession(sql, item)) return void counts.skip++;
    if (item.sleep !== undefined) await Bun.sleep(Math.min(milliseconds(item.sleep), SLEEP_MS_MAX));
    if (item.restart === true) {
      await server.stop();
      await server.restart();
    }
    const reply = await ask(server, sql, this.database, this.zone);
    if (item.nocompare !== undefined || item.protocol !== undefined) return void counts.skip++;
    const { why, code } = compare(item, reply);
    if (code === "same") counts.sameCode++;
    if (code === "other") {
      counts.otherCode++;
      const got = reply.kind === "error" ? `${reply.code ?? ""} ${reply.text}` : "";
      this.note(this.report.otherCodes, item, `want ${item.expect.error ?? ""}; got ${got}`);
    }
    if (why === undefined) counts.pass++;
    else {
      counts.fail++;
      this.note(this.report.failures, item, why);
    }
  }

  private note(list: Finding[], { line, sql }: Case, why: string): void {
    list.push({ file: this.file.path, line, sql, why });
  }

  /** USE and SET time_zone: over HTTP they are settings of each request. */
  private changesSession(sql: string, { protocol }: Case): boolean {
    if (protocol !== undefined) return false;
    const [, database] = /^\s*use\s+[`"]?([\w-]+)[`"]?\s*;?\s*$/i.exec(sql) ?? [];
    const [, zone] = /^\s*set\s+(?:session\s+|local\s+)?time_zone\s*=\s*'([^']*)'\s*;?\s*$/i.exec(sql) ?? [];
    if (database !== undefined) this.database = database.toLowerCase() === "public" ? this.home : database;
    if (zone !== undefined) this.zone = zone;
    return database !== undefined || zone !== undefined;
  }
}

async function names(server: TestServer, sql: string): Promise<readonly string[]> {
  const reply = await ask(server, sql, "public");
  return reply.kind === "rows" ? reply.rows.map(([name]) => textOf(name)) : [];
}

async function ask(server: TestServer, sql: string, database: string, zone?: string): Promise<Reply> {
  const headers: Record<string, string> = zone === undefined ? {} : { "x-greptime-timezone": zone };
  const { text } = await postSql(server.url, sql, { query: { db: database }, headers });
  return replyOf(text);
}

/** An answer of `/v1/sql`: its last statement. */
function replyOf(text: string): Reply {
  const body = parseExact(text) as { readonly [key: string]: JsonValue };
  const { code, error, output } = body;
  if (code !== 0 || (error !== undefined && error !== null))
    return {
      kind: "error",
      code: typeof code === "number" ? code : undefined,
      text: typeof error === "string" ? error : JSON.stringify(error),
    };
  const last = (output as readonly { readonly [key: string]: JsonValue }[] | undefined)?.at(-1);
  const records = last?.["records"] as
    | {
        readonly schema?: { readonly column_schemas: readonly { readonly name: string; readonly data_type: string }[] };
        readonly rows: readonly (readonly JsonValue[])[];
      }
    | undefined;
  if (records === undefined) {
    const count = last?.["affectedrows"];
    return { kind: "affected", count: typeof count === "number" ? count : undefined };
  }
  const schemas = records.schema?.column_schemas ?? [];
  return { kind: "rows", columns: schemas.map(({ name }) => name), types: schemas.map(({ data_type }) => data_type), rows: records.rows };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function milliseconds(text: string): number {
  const units: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|us|s|m|h)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0),
    0,
  );
}
