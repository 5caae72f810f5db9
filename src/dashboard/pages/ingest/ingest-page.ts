/** Writing by hand: line protocol and pipelines, tried before anything is written. */
import { cellText, unitsPerSecond } from "../../api/answer-store.ts";
import { problemOf, send, type SqlCell } from "../../api/client.ts";
import { editor, type Editor } from "../../editor/editor.ts";
import { button, field, h, select, show } from "../../page/dom.ts";
import { settings } from "../../page/settings.ts";
import { shownText } from "../../results/grid.ts";
import type { Shown } from "../page.ts";

const LINES = "weather,place=lake,depth=3 temperature=11.5,oxygen=9i\nweather,place=shore temperature=14.25";
const PIPELINE = `version: 2
processors:
  - dissect:
      fields:
        - message
      patterns:
        - '%{ip} %{?ignored} [%{ts}] "%{method} %{path}" %{status}'
  - date:
      fields:
        - ts
      formats:
        - '%d/%b/%Y:%H:%M:%S %z'
transform:
  - fields: [ip, method]
    type: string
    index: inverted
  - fields: [path]
    type: string
  - fields: [status]
    type: int32
  - fields: [ts]
    type: time
    index: timestamp
`;
const DOCUMENTS = `[{"message": "10.0.0.7 - [21/Nov/2026:10:00:00 +0000] \\"GET /index.html\\" 200"}]`;
const PRECISIONS = ["ns", "us", "ms", "s", "m", "h"] as const;

/** Time without a key after which lines are tried out. */
const PAUSE_MS = 300;

/** What a dry run of lines answers. */
interface LinesAnswer {
  readonly tables: readonly {
    readonly table: string;
    readonly columns: readonly { readonly name: string; readonly type: string; readonly role: string }[];
    readonly rows: readonly (readonly (string | null)[])[];
  }[];
  readonly errors: readonly { readonly line: number; readonly reason: string }[];
  readonly errorCount: number;
  readonly rowCount: number;
}

/** Shows the page. */
export function ingestPage(): Shown {
  const lines = new LinesForm();
  const pipelines = new PipelineForm();
  return {
    element: h("div", { class: "page" }, h("h1", {}, "Ingest"), lines.element, pipelines.element),
    close: () => {
      lines.close();
      pipelines.close();
    },
  };
}

class LinesForm {
  readonly element: HTMLElement;
  private readonly editor: Editor;
  private readonly result: HTMLElement = h("div", { class: "try-result", "aria-live": "polite" });
  private precision = "ns";
  private pause: ReturnType<typeof setTimeout> | undefined;
  private tries = 0;

  constructor() {
    this.editor = editor({
      label: "Line protocol",
      text: LINES,
      hint: "measurement,tag=value field=1 1700000000000000000",
      language: [],
      onInput: () => this.tryOutSoon(),
      onRun: () => void this.write(),
    });
    const precision = select(
      PRECISIONS.map((each) => [each, each] as const),
      this.precision,
      (value) => {
        this.precision = value;
        this.tryOutSoon();
      },
    );
    this.element = h(
      "section",
      { class: "card" },
      h(
        "header",
        {},
        h("h2", {}, "Line protocol"),
        h("span", { class: "grow" }),
        field("Precision", precision),
        button("Write", () => void this.write(), { class: "primary", title: "Ctrl-Enter" }),
      ),
      h("p", { class: "hint" }, "What these lines would write is shown as you type. Nothing is sent before you press Write."),
      h("div", { class: "editor-frame" }, this.editor.element),
      this.result,
    );
    void this.tryOut();
  }

  close(): void {
    clearTimeout(this.pause);
    this.editor.view.destroy();
  }

