/**
 * Scripts that load series and tell what queries answer: `load`, `clear`, `eval instant`, `eval range`. A blank line ends a command.
 */
import { type HistogramPoint, parsedHistograms } from "./promql-histogram.ts";
import { NUMBER_TEXT, parsedNumber, scriptDuration } from "./promql-number.ts";

/** A point of a series; undefined: none. */
export type Point = number | "stale" | HistogramPoint | undefined;

/** A line of a series. */
export interface ScriptSeries {
  readonly labels: ReadonlyMap<string, string>;
  readonly points: readonly Point[];
  /** When each sample began, in milliseconds before or after it; undefined: nobody says. */
  readonly starts?: readonly (number | undefined)[];
}

/** What is expected beside values. */
interface Expectation {
  readonly kind: "fail" | "warn" | "info" | "no_warn" | "no_info" | "ordered";
  readonly text: string | RegExp | undefined;
}

/** `load`. */
export interface Load {
  readonly kind: "load";
  readonly line: number;
  readonly stepMillis: number;
  readonly withBuckets: boolean;
  readonly series: readonly ScriptSeries[];
}

/** `eval`. */
export interface Evaluation {
  readonly kind: "eval";
  readonly line: number;
  readonly query: string;
  readonly isInstant: boolean;
  readonly startMillis: number;
  readonly endMillis: number;
  readonly stepMillis: number;
  readonly expectations: readonly Expectation[];
  readonly series: readonly ScriptSeries[];
  readonly scalar: number | undefined;
  readonly string: string | undefined;
  /** Where the points of an expected range vector stand. */
  readonly matrix: { readonly startMillis: number; readonly stepMillis: number } | undefined;
}

/** One command of a script. */
export type Command = Load | Evaluation | { readonly kind: "clear" };

const INSTANT = /^eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(\S+)\s+)?(.+)$/;
const RANGE = /^eval(?:_(fail|warn|info))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/;
const EXPECT = /^expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?$/;

/** @throws Error for what is no command */
export function parsedScript(text: string): readonly Command[] {
  const lines = text.split("\n").map((line) => (line.trim().startsWith("#") ? "" : line.trim()));
  const commands: Command[] = [];
  for (let at = 0; at < lines.length; ) {
    const head = lines[at++]!;
    const line = at;
    if (head === "") continue;
    if (head.toLowerCase() === "clear") {
      commands.push({ kind: "clear" });
      continue;
    }
    const body: string[] = [];
    while (at < lines.length && lines[at] !== "") body.push(lines[at++]!);
    commands.push(head.startsWith("load") ? loadOf(head, body, line) : evaluationOf(head, body, line));
  }
  return commands;
}

function loadOf(head: string, body: readonly string[], line: number): Load {
  const found = /^load(_with_nhcb)?\s+(.+)$/.exec(head);
  if (found === null) throw new Error(`line ${line}: ${head}`);
  let starts: readonly (number | undefined)[] | undefined;
  const series: ScriptSeries[] = [];
  for (const text of body) {
    const [head, tail] = text.split(/@st\s+/);
    if (head !== undefined && tail !== undefined) starts = startsOf(tail);
    else {
      series.push({ ...seriesOf(text), ...(starts === undefined ? {} : { starts }) });
      starts = undefined;
    }
  }
  return { kind: "load", line, stepMillis: scriptDuration(found[2]!), withBuckets: found[1] !== undefined, series };
}

function evaluationOf(head: string, body: readonly string[], line: number): Evaluation {
  const instant = INSTANT.exec(head);
  const range = instant === null ? RANGE.exec(head) : null;
  if (instant === null && range === null) throw new Error(`line ${line}: ${head}`);
  const startMillis = scriptDuration(instant?.[2] ?? range?.[2] ?? "0");
  const expectations: Expectation[] = [];
  const modifier = instant?.[1] ?? range?.[1];
  if (modifier !== undefined) expectations.push({ kind: kindOf(modifier), text: undefined });
  const series: ScriptSeries[] = [];
  let scalar: number | undefined;
  let string: string | undefined;
  let matrix: Evaluation["matrix"];
  for (const text of body) {
    const expected = EXPECT.exec(text);
    const points = /^expect range vector\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+)$/.exec(text);
    const old = /^expected_fail_(message|regexp)\s+(.+)$/.exec(text);
    if (points !== null) matrix = { startMillis: scriptDuration(points[1]!), stepMillis: scriptDuration(points[3]!) };
    else if (text.startsWith("expect string ")) string = unquoted(text.slice(14).trim());
    else if (old !== null) expectations.push({ kind: "fail", text: old[1] === "message" ? old[2] : new RegExp(old[2]!) });
    else if (expected !== null) {
      const [, kind = "", form, what = ""] = expected;
      const wanted = form === "regex" ? new RegExp(what.trim()) : what.trim();
      expectations.push({ kind: kindOf(kind), text: form === undefined ? undefined : wanted });
    } else if (parsedNumber(text) === undefined) series.push(seriesOf(text));
    else scalar = parsedNumber(text);
  }
  return {
    kind: "eval",
    line,
    query: instant?.[3] ?? range?.[5] ?? "",
    isInstant: instant !== null,
    startMillis,
    endMillis: range === null ? startMillis : scriptDuration(range[3]!),
    stepMillis: range === null ? 1 : scriptDuration(range[4]!),
    expectations,
    series,
    scalar,
    string,
    matrix,
  };
}

