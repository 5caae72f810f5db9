/**
 * Random requests of all protocols and statements to few names, some at the same time, to a real server that is killed and started again
 * now and then. After each, the server lives and says no 5xx; every so often all that was acknowledged is read by SQL.
 *
 *   round ─► up to six requests at once, at most one of which takes rows away ─► answers ─► model ─► sometimes: read and compare
 *
 * The seed decides what is sent; which of two requests of a round comes first is the machine's choice.
 */
import { freePort } from "../../bench/macro/free-port.ts";
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { TestServer } from "../support/server-process.ts";
import { FUZZ_DOORS, type FuzzDoor, type FuzzRequest, storePipeline } from "./doors.ts";
import { type FoundRow, Model } from "./model.ts";
import type { SentRow, TableRows } from "./rows.ts";
import { type FuzzStatement, harmfulStatement, harmlessStatement } from "./statements.ts";
import { putLines } from "./telnet.ts";

/** Tables that everybody writes to. No "." or "-": OTLP metrics of the older form have "_" there. Some are physical tables by and by. */
const COMMON: readonly string[] = ["t0", "t1", "t2", "t3", "odd na/me", "ünï:code"];
/** Names that metrics have for their physical table, now and then those of something else. */
const CARRIERS: readonly string[] = ["phy", "greptime_physical_table"];
const TABLES: readonly string[] = [...COMMON, ...CARRIERS];
/** One in so many requests writes to a carrier's name. */
const CARRIER_ODDS = 60;
const FIELDS: readonly string[] = ["v", "usage", "greptime_value"];
/** Rows of a table after which it is emptied rather sooner than later. Reason: each comparison reads all of it. */
const TABLE_ROWS_MAX = 150;
const ROUND_REQUESTS_MAX = 6;
const FAILURES_MAX = 20;
/** Actions of a table that a failure shows. */
const HISTORY_MAX = 25;
const FIRST_SECOND = 1_700_000_000;

/** How to run. */
export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** Numbers of ingest threads; each start takes the next one. */
  readonly threads: readonly number[];
  /** Requests between two starts of the server. */
  readonly restartEvery: number;
  /** Requests between two comparisons of all tables. */
  readonly compareEvery: number;
  readonly say: (text: string) => void;
}

/** What came of it. */
export interface FuzzReport {
  readonly requests: number;
  readonly starts: number;
  /** Answers by what was sent and status, e.g. "Loki 200". */
  readonly answers: Readonly<Record<string, number>>;
  /** Rows that were acknowledged. */
  readonly rows: number;
  /** Empty when all is well. */
  readonly failures: readonly string[];
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Write {
  readonly kind: "write";
  readonly name: string;
  readonly tables: readonly TableRows[];
  readonly send: () => Promise<Answer>;
}

interface Change {
  readonly kind: "statement";
  readonly name: string;
  readonly statement: FuzzStatement;
  readonly send: () => Promise<Answer>;
}

type Action = Write | Change;

/** Runs requests until enough were sent or something is wrong. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const fuzz = new Fuzz(options);
  try {
    await fuzz.run();
  } finally {
    await fuzz.end();
  }
  return fuzz.report;
}

class Fuzz {
  private readonly options: FuzzOptions;
  private readonly random: Random;
  private readonly model: Model = new Model();
  private readonly answers: Map<string, number> = new Map();
  private readonly failures: string[] = [];
  private readonly history: Map<string, string[]> = new Map();
  private server: TestServer | undefined;
  private telnetPort = 0;
  private sent = 0;
  private starts = 0;
  private rows = 0;
  private lastId = 0;

  constructor(options: FuzzOptions) {
    this.options = options;
    this.random = seededRandom(options.seed);
  }

  get report(): FuzzReport {
    const { sent, starts, rows, failures } = this;
    return { requests: sent, starts, rows, failures, answers: Object.fromEntries([...this.answers].sort(([a], [b]) => (a < b ? -1 : 1))) };
  }

  async run(): Promise<void> {
    const { requests, restartEvery, compareEvery, say } = this.options;
    await this.start();
    let nextStart = restartEvery;
    let nextComparison = compareEvery;
    while (this.sent < requests && this.failures.length === 0) {
      await this.round();
      if (this.sent >= nextComparison && this.failures.length === 0) {
        nextComparison = this.sent + compareEvery;
        await this.compareAll();
        await this.clearSome();
      }
      if (this.sent < nextStart || this.failures.length > 0) continue;
      nextStart = this.sent + restartEvery;
      await this.compareAll();
      await this.start();
      await this.compareAll();
      say(`${this.sent} requests, ${this.rows} rows acknowledged`);
    }
    if (this.failures.length === 0) await this.compareAll();
  }

  async end(): Promise<void> {
    if (this.failures.length > 0) this.options.say(this.server?.log().split("\n").slice(-15).join("\n") ?? "");
    await this.server?.end();
  }

  /** Starts the server, again by killing it or by asking it to end. */
  private async start(): Promise<void> {
    const { threads } = this.options;
    this.telnetPort = freePort();
    const count = threads[this.starts % threads.length] ?? 1;
    const config =
      `[ingest]\nthreads = ${count}\n[storage]\nmemtable_size = "256KiB"\n[wal]\nsegment_size = "64KiB"\n` +
      `[opentsdb]\naddr = "127.0.0.1:${this.telnetPort}"\n`;
    if (this.server === undefined) this.server = await TestServer.start({ config });
    else {
      if (this.random.below(2) === 0) await this.server.kill();
      else await this.server.stop();
      await this.server.restart({ config });
    }
    this.starts++;
    if (this.starts === 1) await this.post(storePipeline);
  }

