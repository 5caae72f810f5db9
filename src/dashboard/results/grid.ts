/** A table of any length: only the rows in sight are elements. Rows come from the thread that holds the answer. */
import type { AnswerHead } from "../api/answer-messages.ts";
import type { Answers } from "../api/answers.ts";
import { unitsPerSecond } from "../api/answer-store.ts";
import { h, show } from "../page/dom.ts";
import { timeText } from "../page/format.ts";
import { settings } from "../page/settings.ts";

const ROW_PIXELS = 26;
/** Rows above and below those in sight. */
const MARGIN_ROWS = 20;
/** Browsers draw nothing beyond some 16 to 33 million pixels: longer tables are scrolled in proportion. */
const PIXELS_MAX = 12_000_000;
const LETTER_PIXELS = 7.7;
/** Of a name, which is bold. */
const NAME_LETTER_PIXELS = 9;
const WIDTH_LEAST = 60;
const WIDTH_MOST = 460;

/** Shows an answer. @returns the element, and what ends it */
export function grid(answers: Answers, head: AnswerHead): HTMLElement {
  return new Grid(answers, head).element;
}

class Grid {
  readonly element: HTMLElement;
  private readonly answers: Answers;
  private readonly head: AnswerHead;
  private readonly widths: readonly number[];
  private readonly body: HTMLElement;
  private readonly names: HTMLElement;
  private readonly pixels: number;
  private sorted: { readonly column: number; readonly descending: boolean } | undefined;
  private focused: { row: number; column: number } | undefined;
  private drawn = 0;