function kindOf(text: string): Expectation["kind"] {
  const kinds: readonly Expectation["kind"][] = ["fail", "warn", "info", "no_warn", "no_info", "ordered"];
  const kind = kinds.find((one) => one === text);
  if (kind === undefined) throw new Error(`no such expectation: ${text}`);
  return kind;
}

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|${"`[^`]*`"}`;

function unquoted(text: string): string {
  const inner = text.slice(1, -1);
  if (text.startsWith("`")) return inner;
  return inner.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/g, (_all, what: string) => {
    if (/^[xu]./.test(what)) return String.fromCodePoint(Number.parseInt(what.slice(1), 16));
    return { n: "\n", t: "\t", r: "\r" }[what] ?? what;
  });
}

function seriesOf(line: string): ScriptSeries {
  const labels = new Map<string, string>();
  let rest = line;
  const name = /^[A-Za-z_:][\w:]*/.exec(rest)?.[0];
  if (name !== undefined) {
    labels.set("__name__", name);
    rest = rest.slice(name.length);
  }
  rest = rest.trimStart();
  if (rest.startsWith("{") && !rest.startsWith("{{")) rest = takeLabels(rest.slice(1), labels);
  return { labels, points: pointsOf(rest.trim()) };
}

function takeLabels(text: string, labels: Map<string, string>): string {
  const label = new RegExp(String.raw`^[\s,]*(${QUOTED}|[\w.:]+)\s*(?:=\s*(${QUOTED}))?`);
  let rest = text;
  for (;;) {
    rest = rest.replace(/^[\s,]*/, "");
    if (rest.startsWith("}")) return rest.slice(1);
    const found = label.exec(rest);
    if (found === null) throw new Error(`no labels: ${text}`);
    const key = /^["'`]/.test(found[1]!) ? unquoted(found[1]!) : found[1]!;
    if (found[2] === undefined) labels.set("__name__", key);
    else labels.set(key, unquoted(found[2]));
    rest = rest.slice(found[0].length);
  }
}

const REPEATED = new RegExp(`^(0|${NUMBER_TEXT})(?:([+-])(${NUMBER_TEXT}))?x(\\d+)$`, "i");

function pointsOf(text: string): readonly Point[] {
  const points: Point[] = [];
  for (const [token] of text.matchAll(/\{\{.*?\}\}(?:[+-]\{\{.*?\}\})?(?:x\d+)?|\S+/g)) {
    const times = Number(/x(\d+)$/.exec(token)?.[1] ?? "0");
    if (token.startsWith("{{")) points.push(...parsedHistograms(token));
    else if (/^_(?:x\d+)?$/.test(token)) points.push(...Array.from<undefined>({ length: token === "_" ? 1 : times }));
    else if (/^stale(?:x\d+)?$/.test(token)) points.push(...Array.from({ length: times + 1 }, (): Point => "stale"));
    else points.push(...numbersOf(token));
  }
  return points;
}

const START = /^([+-]?[\da-z]+?)(?:([+-])([\da-z]+?))?(?:x(\d+))?$/;

/** `_`, `-30s`, `-30s-1mx2`. */
function startsOf(text: string): readonly (number | undefined)[] {
  const starts: (number | undefined)[] = [];
  for (const [token] of text.matchAll(/\S+/g)) {
    if (token === "_") {
      starts.push(undefined);
      continue;
    }
    const [, first = "", sign, change = "0", times = "0"] = START.exec(token) ?? [];
    if (first === "") throw new Error(`no start: ${token}`);
    const step = (sign === "-" ? -1 : 1) * scriptDuration(change);
    for (let at = 0; at <= Number(times); at++) starts.push(scriptDuration(first.replace(/^\+/, "")) + at * step);
  }
  return starts;
}

function numbersOf(token: string): readonly number[] {
  // `0x59` is 0, sixty times.
  const single = /^0x\d+$/.test(token) ? undefined : parsedNumber(token);
  if (single !== undefined) return [single];
  const found = REPEATED.exec(token);
  const [, first = "", sign, change = "0", times = "0"] = found ?? [];
  const start = parsedNumber(first);
  if (found === null || start === undefined) throw new Error(`no point: ${token}`);
  const step = (sign === "-" ? -1 : 1) * (parsedNumber(change) ?? 0);
  const numbers = [start];
  for (let at = 0; at < Number(times); at++) numbers.push(numbers.at(-1)! + step);
  return numbers;
}
