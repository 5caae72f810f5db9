/** Logs: search in a table's texts, a histogram over time, the newest lines first. */
import { type SqlRow, named, problemOf, quoted, sqlObjects } from "../../api/client.ts";
import { attributes, field, h, select, show } from "../../page/dom.ts";
import { timeText } from "../../page/format.ts";
import { settings } from "../../page/settings.ts";
import { type Chart, chart } from "../../results/chart.ts";
import { every, type Shown } from "../page.ts";
import { goodStep, TimeRange } from "../time-range.ts";

const LINES_MAX = 500;
const HISTOGRAM_PIXELS = 120;
const LIVE_MS = 2000;
/** Names that the columns of logs' texts and levels have, best first. */
const BODY_NAMES: readonly string[] = ["body", "message", "msg", "line", "log", "content", "data"];
const LEVEL_NAMES: readonly string[] = ["severity_text", "level", "severity", "log_level"];

interface LogTable {
  readonly name: string;
  readonly time: string;
  /** Nanoseconds of its time's unit. */
  readonly unitNanos: number;
  readonly texts: readonly string[];
  readonly body: string;
  readonly level: string | undefined;
}

/** Shows the page. @param rest the table to begin with */
export function logsPage([table]: readonly string[]): Shown {
  const page = new LogsPage(table);
  void page.start();
  return { element: page.element, close: () => page.close() };
}

class LogsPage {
  readonly element: HTMLElement;
  private readonly wanted: string | undefined;
  private tables: readonly LogTable[] = [];
  private table: LogTable | undefined;
  private readonly range: TimeRange = new TimeRange("1h", () => void this.find());
  private readonly search: HTMLInputElement = h("input", { type: "search", placeholder: "words, all of them", size: 30 });
  private readonly live: HTMLInputElement = h("input", { type: "checkbox" });
  private readonly choice: HTMLElement = h("span", {});
  private readonly histogram: HTMLElement = h("div", { class: "histogram" });
  private readonly lines: HTMLElement = h("div", { class: "log-lines", role: "log", "aria-label": "Lines, newest first", tabIndex: 0 });
  private drawn: Chart | undefined;
  private stop: (() => void) | undefined;

  constructor(wanted: string | undefined) {
    this.wanted = wanted;
    const form = h(
      "form",
      { class: "toolbar" },
      h("h1", {}, "Logs"),
      this.choice,
      field("Search", this.search),
      this.range.element,
      h("label", { class: "check" }, this.live, "live"),
      h("button", { type: "submit", class: "primary" }, "Find"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.find();
    });
    this.live.addEventListener("change", () => {
      this.stop?.();
      this.stop = this.live.checked ? every(LIVE_MS, () => this.find()) : undefined;
    });
    this.element = h("div", { class: "page" }, form, this.histogram, this.lines);
  }

  close(): void {
    this.stop?.();
    this.drawn?.close();
  }

