/** Queries in SQL and PromQL: editor, answer as table or chart, history. */
import type { FetchAsk } from "../../api/answer-messages.ts";
import { Answers } from "../../api/answers.ts";
import { promqlAsk, sqlAsk } from "../../api/query-ask.ts";
import { problemOf, send, ServerError } from "../../api/client.ts";
import { editor, type Editor } from "../../editor/editor.ts";
import { placeOf } from "../../editor/error-place.ts";
import { plainSql, promqlLanguage, sqlLanguage } from "../../editor/languages.ts";
import { button, field, h, select } from "../../page/dom.ts";
import { bytesText, millisText, spanMillis } from "../../page/format.ts";
import { keep, onChange, read, settings } from "../../page/settings.ts";
import { ResultView } from "../../results/result-view.ts";
import { keepPanel } from "../panels/panel-store.ts";
import type { Shown } from "../page.ts";
import { goodStep, TimeRange } from "../time-range.ts";
import { historyDialog } from "./history-dialog.ts";
import { keepQuery, type Language } from "./query-history.ts";

const DRAFT_KEY = "varve.draft";
const EXAMPLES: Readonly<Record<Language, string>> = {
  sql: "SELECT table_schema, table_name, engine\nFROM information_schema.tables\nWHERE table_type = 'BASE TABLE'\nLIMIT 100",
  promql: "up",
};
const HINTS: Readonly<Record<Language, string>> = {
  sql: "SELECT …   (Ctrl-Enter runs it, Ctrl-Space completes)",
  promql: "rate(requests_total[5m])",
};
const REFRESHES: readonly (readonly [string, string])[] = [
  ["", "Off"],
  ["5s", "5 s"],
  ["10s", "10 s"],
  ["30s", "30 s"],
  ["1m", "1 min"],
  ["5m", "5 min"],
];
const LIMITS: readonly (readonly [string, string])[] = [
  ["1000", "1,000"],
  ["10000", "10,000"],
  ["100000", "100,000"],
  ["1000000", "1,000,000"],
  ["", "None"],
];

/** Shows the page. @param rest language and text of a query to begin with */
export function queryPage(rest: readonly string[]): Shown {
  const page = new QueryPage(rest);
  return { element: page.element, close: () => page.close() };
}

class QueryPage {
  readonly element: HTMLElement;
  private language: Language;
  private readonly drafts: Record<Language, string>;
  private readonly answers = new Answers();
  private readonly result = new ResultView(this.answers);
  private readonly editor: Editor;
  private readonly range: TimeRange;
  private readonly step: HTMLInputElement = h("input", { type: "text", size: 6, placeholder: "auto", "aria-label": "Step, such as 30s" });
  private readonly promqlControls: HTMLElement;
  private readonly sqlControls: HTMLElement;
  private readonly runButton: HTMLButtonElement;
  private readonly tabs: HTMLElement;
  private limit = "10000";
  private isRunning = false;
  private refresh: ReturnType<typeof setTimeout> | undefined;
  private refreshMs: number | undefined;
  private readonly unlisten: () => void;

  constructor([language, text]: readonly string[]) {
    const kept = (read(DRAFT_KEY) ?? {}) as Partial<Record<Language | "last", string>>;
    this.language = language === "promql" || (language === undefined && kept.last === "promql") ? "promql" : "sql";
    this.drafts = { sql: kept.sql ?? EXAMPLES.sql, promql: kept.promql ?? EXAMPLES.promql };
    if (text !== undefined) this.drafts[this.language] = text;
    this.range = new TimeRange("1h", () => void this.run());
    this.editor = editor({
      label: "Query",
      text: this.drafts[this.language],
      hint: HINTS[this.language],
      language: plainSql(),
      onRun: () => void this.run(),
      onInput: () => this.keepDraft(),
    });
    this.runButton = button("Run", () => (this.isRunning ? this.answers.cancel() : void this.run()), {
      class: "primary",
      title: "Ctrl-Enter",
    });
    this.promqlControls = h("span", { class: "controls" }, this.range.element, field("Step", this.step));
    this.sqlControls = h(
      "span",
      { class: "controls" },
      field(
        "Rows at most",
        select(LIMITS, this.limit, (value) => (this.limit = value)),
      ),
      button("Format", () => void this.format(), { class: "quiet" }),
    );
    this.tabs = h("div", { role: "tablist", class: "tabs", "aria-label": "Language" });
    const bar = h(
      "div",
      { class: "toolbar" },
      this.tabs,
      this.sqlControls,
      this.promqlControls,
      field(
        "Refresh",
        select(REFRESHES, "", (value) => this.setRefresh(value)),
      ),
      h("span", { class: "grow" }),
      button("History", () => historyDialog((past) => this.open(past.language, past.text)), { class: "quiet" }),
      button("Save as panel", () => void this.savePanel(), { class: "quiet" }),
      this.runButton,
    );
    this.element = h(
      "div",
      { class: "page query-page" },
      h("h1", { class: "sr-only" }, "Query"),
      bar,
      h("div", { class: "editor-frame" }, this.editor.element),
      this.result.element,
    );
    this.answers.onProgress = (bytes) => this.result.showWaiting(`${bytesText(bytes)} so far`);
    this.unlisten = onChange(() => void this.complete());
    this.setLanguage(this.language);
    if (text !== undefined) void this.run();
    queueMicrotask(() => this.editor.focus());
  }