  constructor(answers: Answers, head: AnswerHead) {
    this.answers = answers;
    this.head = head;
    this.widths = head.columns.map(({ name, type }, i) => {
      const units = unitsPerSecond(type);
      const letters = units === undefined ? (head.widths[i] ?? 0) : 20 + Math.round(Math.log10(units));
      const wanted = Math.max(letters * LETTER_PIXELS, name.length * NAME_LETTER_PIXELS) + 22;
      return Math.round(Math.min(WIDTH_MOST, Math.max(WIDTH_LEAST, wanted)));
    });
    const total = this.widths.reduce((sum, width) => sum + width, 0);
    this.pixels = Math.min(PIXELS_MAX, head.rowCount * ROW_PIXELS);
    this.names = h("div", { class: "grid-names", role: "row" });
    this.body = h("div", { class: "grid-body", role: "presentation" });
    this.element = h(
      "div",
      {
        class: "grid",
        role: "grid",
        tabIndex: 0,
        "aria-label": "Rows of the answer",
        "aria-rowcount": head.rowCount + 1,
        "aria-colcount": head.columns.length,
      },
      h("div", { class: "grid-inner", role: "rowgroup" }, this.names, this.body),
    );
    const inner = this.element.firstElementChild as HTMLElement;
    inner.style.minWidth = `${total}px`;
    this.body.style.height = `${this.pixels}px`;
    this.showNames();
    this.element.addEventListener("scroll", () => requestAnimationFrame(() => void this.draw()), { passive: true });
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => void this.draw()).observe(this.element);
  }

  private showNames(): void {
    show(
      this.names,
      this.head.columns.map(({ name, type }, column) => {
        const order = this.sorted?.column === column ? (this.sorted.descending ? "descending" : "ascending") : "none";
        const label = h(
          "button",
          { type: "button", onclick: () => void this.sort(column), title: `${name} (${type}). Click to sort.` },
          name,
        );
        const cell = h("div", { role: "columnheader", class: "grid-name", "aria-sort": order }, label);
        cell.style.width = `${this.widths[column]}px`;
        return cell;
      }),
    );
  }

  private async sort(column: number): Promise<void> {
    const descending = this.sorted?.column === column && !this.sorted.descending;
    await this.answers.sort(column, descending);
    this.sorted = { column, descending };
    this.showNames();
    await this.draw();
  }

  /** First row in sight. */
  private firstRow(): number {
    const room = Math.max(1, this.pixels - this.element.clientHeight);
    const rowsBeyond = Math.max(0, this.head.rowCount - Math.floor(this.element.clientHeight / ROW_PIXELS) + 1);
    if (this.head.rowCount * ROW_PIXELS <= PIXELS_MAX) return Math.floor(this.element.scrollTop / ROW_PIXELS);
    return Math.round((this.element.scrollTop / room) * rowsBeyond);
  }

  private async draw(): Promise<void> {
    const number = ++this.drawn;
    const first = this.firstRow();
    const from = Math.max(0, first - MARGIN_ROWS);
    const to = Math.min(this.head.rowCount, first + Math.ceil(this.element.clientHeight / ROW_PIXELS) + MARGIN_ROWS);
    const rows = await this.answers.rows(from, to);
    if (number !== this.drawn) return; // Scrolled on meanwhile.
    const isExact = this.head.rowCount * ROW_PIXELS <= PIXELS_MAX;
    const top = isExact ? from * ROW_PIXELS : this.element.scrollTop - (first - from) * ROW_PIXELS;
    const page = h("div", { class: "grid-page", role: "presentation" });
    page.style.transform = `translateY(${Math.max(0, top)}px)`;
    rows.forEach((row, i) => page.appendChild(this.row(row, from + i)));
    this.body.replaceChildren(page);
  }

  private row(cells: readonly (string | null)[], index: number): HTMLElement {
    const line = h("div", { class: "grid-row", role: "row", "aria-rowindex": index + 2 });
    cells.forEach((text, column) => {
      const type = this.head.columns[column]?.type ?? "";
      const isNumber = /^(?:U?Int|Float|Decimal)/.test(type);
      const isFocused = this.focused?.row === index && this.focused.column === column;
      const cell = h(
        "div",
        {
          role: "gridcell",
          class: `cell${text === null ? " null" : isNumber ? " number" : ""}${isFocused ? " focused" : ""}`,
          title: text ?? undefined,
        },
        text === null ? "NULL" : shownText(text, type),
      );
      cell.style.width = `${this.widths[column]}px`;
      cell.addEventListener("click", () => this.focus(index, column));
      line.appendChild(cell);
    });
    return line;
  }

  private focus(row: number, column: number): void {
    this.focused = {
      row: Math.min(Math.max(0, row), this.head.rowCount - 1),
      column: Math.min(Math.max(0, column), this.head.columns.length - 1),
    };
    const top = this.focused.row * ROW_PIXELS;
    const isExact = this.head.rowCount * ROW_PIXELS <= PIXELS_MAX;
    if (isExact && top < this.element.scrollTop) this.element.scrollTop = top;
    const bottom = top + 2 * ROW_PIXELS - this.element.clientHeight;
    if (isExact && bottom > this.element.scrollTop) this.element.scrollTop = bottom;
    void this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const { row, column } = this.focused ?? { row: 0, column: 0 };
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PIXELS) - 2);
    const to: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: [0, column],
      End: [this.head.rowCount - 1, column],
    };
    const next = to[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.focus(next[0], next[1]);
    } else if (event.key === "c" && (event.ctrlKey || event.metaKey) && getSelection()?.isCollapsed !== false) {
      void this.answers.rows(row, row + 1).then((rows) => navigator.clipboard.writeText(rows[0]?.[column] ?? ""));
    }
  }
}

/** A cell as it is shown: moments by the zone of the page. */
export function shownText(text: string, type: string): string {
  const units = unitsPerSecond(type);
  if (units === undefined || !text.endsWith("Z")) return text.length > 300 ? `${text.slice(0, 300)}…` : text;
  const digits = Math.round(Math.log10(units));
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? "";
  return timeText(Date.parse(text), digits, fraction.slice(3), settings.zone);
}
