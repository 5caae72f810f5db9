/** The server now: rates, running and slow statements, memory by holder, files, merges, the log, what does not work. */
import { problemOf, quoted, send, sql, sqlObjects } from "../../api/client.ts";
import { button, fact, h, show } from "../../page/dom.ts";
import { bytesText, countText, millisText, timeText } from "../../page/format.ts";
import { settings } from "../../page/settings.ts";
import { type Chart, chart } from "../../results/chart.ts";
import { every, type Shown } from "../page.ts";
import { MetricsReading } from "./metrics-text.ts";

const PERIOD_MS = 2000;
/** Ten minutes. */
const READINGS_MAX = 300;
const CHART_PIXELS = 130;

type Take = (now: MetricsReading, before: MetricsReading | undefined) => number;

/** A figure that is drawn over time. */
interface Figure {
  readonly title: string;
  readonly show: (value: number) => string;
  readonly take: Take;
}

const rate =
  (name: string, fits?: (labels: Readonly<Record<string, string>>) => boolean): Take =>
  (now, before) =>
    before === undefined ? Number.NaN : Math.max(0, ((now.sum(name, fits) - before.sum(name, fits)) * 1000) / (now.at - before.at));

const FIGURES: readonly Figure[] = [
  { title: "Rows a second", show: countText, take: rate("varve_ingest_rows_total") },
  { title: "Bytes with rows a second", show: bytesText, take: rate("varve_ingest_bytes_total") },
  { title: "Failed writes a second", show: countText, take: rate("varve_ingest_errors_total") },
  { title: "Statements a second", show: countText, take: rate("varve_statements_total") },
  {
    title: "HTTP requests a second",
    show: countText,
    take: rate("greptime_servers_http_requests_total", ({ path }) => path !== "/metrics"),
  },
  {
    title: "Failed requests a second",
    show: countText,
    take: rate("greptime_servers_http_requests_total", ({ code }) => (code ?? "") >= "400"),
  },
  { title: "Processor, cores", show: (value) => value.toFixed(2), take: rate("process_cpu_seconds_total") },
  { title: "Resident memory", show: bytesText, take: (now) => now.sum("process_resident_memory_bytes") },
  { title: "Log on disk", show: bytesText, take: (now) => now.sum("varve_log_bytes") },
  { title: "Event loop delay, p99", show: (value) => millisText(value * 1000), take: (now) => now.sum("nodejs_eventloop_lag_p99_seconds") },
];

/** Shows the page. */
export function livePage(): Shown {
  const page = new LivePage();
  const stop = every(PERIOD_MS, () => page.turn());
  return {
    element: page.element,
    close: () => {
      stop();
      page.close();
    },
  };
}

class LivePage {
  readonly element: HTMLElement;
  private readonly readings: MetricsReading[] = [];
  private readonly problem: HTMLElement = h("div", { role: "alert" });
  private readonly figures: HTMLElement = h("div", { class: "board figures" });
  private readonly memory: HTMLElement = h("div", {});
  private readonly running: HTMLElement = h("div", { "aria-live": "off" });
  private readonly slow: HTMLElement = h("div", {});
  private readonly storage: HTMLElement = h("div", {});
  private charts: Chart[] = [];

  constructor() {
    const section = (title: string, content: HTMLElement): HTMLElement =>
      h("section", { class: "card" }, h("header", {}, h("h2", {}, title)), content);
    this.element = h(
      "div",
      { class: "page" },
      h("h1", {}, "Live"),
      this.problem,
      this.figures,
      h("div", { class: "two" }, section("Running statements", this.running), section("Slow statements", this.slow)),
      h("div", { class: "two" }, section("Memory by holder", this.memory), section("Storage", this.storage)),
    );
  }

  close(): void {
    for (const each of this.charts) each.close();
  }

  /** Reads everything once. */
  async turn(): Promise<void> {
    try {
      const text = await (await send("/metrics")).text();
      this.readings.push(new MetricsReading(text, Date.now()));
      if (this.readings.length > READINGS_MAX) this.readings.shift();
      this.drawFigures();
      this.drawMemory();
      this.drawStorage();
      await this.drawRunning();
      if (this.readings.length % 5 === 1) await this.drawSlow();
      show(this.problem);
    } catch (error) {
      show(this.problem, h("p", { class: "problem" }, problemOf(error)));
    }
  }

  private get now(): MetricsReading {
    return this.readings.at(-1) ?? new MetricsReading("", Date.now());
  }

  private drawFigures(): void {
    for (const each of this.charts) each.close();
    this.charts = [];
    const x = Float64Array.from(this.readings, ({ at }) => at / 1000);
    show(
      this.figures,
      FIGURES.map(({ title, take, show: print }) => {
        const y = Float64Array.from(this.readings, (reading, i) => take(reading, this.readings[i - 1]));
        const drawn = chart(
          { x, lines: [{ label: title, y }], leftOut: 0 },
          { height: CHART_PIXELS, legend: false, print, fromZero: true },
        );
        this.charts.push(drawn);
        const last = y.at(-1) ?? Number.NaN;
        return h(
          "article",
          { class: "card figure" },
          h("h2", {}, title),
          h("p", { class: "figure-value" }, Number.isNaN(last) ? "…" : print(last)),
          drawn.element,
        );
      }),
    );
    const broken = this.now.of("varve_degraded").filter(({ value }) => value > 0);
    if (broken.length > 0)
      this.figures.prepend(
        h("p", { class: "problem" }, `Does not work now, and is tried again: ${broken.map(({ labels }) => labels["part"]).join(", ")}`),
      );
  }

