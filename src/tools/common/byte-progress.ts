/** A line of progress on a terminal: how many of how many bytes, how fast, how long yet. Nothing where nobody sees it. */
import { type Clock, systemClock } from "../../base/clock.ts";
import type { ToolIo } from "../tool.ts";

/** Shortest time between two drawings: a person sees no more. */
const DRAW_MILLIS = 200;
const BAR_CHARACTERS = 24;

/** See the file header. One line, overwritten in place, gone after `end`. */
export class ByteProgress {
  private readonly io: Pick<ToolIo, "err" | "isTerminal">;
  private readonly clock: Clock;
  private readonly noun: string;
  private readonly total: number;
  private readonly started: number;
  private done = 0;
  private drawn = Number.NEGATIVE_INFINITY;
  private width = 0;

  /** @param noun what is done, e.g. "checking"; `total` bytes are to be done */
  constructor(io: Pick<ToolIo, "err" | "isTerminal">, noun: string, total: number, clock: Clock = systemClock) {
    this.io = io;
    this.noun = noun;
    this.total = total;
    this.clock = clock;
    this.started = clock.monotonicMillis();
  }

  /** Says that so many more bytes are done. */
  add(bytes: number): void {
    this.done += bytes;
    if (!this.io.isTerminal.stderr) return;
    const now = this.clock.monotonicMillis();
    if (now - this.drawn < DRAW_MILLIS) return;
    this.drawn = now;
    const line = progressLine(this.noun, this.done, this.total, now - this.started);
    this.io.err(`\r${line.padEnd(this.width)}`);
    this.width = line.length;
  }

  /** Takes the line away, e.g. before something else is printed. */
  clear(): void {
    if (this.width > 0) this.io.err(`\r${" ".repeat(this.width)}\r`);
    this.width = 0;
  }
}

/** `checking ██████░░░░  1.2 GiB of 3.4 GiB, 210 MiB/s, 11 s left`. */
export function progressLine(noun: string, done: number, total: number, millis: number): string {
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(part * BAR_CHARACTERS);
  const bar = "█".repeat(filled) + "░".repeat(BAR_CHARACTERS - filled);
  const rate = millis > 0 ? (done * 1000) / millis : 0;
  const left = rate > 0 ? `, ${durationText(Math.max(0, total - done) / rate)} left` : "";
  return `${noun} ${bar} ${byteText(done)} of ${byteText(total)}, ${byteText(rate)}/s${left}`;
}

/** `1.2 GiB`. */
export function byteText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `3 h 20 min`, `4 min 10 s`, `12 s`. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
