/** Hashes of keys that are some 32-bit words side by side. A seed of the process begins them: nobody outside can make keys that meet. */
import { generated } from "../../expression/generated-code.ts";

/** Code that leaves a hash of words `w0`, `w1` … in `h`: each is mixed in whole before the next comes. `seed` begins it. */
function hashText(width: number): string {
  let text = "let h = seed;\n";
  for (let w = 0; w < width; w++) text += `h = Math.imul(h ^ w${w}, 0x85ebca6b); h ^= h >>> 15;\n`;
  return `${text}h = Math.imul(h, 0xc2b2ae35); h ^= h >>> 13;\n`;
}

/** A piece of code for each word of a key, joined. */
export function eachWord(width: number, text: (word: number) => string, between = " "): string {
  return Array.from({ length: width }, (_, word) => text(word)).join(between);
}

/** Of a loop over rows `row` of a table's keys: what it does with one that is NULL. */
export function nullRow(row: string): string {
  return `if (validity !== undefined && validity[${row}] === 0) {
if (!nullIsNumber) { into[${row}] = -1; continue; }
if (table.nullNumber < 0 && isNew) {
if (size >= sizeMax) { table.size = size; return ${row}; }
table.nullNumber = size++;
}
into[${row}] = table.nullNumber;
continue;
}`;
}

/** Writes hashes of the keys of rows `[from, to)` to `hashes[0]` on. */
export type HashLoop = (words: Int32Array, from: number, to: number, seed: number, hashes: Int32Array) => void;

const loops = new Map<number, HashLoop>();

/** The loop for keys of some words. */
export function hashLoop(width: number): HashLoop {
  const known = loops.get(width);
  if (known !== undefined) return known;
  const body = `// ${width}
for (let row = from, at = from * ${width}; row < to; row++, at += ${width}) {
${eachWord(width, (w) => `const w${w} = words[at + ${w}];`)}
${hashText(width)}hashes[row - from] = h;
}`;
  const made = generated<HashLoop>(`word-hashes-${width}`, ["words", "from", "to", "seed", "hashes"], body);
  loops.set(width, made);
  return made;
}
