/** Geohashes: longitude and latitude halved in turn, five bits a letter. */

const LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz";

/** The geohash of a place, `length` letters. */
export function geohashOf(latitude: number, longitude: number, length: number): string {
  const [low, high] = [
    [-180, -90],
    [180, 90],
  ];
  let text = "";
  let bits = 0;
  for (let i = 0; i < length * 5; i++) {
    const axis = i % 2;
    const value = axis === 0 ? longitude : latitude;
    const middle = ((low[axis] ?? 0) + (high[axis] ?? 0)) / 2;
    const upper = value >= middle;
    (upper ? low : high)[axis] = middle;
    bits = (bits << 1) | (upper ? 1 : 0);
    if (i % 5 === 4) {
      text += LETTERS[bits];
      bits = 0;
    }
  }
  return text;
}

/** North and east of each of the eight neighbours, from north by west. */
const AROUND: readonly (readonly [north: number, east: number])[] = [
  [1, 0],
  [1, -1],
  [0, -1],
  [-1, -1],
  [-1, 0],
  [-1, 1],
  [0, 1],
  [1, 1],
];

/** The eight geohashes around that of a place, from north by west; undefined at a pole, beyond which there are none. */
export function geohashNeighbours(latitude: number, longitude: number, length: number): string[] | undefined {
  const bits = length * 5;
  const height = 180 / 2 ** Math.floor(bits / 2);
  const width = 360 / 2 ** Math.ceil(bits / 2);
  // The middle of the cell: exact, since widths are powers of two of 360 and 180 degrees.
  const row = Math.min(Math.floor((latitude + 90) / height), 2 ** Math.floor(bits / 2) - 1);
  const column = Math.min(Math.floor((longitude + 180) / width), 2 ** Math.ceil(bits / 2) - 1);
  const found: string[] = [];
  for (const [north, east] of AROUND) {
    const y = (row + north + 0.5) * height - 90;
    if (y < -90 || y > 90) return undefined;
    const x = (((((column + east + 0.5) * width) % 360) + 360) % 360) - 180;
    found.push(geohashOf(y, x, length));
  }
  return found;
}
