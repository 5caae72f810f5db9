/** An answer in the page: as a table or as a chart, with what it took, and as a file. */
import type { AnswerHead } from "../api/answer-messages.ts";
import type { Answers } from "../api/answers.ts";
import { problemOf } from "../api/client.ts";
import { button, h, show } from "../page/dom.ts";
import { bytesText, millisText } from "../page/format.ts";
import { onChange } from "../page/settings.ts";
import { type Chart, chart } from "./chart.ts";
import { chartChoice, numberColumns, timeColumns } from "./chart-choice.ts";
import { grid } from "./grid.ts";

const CHART_PIXELS = 380;
/** Points of all lines: some times the pixels of a wide screen. */
const POINTS_MAX = 6000;

/** The lower half of the query page. */
export class ResultView {
  readonly element: HTMLElement = h("section", { class: "result", "aria-label": "Answer" });
  /** What is asked for first. */
  view: "table" | "chart" = "table";
  private readonly answers: Answers;
  private head: AnswerHead | undefined;
  private readonly bar: HTMLElement = h("div", { class: "result-bar", role: "status", "aria-live": "polite" });
  private readonly content: HTMLElement = h("div", { class: "result-content" });
  private drawn: Chart | undefined;
  private ys: readonly number[] | undefined;

  constructor(answers: Answers) {
    this.answers = answers;
    this.element.append(this.bar, this.content);
    onChange(() => void this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => void this.draw());
  }

  /** Says that an answer is on its way. */
  showWaiting(text: string): void {
    this.clear();
    show(this.bar, h("span", { class: "spinner", "aria-hidden": "true" }), text);
  }

  /** Says what went wrong. */
  showProblem(text: string): void {
    this.clear();
    show(this.bar);
    show(this.content, h("pre", { class: "problem", role: "alert" }, text));
  }

  /** Shows an answer. */
  async showAnswer(head: AnswerHead): Promise<void> {
    this.clear();
    this.head = head;
    if (chartChoice(head.columns) === undefined) this.view = "table";
    await this.draw();
  }

  private clear(): void {
    this.head = undefined;
    this.ys = undefined;
    this.drawn?.close();
    this.drawn = undefined;
    show(this.content);
  }

  private async draw(): Promise<void> {
    const { head } = this;
    if (head === undefined) return;
    this.drawn?.close();
    this.drawn = undefined;
    const choice = chartChoice(head.columns);
    const tab = (name: "table" | "chart", label: string): HTMLElement =>
      button(
        label,
        () => {
          this.view = name;
          void this.draw();
        },
        { role: "tab", "aria-selected": this.view === name ? "true" : "false", class: "tab" },
      );
    const text =
      head.columns.length === 0 && head.affectedRows !== undefined
        ? `${head.affectedRows.toLocaleString("en-US")} rows changed`
        : `${head.rowCount.toLocaleString("en-US")} rows`;
    const worked = head.serverMs === undefined ? "" : `, ${millisText(head.serverMs)} in the server`;
    show(
      this.bar,
      choice !== undefined &&
        h("div", { role: "tablist", class: "tabs", "aria-label": "View of the answer" }, tab("table", "Table"), tab("chart", "Chart")),
      h("span", { class: "result-facts" }, `${text} in ${millisText(head.wallMs)}${worked}, ${bytesText(head.bytes)}`),
      head.warnings.length > 0 && h("span", { class: "warning", title: head.warnings.join("\n") }, `${head.warnings.length} warnings`),
      head.columns.length > 0 && button("Save as CSV", () => void this.save(), { class: "quiet" }),
    );
    if (head.columns.length === 0) show(this.content);
    else if (this.view === "chart" && choice !== undefined) await this.drawChart(head);
    else show(this.content, head.rowCount === 0 ? h("p", { class: "empty" }, "No rows.") : grid(this.answers, head));
  }

  private async drawChart(head: AnswerHead): Promise<void> {
    const choice = chartChoice(head.columns);
    if (choice === undefined) return;
    const ys = this.ys ?? choice.ys;
    const times = timeColumns(head.columns);
    try {
      const data = await this.answers.chart({ ...choice, x: times[0] ?? choice.x, ys, pointsMax: POINTS_MAX });
      if (this.head !== head) return;
      const columns = numberColumns(head.columns).map((column) => {
        const box = h("input", { type: "checkbox", checked: ys.includes(column) });
        box.addEventListener("change", () => {
          this.ys = box.checked ? [...ys, column].sort((a, b) => a - b) : ys.filter((each) => each !== column);
          void this.draw();
        });
        return h("label", { class: "check" }, box, head.columns[column]?.name);
      });
      this.drawn = chart(data, { height: CHART_PIXELS });
      show(
        this.content,
        columns.length > 1 && h("fieldset", { class: "columns" }, h("legend", {}, "Lines of"), columns),
        data.lines.length === 0 ? h("p", { class: "empty" }, "Nothing to draw.") : this.drawn.element,
        data.leftOut > 0 &&
          h("p", { class: "hint" }, `Only the first ${data.lines.length} lines are drawn; group or filter to see the others.`),
      );
    } catch (error) {
      this.showProblem(problemOf(error));
    }
  }

  private async save(): Promise<void> {
    const address = URL.createObjectURL(await this.answers.csv());
    const link = h("a", { href: address, download: "answer.csv" });
    link.click();
    URL.revokeObjectURL(address);
  }
}