  private tryOutSoon(): void {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => void this.tryOut(), PAUSE_MS);
  }

  private async tryOut(): Promise<void> {
    const number = ++this.tries;
    try {
      const response = await send(`/v1/influxdb/_dryrun?${this.query()}`, {
        body: this.editor.text(),
        headers: { "content-type": "text/plain" },
      });
      const answer = (await response.json()) as LinesAnswer;
      if (number === this.tries) this.show(answer);
    } catch (error) {
      show(this.result, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }

  private query(): string {
    return new URLSearchParams({ db: settings.database, precision: this.precision }).toString();
  }

  private show({ tables, errors, errorCount, rowCount }: LinesAnswer): void {
    const [first] = errors;
    this.editor.mark(first === undefined ? undefined : this.lineOf(first.line, first.reason));
    show(
      this.result,
      h(
        "p",
        {},
        `${rowCount.toLocaleString("en-US")} rows for ${tables.length} tables`,
        errorCount === 0 ? "." : `; ${errorCount} lines are refused:`,
      ),
      errors.length > 0 &&
        h(
          "ul",
          { class: "problems" },
          errors.slice(0, 20).map(({ line, reason }) => h("li", { class: "problem" }, `Line ${line}: ${reason}`)),
        ),
      tables.map(({ table, columns, rows }) =>
        rowsTable(
          table,
          columns,
          rows.map((row) => row.map((text, i) => momentText(text, columns[i]?.type ?? ""))),
        ),
      ),
    );
  }

  private lineOf(line: number, text: string): { readonly from: number; readonly to: number; readonly text: string } {
    const { doc } = this.editor.view.state;
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
    return { from, to, text };
  }

  private async write(): Promise<void> {
    this.tries++; // What is being tried out is no longer of interest.
    try {
      await send(`/v1/influxdb/write?${this.query()}`, { body: this.editor.text(), headers: { "content-type": "text/plain" } });
      show(this.result, h("p", { class: "good", role: "status" }, `Written to ${settings.database}: durable and readable.`));
    } catch (error) {
      show(this.result, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }
}

/** Moments as people read them; all else as it is. */
function momentText(text: string | null, type: string): string | null {
  return text === null || unitsPerSecond(type) === undefined ? text : shownText(cellText(BigInt(text), type) ?? text, type);
}

class PipelineForm {
  readonly element: HTMLElement;
  private readonly pipeline: Editor;
  private readonly documents: Editor;
  private readonly result: HTMLElement = h("div", { class: "try-result", "aria-live": "polite" });
  private readonly name: HTMLInputElement = h("input", { type: "text", placeholder: "access_log", size: 16 });
  private type = "application/json";

  constructor() {
    const run = (): void => void this.tryOut();
    this.pipeline = editor({ label: "Pipeline (YAML)", text: PIPELINE, hint: "version: 2", language: [], onRun: run });
    this.documents = editor({ label: "Documents", text: DOCUMENTS, hint: "[{…}]", language: [], onRun: run });
    const types = select(
      [
        ["application/json", "JSON"],
        ["application/x-ndjson", "NDJSON"],
        ["text/plain", "Text"],
      ],
      this.type,
      (value) => (this.type = value),
    );
    this.element = h(
      "section",
      { class: "card" },
      h(
        "header",
        {},
        h("h2", {}, "Pipeline"),
        h("span", { class: "grow" }),
        field("Documents are", types),
        button("Try", run, { class: "primary", title: "Ctrl-Enter" }),
        field("Name", this.name),
        button("Save", () => void this.save()),
      ),
      h("p", { class: "hint" }, "Try runs the documents through the pipeline and shows the rows; nothing is written."),
      h(
        "div",
        { class: "two" },
        h("div", { class: "editor-frame" }, this.pipeline.element),
        h("div", { class: "editor-frame" }, this.documents.element),
      ),
      this.result,
    );
  }

  close(): void {
    this.pipeline.view.destroy();
    this.documents.view.destroy();
  }

  private async tryOut(): Promise<void> {
    try {
      const body = JSON.stringify({ pipeline: this.pipeline.text(), data: this.documents.text(), data_type: this.type });
      const response = await send(`/v1/pipelines/_dryrun?db=${encodeURIComponent(settings.database)}`, {
        body,
        headers: { "content-type": "application/json" },
      });
      const groups = (await response.json()) as readonly DryGroup[];
      show(
        this.result,
        groups.map(({ schema, rows }) =>
          rowsTable(
            "Rows",
            schema.map(({ name, data_type, column_type }) => ({ name, type: data_type, role: column_type.toLowerCase() })),
            rows.map((row) => row.map(({ value }) => (value === null || value === undefined ? null : String(value)))),
          ),
        ),
      );
    } catch (error) {
      show(this.result, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }

  private async save(): Promise<void> {
    const name = this.name.value.trim();
    try {
      if (name === "") throw new Error("Give the pipeline a name first.");
      await send(`/v1/pipelines/${encodeURIComponent(name)}?db=${encodeURIComponent(settings.database)}`, {
        body: this.pipeline.text(),
        headers: { "content-type": "application/x-yaml" },
      });
      show(
        this.result,
        h("p", { class: "good", role: "status" }, `Saved. Send documents to /v1/ingest?table=TABLE&pipeline_name=${name}.`),
      );
    } catch (error) {
      show(this.result, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  }
}

interface DryGroup {
  readonly schema: readonly { readonly name: string; readonly data_type: string; readonly column_type: string }[];
  readonly rows: readonly (readonly { readonly value: SqlCell }[])[];
}

function rowsTable(
  title: string,
  columns: readonly { readonly name: string; readonly type: string; readonly role: string }[],
  rows: readonly (readonly (string | null)[])[],
): HTMLElement {
  return h(
    "div",
    { class: "scroll-x", tabIndex: 0, role: "region", "aria-label": title },
    h(
      "table",
      {},
      h("caption", {}, title),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map(({ name, type, role }) => h("th", { scope: "col", title: `${type}, ${role}` }, name, h("small", {}, ` ${role}`))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((text) => h("td", { class: text === null ? "null" : undefined }, text ?? "NULL")),
          ),
        ),
      ),
    ),
  );
}
