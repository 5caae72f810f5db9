/**
 * Geometries on the plane: area, distance, intersects, contains. Two geometries are compared edge by edge. For `contains` the edges of the
 * inner one are cut where they meet the outer one's; each piece then lies on one side, which its middle tells.
 */
import type { Geometry, Place, Polygon } from "./wkt.ts";

type Segment = readonly [a: Place, b: Place];

/** Where a place lies: 1 inside, 0 on the border, -1 outside. */
type Side = -1 | 0 | 1;

function segmentsOf(places: readonly Place[]): Segment[] {
  const segments: Segment[] = [];
  let before = places[0];
  for (const place of places.slice(1)) {
    if (before !== undefined) segments.push([before, place]);
    before = place;
  }
  return segments;
}

const edgesOf = (geometry: Geometry): Segment[] => [
  ...geometry.lines.flatMap(segmentsOf),
  ...geometry.polygons.flatMap((polygon) => polygon.flatMap(segmentsOf)),
];

/** All places of a geometry as points, where it has no edges. */
const cornersOf = (geometry: Geometry): readonly Place[] => [
  ...geometry.points,
  ...geometry.lines.flat(),
  ...geometry.polygons.flatMap((polygon) => polygon.flat()),
];

/** The area of the polygons, holes left out. */
export function areaOf(geometry: Geometry): number {
  let area = 0;
  for (const polygon of geometry.polygons) {
    for (const [i, ring] of polygon.entries()) area += Math.abs(ringArea(ring)) * (i === 0 ? 1 : -1);
  }
  return area;
}

/** Counted from the first place, so that places far from the origin lose no digits. */
function ringArea(ring: readonly Place[]): number {
  const [origin] = ring;
  if (origin === undefined) return 0;
  let twice = 0;
  for (const [a, b] of segmentsOf(ring)) twice += (a.x - origin.x) * (b.y - origin.y) - (b.x - origin.x) * (a.y - origin.y);
  return twice / 2;
}

/** The shortest distance; 0 where they intersect. */
export function distanceOf(a: Geometry, b: Geometry): number {
  if (intersects(a, b)) return 0;
  let best = Number.POSITIVE_INFINITY;
  const measure = (places: readonly Place[], other: Geometry): void => {
    const edges = edgesOf(other);
    for (const place of places) {
      for (const point of other.points) best = Math.min(best, Math.hypot(place.x - point.x, place.y - point.y));
      for (const edge of edges) best = Math.min(best, distanceToSegment(place, edge));
    }
  };
  measure(cornersOf(a), b);
  measure(cornersOf(b), a);
  return best;
}

function distanceToSegment(place: Place, [a, b]: Segment): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const squared = dx * dx + dy * dy;
  const t = squared === 0 ? 0 : Math.min(Math.max(((place.x - a.x) * dx + (place.y - a.y) * dy) / squared, 0), 1);
  return Math.hypot(place.x - a.x - t * dx, place.y - a.y - t * dy);
}

/** Whether two geometries have a place in common. */
export function intersects(a: Geometry, b: Geometry): boolean {
  const [edgesA, edgesB] = [edgesOf(a), edgesOf(b)];
  if (edgesA.some((edge) => edgesB.some((other) => meet(edge, other)))) return true;
  return touchesAny(cornersOf(a), b) || touchesAny(cornersOf(b), a);
}

const touchesAny = (places: readonly Place[], geometry: Geometry): boolean => places.some((place) => sideOf(place, geometry) >= 0);

/** Whether no place of `b` is outside `a` and some place of its inside is inside `a`. */
export function contains(a: Geometry, b: Geometry): boolean {
  const edges = edgesOf(a);
  let isInside = b.polygons.length > 0;
  for (const point of b.points) {
    const side = sideOf(point, a);
    if (side < 0) return false;
    if (side > 0) isInside = true;
  }
  for (const edge of edgesOf(b)) {
    for (const middle of middlesOf(edge, edges)) {
      const side = sideOf(middle, a);
      if (side < 0) return false;
      if (side > 0) isInside = true;
    }
  }
  // A hole of the outer one must not lie within the inner one.
  const holes = a.polygons.flatMap((polygon) => polygon.slice(1).flat());
  if (b.polygons.length > 0 && (a.polygons.length === 0 || holes.some((place) => sideOf(place, b) > 0))) return false;
  return isInside;
}