  private async round(): Promise<void> {
    const { random } = this;
    const count = random.below(2) === 0 ? 1 : 1 + random.below(ROUND_REQUESTS_MAX);
    const actions: Action[] = Array.from({ length: count }, () => (random.below(4) === 0 ? this.harmless() : this.write()));
    if (random.below(6) === 0) actions[random.below(count)] = this.harmful();
    this.sent += count;
    const outcomes = await Promise.all(
      actions.map(async (action) => ({
        action,
        answer: await action.send().catch((error: unknown): Answer => ({ status: 0, text: String(error) })),
      })),
    );
    const taken = new Set<string>();
    for (const { action, answer } of outcomes) {
      this.judge(action, answer);
      this.remember(action, answer, count);
      if (action.kind === "write") continue;
      const { effect } = action.statement;
      if (effect.kind === "none") continue;
      taken.add(effect.table);
      if (effect.kind === "rename") taken.add(effect.to);
      // A row of a protocol that has no column of the name is not deleted.
      const isNothing = effect.kind === "delete" && answer.text.includes('"affectedrows":0');
      if (answer.status === 200 && !isNothing) this.model.apply(effect);
    }
    for (const { action, answer } of outcomes) {
      if (action.kind !== "write") continue;
      const isKept = isWhole(answer);
      if (isKept) for (const { rows } of action.tables) this.rows += rows.length;
      this.model.sent(action.tables, (table) => isKept && !taken.has(table));
    }
    const [only, ...others] = outcomes;
    if (only !== undefined && others.length === 0 && only.action.kind === "write") await this.judgeParts(only.action, only.answer);
    for (const table of TABLES) if (this.model.countOf(table) > 2 * TABLE_ROWS_MAX) await this.empty(table);
  }

  /** Keeps what was done last to each table, for whoever looks into a failure. */
  private remember(action: Action, { status, text }: Answer, beside: number): void {
    const what = action.kind === "write" ? action.tables : [];
    const names = action.kind === "write" ? what.map(({ table }) => table) : TABLES.filter((table) => action.statement.sql.includes(table));
    const sent =
      action.kind === "write" ? JSON.stringify(what.map(({ table, rows }) => [table, rows.map(({ id }) => id)])) : action.statement.sql;
    for (const table of names) {
      const lines = this.history.get(table) ?? [];
      lines.push(`${this.sent} (of ${beside}) ${action.name} ${sent} -> ${status} ${text.slice(0, 200)}`);
      this.history.set(table, lines.slice(-HISTORY_MAX));
    }
  }

  private judge({ name }: Action, { status, text }: Answer): void {
    const key = `${name} ${status}`;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    if (status === 0 || status >= 500) this.fail(`${name} answered ${status}: ${text.slice(0, 500)}`);
  }

  /** A request that nobody else disturbed kept as many rows as it says. */
  private async judgeParts({ name, tables }: Write, answer: Answer): Promise<void> {
    const told = /(\d+) of other tables are written/.exec(answer.text);
    const isNothing = name.endsWith("all or nothing") && answer.status === 400;
    if (told === null && !isNothing) return;
    const ids = new Set(tables.flatMap(({ rows }) => rows.map(({ id }) => id)));
    let found = 0;
    for (const { table } of tables) for (const { id } of await this.read(table)) if (ids.has(id)) found++;
    const want = isNothing ? 0 : Number(told?.[1]);
    if (found !== want) this.fail(`${name} kept ${found} rows and said ${want}: ${answer.text.slice(0, 500)}`);
  }

  private async empty(table: string): Promise<void> {
    const { status } = await this.truncated(`TRUNCATE TABLE "${table}"`, table);
    if (status === 200) this.model.apply({ kind: "clear", table });
    else if ((await this.sql(`DROP TABLE "${table}"`)).status === 200) this.model.apply({ kind: "clear", table });
  }

  /** Takes away some of the tables and views, so that names become something else. Twice, since logical tables hold physical ones. */
  private async clearSome(): Promise<void> {
    for (const table of [...TABLES, ...CARRIERS]) {
      if (!CARRIERS.includes(table) && this.random.below(2) === 0) continue;
      await this.sql(`DROP VIEW IF EXISTS "${table}"`);
      if ((await this.sql(`DROP TABLE "${table}"`)).status === 200) this.model.apply({ kind: "clear", table });
    }
  }

  private async compareAll(): Promise<void> {
    for (const table of TABLES) {
      const wrong = this.model.compare(table, await this.read(table));
      for (const each of wrong) this.fail(each);
      if (wrong.length > 0) this.options.say(`what was done to ${table}:\n  ${this.history.get(table)?.join("\n  ") ?? ""}`);
    }
    this.model.settle();
    const health = await fetch(`${this.base}/health`);
    if (health.status !== 200) this.fail(`/health answered ${health.status}`);
  }

