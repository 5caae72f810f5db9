/**
 * Geometries of well-known text: POINT, LINESTRING, POLYGON and their MULTI forms, as points, lines and polygons of plain numbers.
 *
 * Limits: `COORDINATES_MAX`.
 */
import { executionError } from "../value/execution-error.ts";
import { type DbError } from "../../../base/error.ts";

/** A place on the plane: x is the longitude. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A ring around and rings around holes; each ends where it begins. */
export type Polygon = readonly (readonly Place[])[];

/** A geometry taken apart. */
export interface Geometry {
  readonly points: readonly Place[];
  readonly lines: readonly (readonly Place[])[];
  readonly polygons: readonly Polygon[];
}

/** Most places of one geometry. Reason: two geometries are compared edge by edge. Error: EngineExecuteQuery. */
const COORDINATES_MAX = 4096;

const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const PLACE = new RegExp(String.raw`^\s*(${NUMBER})\s+(${NUMBER})\s*$`);

/** A nested list in parentheses. */
type Nested = string | readonly Nested[];

/** The geometry of a text. @throws DbError EngineExecuteQuery when it is none */
export function geometryOf(text: string): Geometry {
  const found = /^\s*(MULTI)?(POINT|LINESTRING|POLYGON)\s*(\(.*\))\s*$/is.exec(text);
  if (found === null) throw refusal(text, "it is no POINT, LINESTRING, POLYGON or a MULTI of these");
  const reader = new Reader(text, found[3] ?? "");
  const body = reader.whole();
  const kind = `${found[1] ?? ""}${found[2] ?? ""}`.toUpperCase();
  const list = Array.isArray(body) ? (body as readonly Nested[]) : [body];
  const none = { points: [], lines: [], polygons: [] };
  switch (kind) {
    case "POINT":
      return { ...none, points: reader.places(list, 1, 1) };
    case "MULTIPOINT":
      return { ...none, points: list.flatMap((part) => reader.places(typeof part === "string" ? [part] : part, 1, 1)) };
    case "LINESTRING":
      return { ...none, lines: [reader.places(list, 2)] };
    case "MULTILINESTRING":
      return { ...none, lines: list.map((part) => reader.places(part, 2)) };
    case "POLYGON":
      return { ...none, polygons: [list.map((part) => reader.ring(part))] };
    default:
      return { ...none, polygons: list.map((part) => (typeof part === "string" ? [] : part).map((ring) => reader.ring(ring))) };
  }
}

class Reader {
  private at = 0;
  private count = 0;
  private readonly text: string;
  private readonly body: string;

  constructor(text: string, body: string) {
    this.text = text;
    this.body = body;
  }

  whole(): Nested {
    const list = this.list(0);
    if (this.body.slice(this.at).trim() !== "") throw refusal(this.text, "there is more behind its end");
    return list;
  }

  private list(depth: number): Nested {
    if (depth > 3) throw refusal(this.text, "it has too many parentheses");
    const items: Nested[] = [];
    this.at++; // "("
    for (;;) {
      while (/\s/.test(this.body[this.at] ?? "")) this.at++;
      if (this.body[this.at] === "(") items.push(this.list(depth + 1));
      else {
        const end = this.at + (/^[^(),]*/.exec(this.body.slice(this.at, this.at + 200))?.[0].length ?? 0);
        items.push(this.body.slice(this.at, end));
        this.at = end;
        this.count++;
        if (this.count > COORDINATES_MAX) throw refusal(this.text, `it has more than ${COORDINATES_MAX} places`);
      }
      while (/\s/.test(this.body[this.at] ?? "")) this.at++;
      const next = this.body[this.at];
      this.at++;
      if (next === ")") return items;
      if (next !== ",") throw refusal(this.text, `expected ',' or ')' at character ${this.at}`);
    }
  }

  places(list: Nested, countMin: number, countMax: number = COORDINATES_MAX): readonly Place[] {
    const places = (typeof list === "string" ? [] : list).map((item) => {
      const found = typeof item === "string" ? PLACE.exec(item) : null;
      if (found === null) throw refusal(this.text, "a place is two numbers, longitude and latitude");
      return { x: Number(found[1]), y: Number(found[2]) };
    });
    if (places.length >= countMin && places.length <= countMax) return places;
    throw refusal(this.text, `it has ${places.length} places; ${countMin} are needed`);
  }

  ring(list: Nested): readonly Place[] {
    const places = this.places(list, 3);
    const [first, last] = [places[0], places.at(-1)];
    if (first === undefined || last === undefined || (first.x === last.x && first.y === last.y)) return places;
    return [...places, first];
  }
}

function refusal(text: string, why: string): DbError {
  return executionError(`Fail to parse WKT '${text.slice(0, 80)}': ${why}`);
}