/** Middles of the pieces of an edge between its meetings with other edges. */
function middlesOf([a, b]: Segment, edges: readonly Segment[]): Place[] {
  const cuts = [0, 1];
  for (const edge of edges) for (const t of cutsOf([a, b], edge)) if (t > 0 && t < 1) cuts.push(t);
  cuts.sort((x, y) => x - y);
  const at = (t: number): Place => ({ x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t });
  return cuts.slice(1).map((t, i) => at((t + (cuts[i] ?? 0)) / 2));
}

/** Where a segment meets the line of another between that one's ends, as parts of the segment; for parallel ones the other's ends. */
function cutsOf([a, b]: Segment, [c, d]: Segment): number[] {
  const [rx, ry, sx, sy] = [b.x - a.x, b.y - a.y, d.x - c.x, d.y - c.y];
  const cross = rx * sy - ry * sx;
  if (cross === 0) {
    const squared = rx * rx + ry * ry;
    return squared === 0 ? [] : [c, d].map((place) => ((place.x - a.x) * rx + (place.y - a.y) * ry) / squared);
  }
  const u = ((c.x - a.x) * ry - (c.y - a.y) * rx) / cross;
  return u < 0 || u > 1 ? [] : [((c.x - a.x) * sy - (c.y - a.y) * sx) / cross];
}

function sideOf(place: Place, geometry: Geometry): Side {
  let best: Side = -1;
  for (const polygon of geometry.polygons) best = Math.max(best, sideOfPolygon(place, polygon)) as Side; // the larger of two sides
  if (best === 1) return 1;
  for (const line of geometry.lines) {
    if (!segmentsOf(line).some((segment) => turn(segment[0], segment[1], place) === 0 && isBetween(place, segment))) continue;
    const [first, last] = [line[0], line.at(-1)];
    const isEnd = [first, last].some((end) => end !== undefined && end.x === place.x && end.y === place.y);
    best = isEnd ? (Math.max(best, 0) as Side) : 1;
  }
  return geometry.points.some((point) => point.x === place.x && point.y === place.y) ? 1 : best;
}

/** By the number of edges to the right (even-odd rule), holes included. */
function sideOfPolygon(place: Place, polygon: Polygon): Side {
  let isInside = false;
  for (const ring of polygon) {
    for (const [a, b] of segmentsOf(ring)) {
      if (turn(a, b, place) === 0 && isBetween(place, [a, b])) return 0;
      if (a.y > place.y !== b.y > place.y && place.x < ((b.x - a.x) * (place.y - a.y)) / (b.y - a.y) + a.x) isInside = !isInside;
    }
  }
  return isInside ? 1 : -1;
}

/** Above 0 when `c` lies to the left of the line from `a` to `b`; 0 on it, within what rounding leaves. */
function turn(a: Place, b: Place, c: Place): number {
  const left = (b.x - a.x) * (c.y - a.y);
  const right = (b.y - a.y) * (c.x - a.x);
  const difference = left - right;
  return Math.abs(difference) <= 4 * Number.EPSILON * (Math.abs(left) + Math.abs(right)) ? 0 : difference;
}

const isBetween = (place: Place, [a, b]: Segment): boolean =>
  Math.min(a.x, b.x) <= place.x && place.x <= Math.max(a.x, b.x) && Math.min(a.y, b.y) <= place.y && place.y <= Math.max(a.y, b.y);

/** Whether two segments have a place in common. */
function meet([a, b]: Segment, [c, d]: Segment): boolean {
  const [t1, t2, t3, t4] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
  if (t1 * t2 < 0 && t3 * t4 < 0) return true;
  const touches = (t: number, place: Place, segment: Segment): boolean => t === 0 && isBetween(place, segment);
  return touches(t1, c, [a, b]) || touches(t2, d, [a, b]) || touches(t3, a, [c, d]) || touches(t4, b, [c, d]);
}
