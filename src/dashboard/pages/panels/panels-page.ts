/** Saved queries beside each other, refreshed together. */
import type { FetchAsk } from "../../api/answer-messages.ts";
import { Answers } from "../../api/answers.ts";
import { promqlAsk, sqlAsk } from "../../api/query-ask.ts";
import { problemOf } from "../../api/client.ts";
import { button, field, h, select, show } from "../../page/dom.ts";
import { spanMillis } from "../../page/format.ts";
import { type Chart, chart } from "../../results/chart.ts";
import { chartChoice } from "../../results/chart-choice.ts";
import { grid } from "../../results/grid.ts";
import { goTo, type Shown } from "../page.ts";
import { goodStep, TimeRange } from "../time-range.ts";
import { type Panel, panels, removePanel } from "./panel-store.ts";

const CHART_PIXELS = 240;
/** Rows of a panel. */
const ROWS_MAX = "10000";

/** Shows the page. */
export function panelsPage(): Shown {
  const board = h("div", { class: "board" });
  const cards: Card[] = [];
  let timer: ReturnType<typeof setInterval> | undefined;
  const refresh = (): void => cards.forEach((card) => void card.refresh());
  const range = new TimeRange("1h", refresh);
  const every = select(
    [
      ["", "Off"],
      ["10s", "10 s"],
      ["30s", "30 s"],
      ["1m", "1 min"],
    ],
    "",
    (value) => {
      clearInterval(timer);
      const ms = spanMillis(value);
      if (ms !== undefined) timer = setInterval(refresh, ms);
    },
  );
  const load = async (): Promise<void> => {
    for (const card of cards.splice(0)) card.close();
    try {
      const found = await panels();
      cards.push(...found.map((panel) => new Card(panel, range, () => void load())));
      show(
        board,
        found.length === 0
          ? h("p", { class: "empty" }, "No panels yet: run a query and save it as one.")
          : cards.map(({ element }) => element),
      );
      refresh();
    } catch (error) {
      show(board, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  };
  void load();
  return {
    element: h(
      "div",
      { class: "page" },
      h(
        "div",
        { class: "toolbar" },
        h("h1", {}, "Panels"),
        h("span", { class: "grow" }),
        range.element,
        field("Refresh", every),
        button("Refresh now", refresh),
      ),
      board,
    ),
    close: () => {
      clearInterval(timer);
      for (const card of cards) card.close();
    },
  };
}

class Card {
  readonly element: HTMLElement;
  private readonly panel: Panel;
  private readonly range: TimeRange;
  private readonly answers = new Answers();
  private readonly content: HTMLElement = h("div", { class: "card-content" });
  private drawn: Chart | undefined;

  constructor(panel: Panel, range: TimeRange, onRemoved: () => void) {
    this.panel = panel;
    this.range = range;
    const remove = (): void => {
      if (confirm(`Remove the panel "${panel.title}"?`))
        void removePanel(panel.title).then(onRemoved, (error: unknown) => this.problem(error));
    };
    this.element = h(
      "article",
      { class: "card panel" },
      h(
        "header",
        {},
        h("h2", {}, panel.title),
        h("span", { class: "grow" }),
        button("Edit", () => goTo("query", panel.language, panel.query), { class: "quiet" }),
        button("Remove", remove, { class: "quiet" }),
      ),
      this.content,
    );
  }

  close(): void {
    this.drawn?.close();
    this.answers.close();
  }

  async refresh(): Promise<void> {
    try {
      const head = await this.answers.fetch(this.ask());
      const choice = this.panel.view === "chart" ? chartChoice(head.columns) : undefined;
      this.drawn?.close();
      this.drawn = undefined;
      if (choice === undefined) {
        show(this.content, grid(this.answers, head));
        return;
      }
      this.drawn = chart(await this.answers.chart({ ...choice, pointsMax: 2000 }), { height: CHART_PIXELS, legend: true });
      show(this.content, this.drawn.element);
    } catch (error) {
      this.problem(error);
    }
  }

  private ask(): Omit<FetchAsk, "headers"> {
    const { language, query, database } = this.panel;
    if (language === "sql") return sqlAsk(database, query, ROWS_MAX);
    const stretch = this.range.stretch();
    return promqlAsk(database, query, stretch, goodStep(stretch));
  }

  private problem(error: unknown): void {
    show(this.content, h("p", { class: "problem", role: "alert" }, problemOf(error)));
  }
}
