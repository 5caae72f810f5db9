/** Functions on places: geohash, H3, S2, well-known text (contract query.md 2.5). Lists of places: `geo-list-functions.ts`. */
import { DbError, errorText } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { BOOLEAN, type DataType, FLOAT64, INT32, INT64, STRING, UINT64, UINT8 } from "../../../column/data-type.ts";
import { floatText } from "../../../value/number-text.ts";
import { geohashOf } from "../geo/geohash.ts";
import { h3 } from "../geo/h3.ts";
import { areaOf, contains, distanceOf, intersects } from "../geo/planar.ts";
import { s2 } from "../geo/s2.ts";
import { geometryOf } from "../geo/wkt.ts";
import { partsOf } from "../nested/parts.ts";
import { type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isNumeric, typed } from "../signature/signature.ts";
import { exactInteger, type Present, textOf } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";

/** Latitude, longitude and, unless 0, one whole number of 8 bits. */
export function place(wholes: 0 | 1, result: DataType): ScalarFunction["resolve"] {
  return ([latitude, longitude, ...rest]) => {
    const numbers = [latitude, longitude].every(
      (type) => type !== undefined && (isNumeric(type) || ["decimal", "null"].includes(type.kind)),
    );
    const good = rest.length === wholes && rest.every((type) => type.kind === "int" || type.kind === "null");
    return numbers && good ? { args: [FLOAT64, FLOAT64, ...rest.map(() => UINT8)], result } : undefined;
  };
}

/** @throws DbError EngineExecuteQuery for a latitude or longitude that is none */
export function checked([latitude, longitude]: readonly Present[]): readonly [latitude: number, longitude: number] {
  const [y, x] = [Number(latitude), Number(longitude)];
  if (Math.abs(y) <= 90 && Math.abs(x) <= 180) return [y, x];
  throw executionError(`there is no place at latitude ${y}, longitude ${x}: they are -90..90 and -180..180`);
}

function geohash(args: readonly Present[]): string {
  const resolution = Number(args[2]);
  if (resolution < 1 || resolution > 12) throw executionError(`Invalid geohash resolution ${resolution}, valid value range: [1, 12]`);
  const [latitude, longitude] = checked(args);
  return geohashOf(latitude, longitude, resolution);
}

/** What the library throws, with a text of our own in front. @throws DbError EngineExecuteQuery */
export function h3Call<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof DbError) throw cause; // of an argument, and says so
    throw executionError(`H3 error: ${errorText(cause)}`, cause);
  }
}

function h3CellAt(args: readonly Present[]): string {
  const resolution = Number(args[2]);
  if (resolution > 15) throw executionError(`H3 error: invalid resolution (got Some(${resolution})): out of range`);
  const [latitude, longitude] = checked(args);
  return h3Call(() => h3().latLngToCell(latitude, longitude, resolution));
}

/** The library's form of a cell given as a number or as hexadecimal text. @throws DbError EngineExecuteQuery for what is no cell */
export function h3Cell(value: Present | undefined): string {
  const text = typeof value === "string" ? value.trim().toLowerCase() : BigInt(value as number | bigint).toString(16);
  if (!/^[0-9a-f]{1,16}$/.test(text) || !h3().isValidCell(text))
    throw executionError(`H3 error: invalid cell index '${text.slice(0, 40)}'`);
  return text;
}

/** A cell as a number. */
export function cellNumber(cell: string): number | bigint {
  return exactInteger(BigInt(`0x${cell}`));
}

const isCell = (type: DataType | undefined): type is DataType => type !== undefined && ["int", "string", "null"].includes(type.kind);

/** A cell, or two, and then whole numbers. */
export function cells(count: 1 | 2, wholes: number, result: DataType): ScalarFunction["resolve"] {
  return (args) => {
    const rest = args.slice(count);
    const good = args.length === count + wholes && args.slice(0, count).every(isCell);
    if (!good || !rest.every((type) => type.kind === "int" || type.kind === "null")) return undefined;
    return { args: [...args.slice(0, count), ...rest.map(() => INT64)], result };
  };
}