  private drawMemory(): void {
    const limit = this.now.sum("varve_memory_limit_bytes");
    const parts = [
      ...this.now.of("varve_memory_bytes").map(({ labels, value }) => [labels["part"] ?? "", value] as const),
      ["uncounted", this.now.sum("varve_memory_uncounted_bytes")] as const,
    ];
    const most = Math.max(1, ...parts.map(([, value]) => value));
    show(
      this.memory,
      h(
        "ul",
        { class: "bars" },
        parts
          .toSorted((a, b) => b[1] - a[1])
          .map(([name, value]) => {
            const bar = h("span", { class: "bar", "aria-hidden": "true" });
            bar.style.width = `${(value / most) * 100}%`;
            return h(
              "li",
              {},
              h("span", { class: "bar-name" }, name.replaceAll("_", " ")),
              h("span", { class: "bar-track" }, bar),
              h("span", { class: "bar-value" }, bytesText(value)),
            );
          }),
      ),
      h("p", { class: "hint" }, `All parts together may hold ${bytesText(limit)} (memory.limit).`),
    );
  }

  private drawStorage(): void {
    const { now } = this;
    show(
      this.storage,
      h(
        "dl",
        { class: "facts" },
        fact("Log", bytesText(now.sum("varve_log_bytes"))),
        fact("Waiting for the log's disk", bytesText(now.sum("varve_log_queue_bytes"))),
        fact("Disk free", bytesText(now.sum("varve_disk_free_bytes"))),
        fact("Merges done", countText(now.sum("greptime_mito_compaction_requests_total"))),
        fact("Merges failed", countText(now.sum("greptime_mito_compaction_failure_total"))),
        fact("Files merged", countText(now.sum("greptime_mito_compaction_input_files_total"))),
        fact("Rows expired", countText(now.sum("varve_expired_rows_total"))),
        fact("Series", countText(now.sum("varve_series"))),
        fact("Spilled by queries now", bytesText(now.sum("varve_query_spill_bytes"))),
        fact("Failures of storage", countText(now.sum("varve_storage_failures_total"))),
      ),
    );
  }

  private async drawRunning(): Promise<void> {
    const rows = await sqlObjects(
      "SELECT id, schemas, query, client, frontend, elapsed_time FROM information_schema.process_list ORDER BY elapsed_time DESC LIMIT 50",
    );
    const others = rows.filter((row) => !String(row["query"]).includes("information_schema.process_list"));
    show(
      this.running,
      others.length === 0
        ? h("p", { class: "empty" }, "None.")
        : h(
            "ul",
            { class: "statements" },
            others.map((row) =>
              h(
                "li",
                {},
                h(
                  "span",
                  { class: "statement-facts" },
                  `${millisText(Number(row["elapsed_time"]))} · ${String(row["schemas"])} · ${String(row["client"])}` +
                    atFrontend(row["frontend"]),
                ),
                h("code", {}, String(row["query"]).slice(0, 500)),
                button("Kill", () => void this.kill(String(row["id"])), { class: "danger" }),
              ),
            ),
          ),
    );
  }

  private async kill(id: string): Promise<void> {
    try {
      await sql(`KILL ${quoted(id)}`);
      await this.drawRunning();
    } catch (error) {
      show(this.problem, h("p", { class: "problem" }, problemOf(error)));
    }
  }

  private async drawSlow(): Promise<void> {
    const [table] = await sqlObjects(
      "SELECT count(*) AS n FROM information_schema.tables WHERE table_schema = 'greptime_private' AND table_name = 'slow_queries'",
    );
    const rows =
      Number(table?.["n"] ?? 0) === 0
        ? []
        : await sqlObjects('SELECT "timestamp", cost, query FROM greptime_private.slow_queries ORDER BY "timestamp" DESC LIMIT 20');
    show(
      this.slow,
      rows.length === 0
        ? h("p", { class: "empty" }, `None so far (${countText(this.now.sum("varve_slow_statements_total"))} counted since the start).`)
        : h(
            "ul",
            { class: "statements" },
            rows.map((row) =>
              h(
                "li",
                {},
                h(
                  "span",
                  { class: "statement-facts" },
                  `${timeText(Number(row["timestamp"]) / 1e6, 0, "", settings.zone)} · ${millisText(Number(row["cost"]))}`,
                ),
                h("code", {}, String(row["query"]).slice(0, 500)),
              ),
            ),
          ),
    );
  }
}

/** Where in a cluster a statement runs. */
function atFrontend(name: unknown): string {
  return name === "" ? "" : ` at ${String(name)}`;
}
