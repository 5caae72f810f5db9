/** How far an import or an export is: a line on a terminal that is written again and again, and nothing elsewhere. */
import { type Clock, systemClock } from "../../base/clock.ts";
import { shownCount, shownMillis } from "./shown.ts";
import type { ToolIo } from "../tool.ts";

/** How often the line is written. */
const EACH_MILLIS = 200;
/** Over how long the rate is taken. */
const RATE_MILLIS = 5_000;
const BAR_WIDTH = 20;

/** What is known of the work. */
export interface Progress {
  readonly rowCount: number;
  /** 0 to 1; undefined: nobody knows. */
  readonly part: number | undefined;
}

/** See the file header. */
export class ProgressLine {
  private readonly io: ToolIo;
  private readonly clock: Clock;
  private readonly name: string;
  private readonly began: number;
  private readonly marks: { readonly at: number; readonly rows: number; readonly part: number }[] = [];
  private last = Number.NEGATIVE_INFINITY;

  constructor(io: ToolIo, name: string, clock: Clock = systemClock) {
    this.io = io;
    this.name = name;
    this.clock = clock;
    this.began = clock.monotonicMillis();
  }

  /** Tells where it is. */
  update(progress: Progress): void {
    const now = this.clock.monotonicMillis();
    if (!this.io.isTerminal.stderr || now - this.last < EACH_MILLIS) return;
    this.last = now;
    this.marks.push({ at: now, rows: progress.rowCount, part: progress.part ?? 0 });
    while (this.marks.length > 2 && now - (this.marks[0]?.at ?? now) > RATE_MILLIS) this.marks.shift();
    this.io.err(`\r\u001b[K${this.line(progress, now)}`);
  }

  /** Ends the line with a sentence. */
  end(text: string): void {
    if (this.io.isTerminal.stderr) this.io.err(`\r\u001b[K${text}, ${shownMillis(this.clock.monotonicMillis() - this.began)}\n`);
  }

  private line({ rowCount, part }: Progress, now: number): string {
    const first = this.marks[0];
    const seconds = first === undefined ? 0 : (now - first.at) / 1000;
    const rate = first === undefined || seconds === 0 ? "" : `, ${shownCount((rowCount - first.rows) / seconds)} rows/s`;
    if (part === undefined) return `${this.name}: ${shownCount(rowCount)} rows${rate}`;
    const full = Math.round(Math.min(1, part) * BAR_WIDTH);
    const bar = `[${"#".repeat(full)}${" ".repeat(BAR_WIDTH - full)}] ${(part * 100).toFixed(1)} %`;
    const partRate = first === undefined || seconds === 0 ? 0 : (part - first.part) / seconds;
    const left = partRate > 0 ? `, ${shownSeconds((1 - part) / partRate)} left` : "";
    return `${this.name}: ${bar}, ${shownCount(rowCount)} rows${rate}${left}`;
  }
}

function shownSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