/** Whether a cell is one of a set, or lies in one of it. */
function h3Contains(set: readonly Present[], cell: string): boolean {
  const own = h3().getResolution(cell);
  return set.map(h3Cell).some((member) => {
    const resolution = h3().getResolution(member);
    return resolution <= own && h3().cellToParent(cell, resolution) === member;
  });
}

/** A set of cells is a list, or text with commas between; then a cell. */
const setAndCell: ScalarFunction["resolve"] = (args) => {
  const [set, cell] = args;
  const good = set?.kind === "string" || set?.kind === "null" || (set?.kind === "list" && isCell(set.element));
  return args.length === 2 && good && isCell(cell) ? { args, result: BOOLEAN } : undefined;
};

function centers([a, b]: readonly Present[]): readonly [[number, number], [number, number]] {
  return [h3().cellToLatLng(h3Cell(a)), h3().cellToLatLng(h3Cell(b))];
}

function degrees(args: readonly Present[]): number {
  const [[y1, x1], [y2, x2]] = centers(args);
  return Math.hypot(y1 - y2, x1 - x2);
}

/** Mean radius of the earth, metres, as H3 and PostGIS have it. */
const EARTH_METRES = 6_371_008.8;

/** The great circle between two points, by the haversine formula. */
function sphereMetres([a, b]: readonly Present[]): number {
  const [from, to] = [a, b].map((text) => {
    const geometry = geometryOf(textOf(text));
    const [point] = geometry.points;
    if (point !== undefined && geometry.points.length === 1) return point;
    throw new DbError(StatusCode.EngineExecuteQuery, "Great circle distance between non-point objects are not supported for now.");
  });
  if (from === undefined || to === undefined) return 0;
  const radians = Math.PI / 180;
  const [y1, y2] = [from.y * radians, to.y * radians];
  const half = Math.sin((y2 - y1) / 2) ** 2 + Math.cos(y1) * Math.cos(y2) * Math.sin(((to.x - from.x) * radians) / 2) ** 2;
  return 2 * EARTH_METRES * Math.asin(Math.min(Math.sqrt(half), 1));
}

const plainNumber = (value: number): string => (Number.isInteger(value) ? String(value) : floatText(value));

const twoTexts =
  (result: DataType): ScalarFunction["resolve"] =>
  (args) =>
    typed(["text", "text"], result)(args);

/** The leaf cell of a place. */
function s2CellAt(args: readonly Present[]): bigint {
  return s2().cellid.fromLatLng(s2().LatLng.fromDegrees(...checked(args)));
}

function s2Checked(value: Present | undefined): { readonly cell: bigint; readonly level: number } {
  const cell = BigInt.asUintN(64, BigInt(value as number | bigint));
  if (!s2().cellid.valid(cell)) throw executionError(`${cell} is no S2 cell`);
  return { cell, level: s2().cellid.level(cell) };
}

function s2ParentOf([value, wanted]: readonly Present[]): number | bigint {
  const { cell, level } = s2Checked(value);
  const target = Number(wanted);
  if (target < 0 || target > level) throw executionError(`an S2 cell of level ${level} has no parent of level ${target}`);
  return exactInteger(s2().cellid.parent(cell, target));
}

const s2Type =
  (wholes: number, result: DataType): ScalarFunction["resolve"] =>
  (args) =>
    args.length === 1 + wholes && args.every((type) => type.kind === "int" || type.kind === "null") ? { args, result } : undefined;

