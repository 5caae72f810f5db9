/** The stretch of time that a page asks for: the last so much, or from one moment to another. */
import { field, h, select } from "../page/dom.ts";
import { inputTime, momentOf, spanMillis } from "../page/format.ts";
import { settings } from "../page/settings.ts";

/** A stretch in milliseconds since 1970. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

const SPANS: readonly string[] = ["5m", "15m", "1h", "3h", "6h", "12h", "1d", "2d", "7d", "30d"];

/** Controls for a stretch. */
export class TimeRange {
  readonly element: HTMLElement = h("div", { class: "time-range", role: "group", "aria-label": "Time" });
  private span: string;
  private readonly from: HTMLInputElement = h("input", { type: "datetime-local", step: 1 });
  private readonly to: HTMLInputElement = h("input", { type: "datetime-local", step: 1 });
  private readonly moments: HTMLElement;
  private readonly choice: HTMLSelectElement;

  constructor(span: string, onChange: () => void) {
    this.span = span;
    this.choice = select([...SPANS.map((each) => [each, `Last ${each}`] as const), ["between", "Between …"]], span, (value) => {
      const before = this.stretch();
      this.span = value;
      if (value === "between") this.fill(before);
      this.moments.hidden = value !== "between";
      onChange();
    });
    this.moments = h("span", { class: "moments" }, field("From", this.from), field("To", this.to));
    this.moments.hidden = true;
    for (const input of [this.from, this.to]) input.addEventListener("change", onChange);
    this.element.append(field("Time", this.choice), this.moments);
  }

  /** The stretch, as of now. */
  stretch(): Stretch {
    const now = Date.now();
    const span = spanMillis(this.span);
    if (span !== undefined) return { from: now - span, to: now };
    return { from: momentOf(this.from.value, settings.zone) ?? now - 3_600_000, to: momentOf(this.to.value, settings.zone) ?? now };
  }

  /** Whether it moves with the time. */
  get isMoving(): boolean {
    return this.span !== "between";
  }

  /** Sets a stretch between two moments. */
  set({ from, to }: Stretch): void {
    this.span = "between";
    this.choice.value = "between";
    this.moments.hidden = false;
    this.fill({ from, to });
  }

  private fill({ from, to }: Stretch): void {
    this.from.value = inputTime(Math.floor(from / 1000) * 1000, settings.zone);
    this.to.value = inputTime(Math.ceil(to / 1000) * 1000, settings.zone);
  }
}

/** A step that gives some 250 points, of those that people use, in seconds. */
export function goodStep({ from, to }: Stretch): number {
  const wanted = (to - from) / 1000 / 250;
  return [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400].find((step) => step >= wanted) ?? 604_800;
}
