/** Traces: found by service, operation, duration and attributes; one as a waterfall. */
import { type SqlRow, named, problemOf, quoted, sqlObjects } from "../../api/client.ts";
import { attributes, button, field, h, select, show } from "../../page/dom.ts";
import { countText, millisText, spanMillis, timeText } from "../../page/format.ts";
import { settings } from "../../page/settings.ts";
import { goTo, type Shown } from "../page.ts";
import { TimeRange } from "../time-range.ts";
import { type Span, waterfall } from "./span-tree.ts";

const TRACES_MAX = 200;
const SPANS_MAX = 5000;
/** Columns that are shown by their own fields, or have no meaning for people. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  "span_id",
  "parent_span_id",
  "span_name",
  "service_name",
  "timestamp",
  "timestamp_end",
  "duration_nano",
  "trace_id",
]);

/** Shows the page. @param rest table and trace to begin with */
export function tracesPage([table, trace]: readonly string[]): Shown {
  const page = new TracesPage(table);
  void page.start(trace);
  return { element: page.element };
}

class TracesPage {
  readonly element: HTMLElement;
  private table: string | undefined;
  private tables: readonly string[] = [];
  private readonly range: TimeRange = new TimeRange("1h", () => void this.find());
  private readonly tableChoice: HTMLElement = h("span", {});
  private readonly service: HTMLInputElement = h("input", { type: "text", placeholder: "any", list: "services" });
  private readonly services: HTMLDataListElement = h("datalist", { id: "services" });
  private readonly operation: HTMLInputElement = h("input", { type: "text", placeholder: "any" });
  private readonly duration: HTMLInputElement = h("input", { type: "text", size: 6, placeholder: "100ms" });
  private readonly failed: HTMLInputElement = h("input", { type: "checkbox" });
  private readonly content: HTMLElement = h("div", { class: "traces", "aria-live": "polite" });

  constructor(table: string | undefined) {
    this.table = table;
    const form = h(
      "form",
      { class: "toolbar" },
      h("h1", {}, "Traces"),
      this.tableChoice,
      field("Service", this.service),
      this.services,
      field("Operation", this.operation),
      field("At least", this.duration),
      h("label", { class: "check" }, this.failed, "failed only"),
      this.range.element,
      h("button", { type: "submit", class: "primary" }, "Find"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.find();
    });
    this.element = h("div", { class: "page" }, form, this.content);
  }