/** The functions of this file. */
export const GEO_FUNCTIONS: readonly ScalarFunction[] = [
  strict("geohash(latitude, longitude, resolution)", place(1, STRING), geohash),
  strict("h3_latlng_to_cell(latitude, longitude, resolution)", place(1, UINT64), (args) => cellNumber(h3CellAt(args))),
  strict("h3_latlng_to_cell_string(latitude, longitude, resolution)", place(1, STRING), h3CellAt),
  strict("h3_cell_to_string(cell)", cells(1, 0, STRING), ([cell]) => h3Cell(cell)),
  strict("h3_string_to_cell(text)", typed(["text"], UINT64), ([text]) => cellNumber(h3Cell(textOf(text)))),
  strict("h3_cell_resolution(cell)", cells(1, 0, UINT8), ([cell]) => h3().getResolution(h3Cell(cell))),
  strict("h3_cell_base(cell)", cells(1, 0, UINT8), ([cell]) => h3().getBaseCellNumber(h3Cell(cell))),
  strict("h3_cell_is_pentagon(cell)", cells(1, 0, BOOLEAN), ([cell]) => h3().isPentagon(h3Cell(cell))),
  strict("h3_cell_parent(cell, resolution)", cells(1, 1, UINT64), ([cell, resolution]) =>
    cellNumber(h3Call(() => h3().cellToParent(h3Cell(cell), Number(resolution)))),
  ),
  strict("h3_cell_to_children_size(cell, resolution)", cells(1, 1, UINT64), ([cell, resolution]) =>
    h3Call(() => h3().cellToChildrenSize(h3Cell(cell), Number(resolution))),
  ),
  strict("h3_cell_to_child_pos(cell, resolution)", cells(1, 1, UINT64), ([cell, resolution]) =>
    h3Call(() => h3().cellToChildPos(h3Cell(cell), Number(resolution))),
  ),
  strict(
    "h3_child_pos_to_cell(position, cell, resolution)",
    ([position, cell, resolution, ...rest]) =>
      rest.length === 0 && position?.kind === "int" && isCell(cell) && resolution?.kind === "int"
        ? { args: [position, cell, resolution], result: UINT64 }
        : undefined,
    ([position, cell, resolution]) => cellNumber(h3Call(() => h3().childPosToCell(Number(position), h3Cell(cell), Number(resolution)))),
  ),
  strict("h3_cells_contains(cells, cell)", setAndCell, ([set, cell], { type }) => {
    const members = typeof set === "string" ? set.split(",") : partsOf(set, type.args[0]).filter((member) => member !== undefined);
    return h3Contains(members, h3Cell(cell));
  }),
  strict("h3_grid_distance(cell, cell)", cells(2, 0, INT32), ([a, b]) => h3Call(() => h3().gridDistance(h3Cell(a), h3Cell(b)))),
  strict("h3_distance_sphere_km(cell, cell)", cells(2, 0, FLOAT64), (args) => {
    const [a, b] = centers(args);
    return h3().greatCircleDistance(a, b, "km");
  }),
  strict("h3_distance_degree(cell, cell)", cells(2, 0, FLOAT64), degrees),
  strict("s2_latlng_to_cell(latitude, longitude)", place(0, UINT64), (args) => exactInteger(s2CellAt(args))),
  strict("s2_cell_level(cell)", s2Type(0, UINT64), ([cell]) => s2Checked(cell).level),
  strict("s2_cell_to_token(cell)", s2Type(0, STRING), ([cell]) => s2().cellid.toToken(s2Checked(cell).cell)),
  strict("s2_cell_parent(cell, level)", s2Type(1, UINT64), s2ParentOf),
  strict("wkt_point_from_latlng(latitude, longitude)", place(0, STRING), (args) => {
    const [latitude, longitude] = checked(args);
    return `POINT(${plainNumber(longitude)} ${plainNumber(latitude)})`;
  }),
  strict("st_distance(wkt, wkt)", twoTexts(FLOAT64), ([a, b]) => distanceOf(geometryOf(textOf(a)), geometryOf(textOf(b)))),
  strict("st_distance_sphere_m(wkt, wkt)", twoTexts(FLOAT64), sphereMetres),
  strict("st_area(wkt)", typed(["text"], FLOAT64), ([a]) => areaOf(geometryOf(textOf(a)))),
  strict("st_contains(wkt, wkt)", twoTexts(BOOLEAN), ([a, b]) => contains(geometryOf(textOf(a)), geometryOf(textOf(b)))),
  strict("st_within(wkt, wkt)", twoTexts(BOOLEAN), ([a, b]) => contains(geometryOf(textOf(b)), geometryOf(textOf(a)))),
  strict("st_intersects(wkt, wkt)", twoTexts(BOOLEAN), ([a, b]) => intersects(geometryOf(textOf(a)), geometryOf(textOf(b)))),
];