  private fail(what: string): void {
    if (this.failures.length < FAILURES_MAX) this.failures.push(`after ${this.sent} requests: ${what}`);
  }

  private write(): Write {
    const { random } = this;
    const at = random.below(FUZZ_DOORS.length + 1);
    const door: FuzzDoor | undefined = FUZZ_DOORS[at];
    const names = new Set(Array.from({ length: 1 + random.below(door?.tablesMax ?? 2) }, () => this.someTable()));
    const tables = Array.from(names, (table) => ({ table, rows: this.someRows() }));
    if (door === undefined) {
      const named = tables.filter(({ table }) => !table.includes(" "));
      return { kind: "write", name: "telnet", tables: named, send: () => this.telnet(named) };
    }
    const field = FIELDS[random.below(FIELDS.length)] ?? "v";
    const physical = random.below(3) === 0 ? (random.below(2) === 0 ? "phy" : this.someTable()) : undefined;
    const request = door.request(tables, { field, physical });
    return { kind: "write", name: door.name, tables, send: () => this.post(request) };
  }

  private someRows(): SentRow[] {
    return Array.from({ length: 1 + this.random.below(4) }, () => {
      const number = ++this.lastId;
      return { id: String(number), value: number * 7, second: FIRST_SECOND + number };
    });
  }

  private harmless(): Change {
    const statement = harmlessStatement(this.random, this.someTable(), TABLES);
    return { kind: "statement", name: "statement", statement, send: () => this.sql(statement.sql) };
  }

  private harmful(): Change {
    const { random, model } = this;
    const full = TABLES.find((table) => model.countOf(table) > TABLE_ROWS_MAX);
    const table = full ?? this.someTable();
    const count = model.countOf(table);
    const id = count > 0 && full === undefined ? model.someId(table, random.below(count)) : undefined;
    const statement = harmfulStatement(random, table, this.someTable(), id);
    const { sql, effect } = statement;
    const isTruncation = effect.kind === "clear" && sql.startsWith("TRUNCATE");
    return { kind: "statement", name: "statement", statement, send: () => (isTruncation ? this.truncated(sql, table) : this.sql(sql)) };
  }

  /** Truncates a table, but no physical one: that would take the rows of others. */
  private async truncated(sql: string, table: string): Promise<Answer> {
    const { text } = await this.sql(`SHOW CREATE TABLE "${table}"`);
    return text.includes("physical_metric_table") ? { status: 400, text: "is a physical table" } : await this.sql(sql);
  }

  private someTable(): string {
    const { random } = this;
    const names = random.below(CARRIER_ODDS) === 0 ? CARRIERS : COMMON;
    return names[random.below(names.length)] ?? "t0";
  }

  private get base(): string {
    return this.server?.url ?? "";
  }

  private async post({ path, headers = {}, body }: FuzzRequest): Promise<Answer> {
    const response = await fetch(`${this.base}${path}`, { method: "POST", headers: { ...headers }, body });
    return { status: response.status, text: await response.text() };
  }

  private async telnet(tables: readonly TableRows[]): Promise<Answer> {
    if (tables.length === 0) return { status: 204, text: "" };
    const said = await putLines(this.telnetPort, tables);
    return { status: said === "" ? 204 : said.includes("storage error") ? 500 : 400, text: said };
  }

  private sql(sql: string): Promise<Answer> {
    return this.post({
      path: "/v1/sql",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ sql }).toString(),
    });
  }

  /** The rows of a table; none when there is no such table, or it is a view or a physical one. */
  private async read(table: string): Promise<FoundRow[]> {
    const { status, text } = await this.sql(`SELECT * FROM "${table}"`);
    if (status !== 200) {
      if (status !== 400 || !text.includes('"code":4001')) this.fail(`reading ${table} answered ${status}: ${text.slice(0, 300)}`);
      return [];
    }
    const { records } = (JSON.parse(text) as SqlAnswer).output[0] ?? {};
    const columns = records?.schema.column_schemas.map(({ name }) => name) ?? [];
    const ids = ["id", "span_attributes.id"].map((name) => columns.indexOf(name)).filter((at) => at >= 0);
    if (columns.includes("__table_id")) return [];
    return (records?.rows ?? []).flatMap((cells) => {
      const id = ids.map((at) => cells[at]).find((cell) => typeof cell === "string" || typeof cell === "number");
      return id === undefined ? [] : [{ id: String(id), cells: new Set(cells.map(String)) }];
    });
  }
}

/** Whether an answer says that all rows of a request are kept. */
function isWhole({ status, text }: Answer): boolean {
  return status >= 200 && status < 300 && !text.includes("partialSuccess") && !text.includes('"errors":true');
}

interface SqlAnswer {
  readonly output: readonly {
    readonly records?: {
      readonly schema: { readonly column_schemas: readonly { readonly name: string }[] };
      readonly rows: readonly (readonly unknown[])[];
    };
  }[];
}