  async start(trace: string | undefined): Promise<void> {
    try {
      const rows = await sqlObjects(
        "SELECT table_name FROM information_schema.columns WHERE column_name IN ('trace_id', 'span_id', 'duration_nano', 'service_name') " +
          `AND table_schema = ${quoted(settings.database)} GROUP BY table_name HAVING count(*) = 4 ORDER BY table_name`,
      );
      this.tables = rows.map((row) => String(row["table_name"]));
      this.table ??= this.tables[0];
      const { table } = this;
      if (table === undefined) {
        show(
          this.content,
          h(
            "p",
            { class: "empty" },
            "No traces yet. Send some by OTLP: POST /v1/otlp/v1/traces with the header ",
            "x-greptime-pipeline-name: greptime_trace_v1, or port 4001.",
          ),
        );
        return;
      }
      show(
        this.tableChoice,
        field(
          "Table",
          select(
            this.tables.map((name) => [name, name] as const),
            table,
            (value) => {
              this.table = value;
              void this.find();
            },
          ),
        ),
      );
      if (trace === undefined) await this.find();
      else await this.showTrace(trace);
      const services = await sqlObjects(
        `SELECT DISTINCT service_name FROM ${named(table)} WHERE service_name IS NOT NULL ORDER BY service_name LIMIT 500`,
      );
      show(
        this.services,
        services.map((row) => h("option", { value: String(row["service_name"]) })),
      );
    } catch (error) {
      show(this.content, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }

  private async find(): Promise<void> {
    const { table } = this;
    if (table === undefined) return;
    const { from, to } = this.range.stretch();
    const conditions = [
      `"timestamp" >= '${new Date(from).toISOString()}'::TIMESTAMP`,
      `"timestamp" <= '${new Date(to).toISOString()}'::TIMESTAMP`,
    ];
    if (this.service.value !== "") conditions.push(`service_name = ${quoted(this.service.value)}`);
    if (this.operation.value !== "") conditions.push(`span_name = ${quoted(this.operation.value)}`);
    const least = spanMillis(this.duration.value);
    if (least !== undefined) conditions.push(`duration_nano >= ${Math.round(least * 1e6)}`);
    if (this.failed.checked) conditions.push("span_status_code = 'STATUS_CODE_ERROR'");
    show(this.content, h("p", { class: "empty" }, "Searching …"));
    try {
      const rows = await sqlObjects(
        'SELECT trace_id, min("timestamp") AS began, max(duration_nano) AS longest, count(*) AS spans, ' +
          "count(DISTINCT service_name) AS services, " +
          `first_value(span_name ORDER BY "timestamp") AS first_name, first_value(service_name ORDER BY "timestamp") AS first_service ` +
          `FROM ${named(table)} WHERE ${conditions.join(" AND ")} GROUP BY trace_id ORDER BY began DESC LIMIT ${TRACES_MAX}`,
      );
      const longest = rows.reduce((most, row) => Math.max(most, Number(row["longest"])), 1);
      show(
        this.content,
        rows.length === 0
          ? h("p", { class: "empty" }, "No spans match.")
          : h(
              "ul",
              { class: "trace-list" },
              rows.map((row) => {
                const bar = h("span", { class: "trace-bar", "aria-hidden": "true" });
                bar.style.width = `${Math.max(0.5, (Number(row["longest"]) / longest) * 100)}%`;
                return h(
                  "li",
                  {},
                  h(
                    "a",
                    { href: `#/traces/${encodeURIComponent(table)}/${encodeURIComponent(String(row["trace_id"]))}` },
                    h("span", { class: "trace-name" }, h("b", {}, String(row["first_service"])), " ", String(row["first_name"])),
                    h(
                      "span",
                      { class: "trace-facts" },
                      `${timeText(Number(row["began"]) / 1e6, 3, "", settings.zone)} · ${millisText(Number(row["longest"]) / 1e6)} · `,
                      `${String(row["spans"])} spans found · ${String(row["services"])} services`,
                    ),
                    bar,
                  ),
                );
              }),
            ),
      );
    } catch (error) {
      show(this.content, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }

  private async showTrace(trace: string): Promise<void> {
    const rows = await sqlObjects(
      `SELECT * FROM ${named(this.table ?? "")} WHERE trace_id = ${quoted(trace)} ORDER BY "timestamp" LIMIT ${SPANS_MAX}`,
    );
    const { lines, totalNanos } = waterfall(rows.map(spanOf));
    const detail = h("aside", { class: "span-detail", "aria-live": "polite" }, h("p", { class: "empty" }, "Choose a span."));
    const services = [...new Set(lines.map(({ span }) => span.service))];
    const hue = (service: string): number => (services.indexOf(service) * 137 + 200) % 360;
    const spans = lines.map(({ span, depth, offsetNanos }) => {
      const bar = h("span", { class: "span-bar" });
      bar.style.left = `${(offsetNanos / totalNanos) * 100}%`;
      bar.style.width = `${Math.max(0.2, (span.durationNanos / totalNanos) * 100)}%`;
      bar.style.backgroundColor = `hsl(${hue(span.service)} 55% 50%)`;
      const name = h("span", { class: "span-name" }, h("b", {}, span.service), " ", span.name);
      name.style.paddingLeft = `${Math.min(depth, 30) * 14}px`;
      const line = h(
        "button",
        { type: "button", class: `span-line${span.isFailed ? " failed" : ""}` },
        name,
        h("span", { class: "span-track" }, bar, h("span", { class: "span-time" }, millisText(span.durationNanos / 1e6))),
      );
      line.addEventListener("click", () => {
        line.parentElement?.querySelector('[aria-current="true"]')?.removeAttribute("aria-current");
        line.setAttribute("aria-current", "true");
        show(detail, spanFacts(span));
      });
      return line;
    });
    show(
      this.content,
      h(
        "div",
        { class: "toolbar" },
        button("← All traces", () => goTo("traces")),
        h("h2", {}, lines[0]?.span.name ?? "Trace"),
        h("code", {}, trace),
        h("span", {}, `${countText(lines.length)} spans, ${services.length} services, ${millisText(totalNanos / 1e6)}`),
      ),
      lines.length === 0
        ? h("p", { class: "problem" }, `There is no trace ${trace}.`)
        : h("div", { class: "waterfall-frame" }, h("div", { class: "waterfall" }, spans), detail),
      rows.length === SPANS_MAX && h("p", { class: "hint" }, `Only the first ${SPANS_MAX} spans are shown.`),
    );
  }
}

function spanOf(row: SqlRow): Span {
  const parent = row["parent_span_id"];
  return {
    id: String(row["span_id"]),
    parent: parent === null || parent === "" || parent === undefined ? undefined : String(parent),
    name: String(row["span_name"] ?? ""),
    service: String(row["service_name"] ?? ""),
    startNanos: BigInt(row["timestamp"] as number | bigint | string),
    durationNanos: Number(row["duration_nano"] ?? 0),
    isFailed: row["span_status_code"] === "STATUS_CODE_ERROR",
    facts: row,
  };
}

function spanFacts(span: Span): HTMLElement {
  const rows = Object.entries(span.facts).filter(
    ([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null && value !== "" && value !== undefined,
  );
  return h(
    "div",
    {},
    h("h3", {}, span.name),
    h("p", {}, `${span.service} · ${millisText(span.durationNanos / 1e6)} · span ${span.id}`),
    attributes(rows),
  );
}