  async start(): Promise<void> {
    try {
      this.tables = await logTables();
      this.table =
        this.tables.find(({ name }) => name === this.wanted) ?? this.tables.find(({ body }) => BODY_NAMES.includes(body)) ?? this.tables[0];
      if (this.table === undefined) {
        show(
          this.lines,
          h("p", { class: "empty" }, "No table with texts yet. Send logs by Loki's push, OTLP, Elasticsearch's bulk, or a pipeline."),
        );
        return;
      }
      show(
        this.choice,
        field(
          "Table",
          select(
            this.tables.map(({ name }) => [name, name] as const),
            this.table.name,
            (value) => {
              this.table = this.tables.find(({ name }) => name === value);
              void this.find();
            },
          ),
        ),
      );
      await this.find();
    } catch (error) {
      show(this.lines, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }

  private async find(): Promise<void> {
    const { table } = this;
    if (table === undefined) return;
    const stretch = this.range.stretch();
    const time = named(table.time);
    const conditions = [
      `${time} >= '${new Date(stretch.from).toISOString()}'::TIMESTAMP`,
      `${time} <= '${new Date(stretch.to).toISOString()}'::TIMESTAMP`,
    ];
    for (const word of this.search.value.split(/\s+/).filter((each) => each !== "")) {
      const pattern = quoted(`%${word.replace(/[\\%_]/g, "\\$&")}%`);
      conditions.push(`(${table.texts.map((column) => `${named(column)} ILIKE ${pattern}`).join(" OR ")})`);
    }
    const where = conditions.join(" AND ");
    const step = goodStep({ from: stretch.from, to: stretch.from + (stretch.to - stretch.from) * 4 });
    try {
      const [counts, rows] = await Promise.all([
        sqlObjects(
          `SELECT date_bin(INTERVAL '${step} seconds', ${time}) AS at, count(*) AS lines FROM ${named(table.name)} WHERE ${where} ` +
            "GROUP BY at ORDER BY at",
        ),
        sqlObjects(`SELECT * FROM ${named(table.name)} WHERE ${where} ORDER BY ${time} DESC LIMIT ${LINES_MAX}`),
      ]);
      this.drawHistogram(counts, table, step, stretch);
      const total = counts.reduce((sum, row) => sum + Number(row["lines"]), 0);
      show(
        this.lines,
        h(
          "p",
          { class: "hint" },
          `${total.toLocaleString("en-US")} lines${total > rows.length ? `, the newest ${rows.length} are shown` : ""}`,
        ),
        rows.map((row) => logLine(row, table)),
      );
    } catch (error) {
      show(this.lines, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }

  private drawHistogram(
    counts: readonly SqlRow[],
    table: LogTable,
    step: number,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    const found = new Map(counts.map((row) => [Math.round((Number(row["at"]) * table.unitNanos) / 1e9 / step), Number(row["lines"])]));
    const first = Math.floor(from / 1000 / step);
    const last = Math.floor(to / 1000 / step);
    const x = Float64Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
    const y = Float64Array.from({ length: x.length }, (_, i) => found.get(first + i) ?? 0);
    this.drawn?.close();
    this.drawn = chart(
      { x, lines: [{ label: "lines", y }], leftOut: 0 },
      {
        height: HISTOGRAM_PIXELS,
        kind: "bars",
        legend: false,
        onZoom: (begin, end) => {
          this.range.set({ from: begin * 1000, to: end * 1000 });
          void this.find();
        },
      },
    );
    show(this.histogram, this.drawn.element);
  }
}

function logLine(row: SqlRow, table: LogTable): HTMLElement {
  const nanos = BigInt((row[table.time] as number | bigint | null) ?? 0) * BigInt(table.unitNanos);
  const level = table.level === undefined ? "" : String(row[table.level] ?? "");
  const kind = /err|fatal|crit|panic|emerg|alert/i.test(level) ? "error" : /warn/i.test(level) ? "warn" : "";
  const facts = Object.entries(row).filter(([name, value]) => name !== table.time && name !== table.body && value !== null && value !== "");
  return h(
    "details",
    { class: `log-line ${kind}` },
    h(
      "summary",
      {},
      h("time", {}, timeText(Number(nanos / 1_000_000n), 3, "", settings.zone)),
      level !== "" && h("span", { class: "level" }, level),
      h("span", { class: "log-body" }, String(row[table.body] ?? "")),
    ),
    attributes(facts),
  );
}

/** Tables with a time and texts that are no tags. */
async function logTables(): Promise<readonly LogTable[]> {
  const rows = await sqlObjects(
    "SELECT table_name, column_name, greptime_data_type, semantic_type FROM information_schema.columns " +
      `WHERE table_schema = ${quoted(settings.database)} ORDER BY table_name, ordinal_position`,
  );
  const byTable = Map.groupBy(rows, (row) => String(row["table_name"]));
  return [...byTable].flatMap(([name, columns]) => {
    const time = columns.find((column) => column["semantic_type"] === "TIMESTAMP");
    const texts = columns.filter((column) => column["greptime_data_type"] === "String").map((column) => String(column["column_name"]));
    const free = columns
      .filter((column) => column["greptime_data_type"] === "String" && column["semantic_type"] === "FIELD")
      .map((column) => String(column["column_name"]));
    const body = BODY_NAMES.find((each) => free.includes(each)) ?? free[0];
    if (time === undefined || body === undefined) return [];
    const type = String(time["greptime_data_type"]);
    const unitNanos = type.endsWith("Nanosecond") ? 1 : type.endsWith("Microsecond") ? 1e3 : type.endsWith("Millisecond") ? 1e6 : 1e9;
    return [{ name, time: String(time["column_name"]), unitNanos, texts, body, level: LEVEL_NAMES.find((each) => texts.includes(each)) }];
  });
}