  close(): void {
    clearTimeout(this.refresh);
    this.unlisten();
    this.answers.close();
    this.editor.view.destroy();
  }

  private setLanguage(language: Language): void {
    this.language = language;
    this.promqlControls.hidden = language !== "promql";
    this.sqlControls.hidden = language !== "sql";
    this.tabs.replaceChildren(
      ...(["sql", "promql"] as const).map((each) =>
        button(each === "sql" ? "SQL" : "PromQL", () => this.open(each, this.drafts[each]), {
          role: "tab",
          class: "tab",
          "aria-selected": each === language ? "true" : "false",
        }),
      ),
    );
    void this.complete();
  }

  /** Takes the catalogue for completion. Without it the editor works as before. */
  private async complete(): Promise<void> {
    if (this.language === "promql") {
      this.editor.setLanguage(promqlLanguage());
      return;
    }
    this.editor.setLanguage(plainSql());
    try {
      const language = await sqlLanguage();
      if (this.language === "sql") this.editor.setLanguage(language);
    } catch (error) {
      if (!(error instanceof ServerError)) return;
      this.result.showProblem(`Completion has no names of tables: ${problemOf(error)}`);
    }
  }

  private open(language: Language, text: string): void {
    this.drafts[language] = text;
    this.setLanguage(language);
    this.editor.setText(text);
    this.editor.mark(undefined);
    this.editor.focus();
  }

  private keepDraft(): void {
    this.drafts[this.language] = this.editor.text();
    keep(DRAFT_KEY, { ...this.drafts, last: this.language });
  }

  private setRefresh(text: string): void {
    this.refreshMs = spanMillis(text);
    clearTimeout(this.refresh);
    if (this.refreshMs !== undefined) void this.run();
  }

  private async run(): Promise<void> {
    if (this.isRunning) return;
    clearTimeout(this.refresh);
    const text = this.editor.chosenText();
    const offset = text === this.editor.text() ? 0 : this.editor.view.state.selection.main.from;
    this.editor.mark(undefined);
    keepQuery(this.language, text);
    this.setRunning(true);
    const started = performance.now();
    const clock = setInterval(() => this.result.showWaiting(`${millisText(performance.now() - started)} …`), 500);
    try {
      const head = await this.answers.fetch(this.ask(text));
      clearInterval(clock);
      await this.result.showAnswer(head);
    } catch (error) {
      clearInterval(clock);
      const problem = problemOf(error);
      this.result.showProblem(problem);
      this.editor.mark(placeOf(problem, text, offset));
      this.refreshMs = undefined; // What fails once would fail each time.
    } finally {
      this.setRunning(false);
    }
    if (this.refreshMs !== undefined) this.refresh = setTimeout(() => void this.run(), this.refreshMs);
  }

  private ask(text: string): Omit<FetchAsk, "headers"> {
    if (this.language === "sql") return sqlAsk(settings.database, text, this.limit);
    const stretch = this.range.stretch();
    const step = this.step.value.trim() === "" ? goodStep(stretch) : (spanMillis(this.step.value) ?? Number(this.step.value) * 1000) / 1000;
    if (this.result.view === "table") this.result.view = "chart";
    return promqlAsk(settings.database, text, stretch, step);
  }

  private setRunning(isRunning: boolean): void {
    this.isRunning = isRunning;
    this.runButton.textContent = isRunning ? "Cancel" : "Run";
    this.runButton.classList.toggle("danger", isRunning);
    this.element.setAttribute("aria-busy", String(isRunning));
  }

  private async format(): Promise<void> {
    try {
      const response = await send("/v1/sql/format", { body: new URLSearchParams({ sql: this.editor.text() }) });
      const { formatted } = (await response.json()) as { readonly formatted: string };
      this.editor.setText(formatted);
      this.editor.mark(undefined);
    } catch (error) {
      const problem = problemOf(error);
      this.editor.mark(placeOf(problem, this.editor.text()));
      this.result.showProblem(problem);
    }
  }

  private async savePanel(): Promise<void> {
    const title = prompt("Name of the panel")?.trim();
    if (title === undefined || title === "") return;
    try {
      await keepPanel({ title, language: this.language, query: this.editor.text(), database: settings.database, view: this.result.view });
    } catch (error) {
      this.result.showProblem(problemOf(error));
    }
  }
}
