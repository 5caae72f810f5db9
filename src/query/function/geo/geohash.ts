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
