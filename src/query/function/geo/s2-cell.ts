/**
 * Cells of S2: the sphere on the six faces of a cube, each face a Hilbert curve of 2^30 x 2^30 leaves. A cell number is 3 bits of face, two
 * bits a level, a 1, and zeros. Source: https://s2geometry.io/devguide/s2cell_hierarchy
 */

const LEVELS = 30;
/** Position on the curve of a quadrant (2 i + j), and what the curve inside it turns by, for each of its four orientations. */
const POSITIONS = [
  [0, 1, 3, 2],
  [0, 3, 1, 2],
  [2, 3, 1, 0],
  [2, 1, 3, 0],
] as const;
const TURNS = [1, 0, 0, 3] as const;

/** The leaf cell of a place, as an unsigned number of 64 bits. */
export function s2CellOf(latitude: number, longitude: number): bigint {
  const [phi, theta] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  const { face, u, v } = faceOf(Math.cos(theta) * Math.cos(phi), Math.sin(theta) * Math.cos(phi), Math.sin(phi));
  const [i, j] = [leafOf(u), leafOf(v)];
  let cell = BigInt(face);
  let orientation = face & 1;
  for (let level = LEVELS - 1; level >= 0; level--) {
    const quadrant = 2 * ((i >> level) & 1) + ((j >> level) & 1);
    const position = POSITIONS[orientation]?.[quadrant] ?? 0;
    cell = (cell << 2n) | BigInt(position);
    orientation ^= TURNS[position];
  }
  return (cell << 1n) | 1n;
}

/** The face of the cube that a direction goes through, and where. */
function faceOf(x: number, y: number, z: number): { readonly face: number; readonly u: number; readonly v: number } {
  const [ax, ay, az] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (ax >= ay && ax >= az) return x >= 0 ? { face: 0, u: y / x, v: z / x } : { face: 3, u: z / x, v: y / x };
  if (ay >= az) return y >= 0 ? { face: 1, u: -x / y, v: z / y } : { face: 4, u: z / y, v: -x / y };
  return z >= 0 ? { face: 2, u: -x / z, v: -y / z } : { face: 5, u: -y / z, v: -x / z };
}

/** The leaf of a coordinate -1..1 on a face, by the quadratic projection that makes cells of one level nearly equal. */
function leafOf(u: number): number {
  const s = u >= 0 ? 0.5 * Math.sqrt(1 + 3 * u) : 1 - 0.5 * Math.sqrt(1 - 3 * u);
  return Math.min(Math.max(Math.floor(s * 2 ** LEVELS), 0), 2 ** LEVELS - 1);
}

/** The level of a cell, 0..30, or undefined for what is no cell. */
export function s2Level(cell: bigint): number | undefined {
  if (cell <= 0n || cell >= 6n << 61n) return undefined;
  let zeros = 0;
  for (let rest = cell; (rest & 1n) === 0n; rest >>= 1n) zeros++;
  return zeros % 2 === 0 && zeros <= 2 * LEVELS ? LEVELS - zeros / 2 : undefined;
}

/** The cell of a coarser level that holds a cell. */
export function s2Parent(cell: bigint, level: number): bigint {
  const lowest = 1n << BigInt(2 * (LEVELS - level));
  return ((cell >> BigInt(2 * (LEVELS - level) + 1)) << BigInt(2 * (LEVELS - level) + 1)) | lowest;
}
