/**
 * The JSON form of a put: one point, or an array of points.
 *
 *   {"metric": "sys.cpu", "timestamp": 1346846400, "value": 18, "tags": {"host": "web01"}}
 *
 * Text that is no JSON refuses the whole request; a point that is none is refused alone. Members of other names are passed over.
 */
import { strictUtf8 } from "../../base/bytes/utf8.ts";
import { Code, JsonScanner } from "../../format/json/scanner.ts";
import { type ParsedSeries, type Points, timeMsOf } from "./points.ts";
import { PutBodyError } from "./types.ts";

const FORM = 1;
const encoder = new TextEncoder();
const METRIC: Uint8Array = encoder.encode("metric");
const TIMESTAMP: Uint8Array = encoder.encode("timestamp");
const VALUE: Uint8Array = encoder.encode("value");
const TAGS: Uint8Array = encoder.encode("tags");

/** Where the members of a point stand, and what they hold. */
interface PointMembers {
  metricStart: number;
  metricEnd: number;
  tagsStart: number;
  tagsEnd: number;
  timeMs: number;
  value: number;
  hasTime: boolean;
  hasValue: boolean;
  /** What is wrong with a member. */
  flaw: string;
}

/** Reads one put after the other. */
export class JsonPut {
  private readonly json: JsonScanner = new JsonScanner();
  private readonly points: Points;
  /** Reused for each point: one object of one shape. */
  private readonly point: PointMembers = {
    metricStart: -1,
    metricEnd: -1,
    tagsStart: -1,
    tagsEnd: -1,
    timeMs: 0,
    value: 0.5, // A fraction: the member stays a double in memory.
    hasTime: false,
    hasValue: false,
    flaw: "",
  };

  constructor(points: Points) {
    this.points = points;
  }

  /** Reads a whole body; `refuse` hears of each point that is none. @throws JsonError, PutBodyError */
  read(bytes: Uint8Array, refuse: (number: number, start: number, end: number, reason: string) => void): void {
    const { json } = this;
    json.open(bytes);
    const first = json.peek();
    let number = 0;
    const each = (): void => {
      number++;
      const start = json.at;
      const reason = this.onePoint();
      if (reason !== undefined) refuse(number, start, json.at, reason);
    };
    if (first === Code.bracket) {
      if (json.enterArray()) {
        do each();
        while (json.nextElement());
      }
    } else if (first === Code.brace) each();
    else {
      json.skip();
      throw new PutBodyError("expected a data point or an array of them at line 1 column 1");
    }
    json.finish();
  }

  /** Reads the value at the cursor. Returns why it is no point. */
  private onePoint(): string | undefined {
    const { json, point } = this;
    if (json.peek() !== Code.brace) {
      json.skip();
      return "a data point must be an object";
    }
    point.metricStart = -1;
    point.tagsStart = -1;
    point.hasTime = false;
    point.hasValue = false;
    point.flaw = "";
    if (json.enterObject()) {
      do {
        json.key();
        this.member();
      } while (json.nextMember());
    }
    if (point.flaw !== "") return point.flaw;
    if (point.metricStart < 0) return "missing field `metric`";
    if (!point.hasTime) return "missing field `timestamp`";
    if (!point.hasValue) return "missing field `value`";
    if (point.tagsStart < 0) return "missing field `tags`";
    const { metricStart, metricEnd, tagsStart, tagsEnd, timeMs, value } = point;
    return this.points.add(json.bytes, metricStart, metricEnd, tagsStart, tagsEnd, FORM, timeMs, value, () =>
      seriesOf(json.bytes.subarray(metricStart - 1, metricEnd + 1), json.bytes.subarray(tagsStart, tagsEnd)),
    );
  }

  private member(): void {
    const { json, point } = this;
    const byte = json.peek();
    const isNumber = byte === Code.minus || (byte >= Code.zero && byte <= Code.nine);
    if (json.is(VALUE)) {
      if (!isNumber) return this.misfit("`value` must be a number");
      point.value = json.number();
      point.hasValue = true;
      if (!Number.isFinite(point.value)) point.flaw ||= "`value` is beyond the range of doubles";
    } else if (json.is(TIMESTAMP)) {
      if (!isNumber) return this.misfit("`timestamp` must be a whole number of seconds or milliseconds");
      this.time();
    } else if (json.is(METRIC)) {
      if (byte !== Code.quote) return this.misfit("`metric` must be a string");
      json.string();
      point.metricStart = json.start;
      point.metricEnd = json.stop;
    } else if (json.is(TAGS)) {
      if (byte !== Code.brace) return this.misfit("`tags` must be an object");
      point.tagsStart = json.at;
      json.skip();
      point.tagsEnd = json.at;
    } else json.skip();
  }

  private time(): void {
    const { json, point } = this;
    const value = json.number();
    const digits = json.stop - json.start - (value < 0 ? 1 : 0);
    const timeMs = json.isInteger ? timeMsOf(value, digits) : undefined;
    point.hasTime = true;
    if (timeMs !== undefined) point.timeMs = timeMs;
    else point.flaw ||= json.isInteger ? "`timestamp` is out of range" : "`timestamp` must be a whole number of seconds or milliseconds";
  }

  private misfit(flaw: string): void {
    this.json.skip();
    this.point.flaw ||= flaw;
  }
}

/** Reads a series from the bytes of its members: a string with its quotes, an object. */
function seriesOf(metric: Uint8Array, tags: Uint8Array): ParsedSeries {
  let name: unknown;
  let object: unknown;
  try {
    name = JSON.parse(strictUtf8.decode(metric));
    object = JSON.parse(strictUtf8.decode(tags));
  } catch (error) {
    // The scanner has accepted the text, so only the bytes of a character can be wrong.
    return { flaw: `metric or tags are not UTF-8${error instanceof SyntaxError ? `: ${error.message}` : ""}` };
  }
  const pairs = new Map<string, string>();
  for (const [tag, value] of Object.entries(object as Record<string, unknown>)) {
    if (typeof value !== "string") return { flaw: `tag '${tag.slice(0, 80)}' must be a string` };
    pairs.set(tag, value.toWellFormed()); // Names are checked, not mended.
  }
  return { metric: String(name), tags: pairs };
}
