/** Lines over time (uPlot): a legend that switches them, zoom by dragging, colours that tell apart in both themes. */
import uPlot from "uplot";
import type { ChartData } from "../api/answer-messages.ts";
import { h } from "../page/dom.ts";
import { countText } from "../page/format.ts";
import { isDark, settings } from "../page/settings.ts";

/** Twelve that differ for people who do not see all colours as well: Okabe and Ito's eight, and four between. */
const COLOURS_LIGHT: readonly string[] = [
  "#0072b2",
  "#d55e00",
  "#007a5a",
  "#a3006b",
  "#8a6d00",
  "#3d3d3d",
  "#2f6fd0",
  "#b3261e",
  "#4b7f00",
  "#6a3fb5",
  "#00738c",
  "#8f4a2b",
];
const COLOURS_DARK: readonly string[] = [
  "#56b4e9",
  "#e69f00",
  "#2fc99b",
  "#e58fc3",
  "#f0e442",
  "#d0d0d0",
  "#8ab4ff",
  "#ff8a80",
  "#b5dd6a",
  "#c3a6ff",
  "#5fd5e6",
  "#e0a080",
];

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
/** Texts of the marks of time by their distance in seconds; the second text adds a line where a larger part changes. */
const TIME_MARKS: (string | number | null)[][] = [
  [365 * DAY, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * DAY, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [DAY, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [HOUR, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [MINUTE, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [0.001, "{ss}.{fff}", "\n{YYYY}-{MM}-{DD} {HH}:{mm}", null, "\n{MM}-{DD} {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
];

/** A chart in the page. */
export interface Chart {
  readonly element: HTMLElement;
  /** Ends it. */
  close(): void;
}

/** How a chart is drawn. */
export interface ChartOptions {
  readonly height: number;
  readonly kind?: "lines" | "bars";
  readonly legend?: boolean;
  /** How values are printed; absent: as counts. */
  readonly print?: (value: number) => string;
  /** Whether the axis of values begins at 0. */
  readonly fromZero?: boolean;
  /** Told of a stretch that was dragged over, in seconds. */
  readonly onZoom?: (from: number, to: number) => void;
}

/** Draws `data`. The element takes the width of where it stands. */
export function chart(data: ChartData, options: ChartOptions): Chart {
  const colours = isDark() ? COLOURS_DARK : COLOURS_LIGHT;
  const axis = isDark() ? "#b8c4ca" : "#47555c";
  const lattice = isDark() ? "#2b3940" : "#e2e8ea";
  const element = h("div", {
    class: "chart",
    role: "img",
    "aria-label": `Chart of ${data.lines.length} lines over ${data.x.length} moments`,
  });
  const print = options.print ?? countText;
  const bars = options.kind === "bars" ? uPlot.paths.bars?.({ size: [0.9, 60] }) : undefined;
  const series: uPlot.Series[] = data.lines.map(({ label }, i) => {
    const stroke = colours[i % colours.length] ?? "#888";
    return {
      label,
      stroke,
      width: 1.5,
      spanGaps: false,
      value: (_, value) => (value === null ? "–" : print(value)),
      ...(bars === undefined ? {} : { paths: bars, fill: stroke, width: 0 }),
      points: { show: data.x.length < 2 },
    };
  });
  const plot = new uPlot(
    {
      width: 600,
      height: options.height,
      ...(settings.zone === "UTC" ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") } : {}),
      series: [{ value: (_, value) => (value === null ? "–" : momentText(value)) }, ...series],
      axes: [
        { stroke: axis, grid: { stroke: lattice, width: 1 }, ticks: { stroke: lattice }, values: TIME_MARKS, space: 72 },
        {
          stroke: axis,
          grid: { stroke: lattice, width: 1 },
          ticks: { stroke: lattice },
          size: 72,
          values: (_, ticks) => ticks.map((tick) => print(tick)),
        },
      ],
      scales: options.fromZero === true || bars !== undefined ? { y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] } } : {},
      legend: { show: options.legend ?? true, live: true },
      cursor: { drag: { x: true, y: false, setScale: options.onZoom === undefined }, focus: { prox: 24 } },
      hooks: {
        setSelect: [
          (self) => {
            if (options.onZoom === undefined || self.select.width < 4) return;
            options.onZoom(self.posToVal(self.select.left, "x"), self.posToVal(self.select.left + self.select.width, "x"));
          },
        ],
      },
    },
    // Gaps are null there; NaN is what typed arrays have for them.
    [data.x as unknown as number[], ...data.lines.map(({ y }) => Array.from(y, (value) => (Number.isNaN(value) ? null : value)))],
    element,
  );
  const observer = new ResizeObserver(() => {
    if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height: options.height });
  });
  observer.observe(element);
  return {
    element,
    close: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function momentText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return settings.zone === "UTC" ? date.toISOString().replace("T", " ").slice(0, 19) : date.toLocaleString();
}
