/** Parameters of a search for traces, as Jaeger's page and Grafana send them. Source: jaegertracing.io/docs, "HTTP JSON API". */
import { invalidArguments } from "../../base/error.ts";
import type { Clock } from "../../base/clock.ts";
import { LOOKBACK_MICROS_DEFAULT, PARAMETER_CHARACTERS_MAX, TAGS_MAX, TRACES_DEFAULT, TRACES_MAX } from "./limits.ts";
import type { TraceSearch } from "./search.ts";

/** Values of each parameter that a request has, decoded. */
export type Parameters = ReadonlyMap<string, readonly string[]>;

const NAMES = "service operation tags tag start end minDuration maxDuration limit lookback traceID";
/** Names that are read; others are of no account, such as `prettyPrint`. */
export const SEARCH_PARAMETERS: ReadonlySet<string> = new Set(NAMES.split(" "));

/** Latest time in microseconds: its nanoseconds are 64 bits, and it is a number. The year 2255. */
const MICROS_MAX = 9_000_000_000_000_000;
const UNIT_MICROS: Readonly<Record<string, number>> = {
  ns: 0.001,
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
  w: 604_800_000_000,
};
const DURATION = /^(?:\d{1,15}(?:\.\d{1,9})?(?:ns|us|µs|μs|ms|s|m|h|d|w))+$/;
const DURATION_PART = /([\d.]+)([a-zµμ]+)/g;

/** @throws DbError InvalidArguments that names the parameter */
export function searchOf(parameters: Parameters, clock: Pick<Clock, "nowNanos">): TraceSearch {
  const service = textOf(parameters, "service");
  if (service === undefined) throw invalidArguments("parameter 'service' is required");
  const now = Number(clock.nowNanos() / 1000n);
  const endMicros = momentOf(parameters, "end") ?? now;
  const startMicros = momentOf(parameters, "start") ?? Math.max(0, endMicros - lookbackOf(parameters));
  const [minMicros, maxMicros] = [durationOf(parameters, "minDuration"), durationOf(parameters, "maxDuration")];
  if (startMicros > endMicros) throw invalidArguments("parameter 'start' must not be after 'end'");
  if (minMicros !== undefined && maxMicros !== undefined && minMicros > maxMicros)
    throw invalidArguments("parameter 'minDuration' must not be more than 'maxDuration'");
  const operation = textOf(parameters, "operation");
  return { service, operation, tags: tagsOf(parameters), startMicros, endMicros, minMicros, maxMicros, limit: limitOf(parameters) };
}

/** The value of a parameter that is there and not empty. @throws DbError InvalidArguments for one that is too long */
export function textOf(parameters: Parameters, name: string): string | undefined {
  const text = parameters.get(name)?.[0];
  if (text === undefined || text === "") return undefined;
  if (text.length > PARAMETER_CHARACTERS_MAX)
    throw invalidArguments(`parameter '${name}' has more than ${PARAMETER_CHARACTERS_MAX} characters`);
  return text;
}

function wrong(name: string, text: string, what: string): Error {
  return invalidArguments(`parameter '${name}' is ${JSON.stringify(text.slice(0, 64))}, not ${what}`);
}

function momentOf(parameters: Parameters, name: string): number | undefined {
  const text = textOf(parameters, name);
  if (text === undefined) return undefined;
  const micros = /^\d{1,19}$/.test(text) ? Number(text) : Number.NaN;
  if (!(micros <= MICROS_MAX)) throw wrong(name, text, "a time in microseconds since 1970");
  return micros;
}

/** `custom` says that `start` and `end` hold, as Jaeger's page sends it. */
function lookbackOf(parameters: Parameters): number {
  if (textOf(parameters, "lookback") === "custom") return LOOKBACK_MICROS_DEFAULT;
  return durationOf(parameters, "lookback") ?? LOOKBACK_MICROS_DEFAULT;
}

function durationOf(parameters: Parameters, name: string): number | undefined {
  const text = textOf(parameters, name);
  if (text === undefined) return undefined;
  const micros = text === "0" ? 0 : durationMicros(text);
  if (!(micros <= MICROS_MAX)) throw wrong(name, text, "a duration such as 1.2s, 100ms or 500us");
  return micros;
}

/** Whole microseconds of `1m30s`; NaN for what is no duration. */
function durationMicros(text: string): number {
  if (!DURATION.test(text)) return Number.NaN;
  let micros = 0;
  for (const [, count = "", unit = ""] of text.matchAll(DURATION_PART)) micros += Number(count) * (UNIT_MICROS[unit] ?? Number.NaN);
  return Math.round(micros);
}

function limitOf(parameters: Parameters): number {
  const text = textOf(parameters, "limit");
  if (text === undefined) return TRACES_DEFAULT;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > TRACES_MAX) throw wrong("limit", text, `a number from 1 to ${TRACES_MAX}`);
  return limit;
}

/** `tags={"a":"b"}` and any number of `tag=a:b`. */
function tagsOf(parameters: Parameters): TraceSearch["tags"] {
  const found: (readonly [string, string])[] = [];
  const whole = textOf(parameters, "tags");
  if (whole !== undefined) found.push(...pairsOf(whole));
  for (const text of parameters.get("tag") ?? []) {
    const colon = text.indexOf(":");
    if (colon < 1 || text.length > PARAMETER_CHARACTERS_MAX) throw wrong("tag", text, "of the form key:value");
    found.push([text.slice(0, colon), text.slice(colon + 1)]);
  }
  if (found.length > TAGS_MAX) throw invalidArguments(`a search takes ${TAGS_MAX} tags at most, not ${found.length}`);
  return found;
}

function pairsOf(text: string): (readonly [string, string])[] {
  const parsed = objectOrUndefined(text);
  if (parsed === undefined) throw wrong("tags", text, 'a JSON object of texts, such as {"http.method":"GET"}');
  return Object.entries(parsed).map(([key, value]) => {
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
      throw wrong("tags", text, `a JSON object of texts: '${key.slice(0, 64)}' is none`);
    return [key, String(value)] as const;
  });
}

function objectOrUndefined(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Readonly<Record<string, unknown>>)
      : undefined;
  } catch (error) {
    // A text that is no JSON, or nested deeper than the parser's stack.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
