/**
 * A profile as a flame graph: one SVG that needs nothing else. Width is value, height is depth, callers are below; a title says what a box
 * is. Boxes that nobody could see are left out. Source of the form: brendangregg.com/flamegraphs.html.
 */
import { fnv1a } from "../bytes/hash.ts";
import type { Profile } from "./profile.ts";

const WIDTH = 1200;
const ROW = 17;
const TOP = 40;
/** Boxes narrower than this are left out, with all above them: in pixels. */
const BOX_MIN = 0.6;
/** Most rows. Reason: deeper recursion is a picture of itself. */
const DEPTH_MAX = 200;
const CHARACTER_WIDTH = 7;

/** A function as it was called from where it stands. */
interface Box {
  readonly frame: number;
  value: number;
  readonly above: Map<number, Box>;
}

/** The picture. */
export function flameGraph(profile: Profile): string {
  const { title, types, shown } = profile;
  const root: Box = { frame: -1, value: 0, above: new Map() };
  for (const { frames, values } of profile.stacks) addStack(root, frames, values[shown] ?? 0);
  const boxes: string[] = [];
  const depth = drawn(root, profile, boxes);
  const height = TOP + (depth + 1) * ROW + 10;
  const unit = `${types[shown]?.type ?? ""}, ${types[shown]?.unit ?? ""}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"
 font-family="monospace" font-size="12">
<rect width="100%" height="100%" fill="#fdfdfa"/>
<text x="10" y="24" font-size="16">${escaped(title)} (${escaped(unit)})</text>
<g transform="translate(0 ${height - ROW - 5})">
${boxes.join("\n")}
</g>
</svg>
`;
}

function addStack(root: Box, frames: readonly number[], value: number): void {
  root.value += value;
  let at = root;
  for (let index = frames.length - 1; index >= Math.max(0, frames.length - DEPTH_MAX); index--) {
    const frame = frames[index] ?? -1;
    let next = at.above.get(frame);
    if (next === undefined) at.above.set(frame, (next = { frame, value: 0, above: new Map() }));
    next.value += value;
    at = next;
  }
}

/** Draws all boxes from below; gives the number of rows. */
function drawn(root: Box, profile: Profile, boxes: string[]): number {
  const scale = root.value === 0 ? 0 : WIDTH / root.value;
  const waiting: { readonly box: Box; readonly x: number; readonly row: number }[] = [{ box: root, x: 0, row: 0 }];
  let depth = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { box, x, row } = next;
    depth = Math.max(depth, row);
    boxes.push(boxText(box, profile, root.value, { x, y: -row * ROW, width: box.value * scale }));
    let left = x;
    for (const above of [...box.above.values()].sort((a, b) => b.value - a.value)) {
      const width = above.value * scale;
      if (width >= BOX_MIN) waiting.push({ box: above, x: left, row: row + 1 });
      left += width;
    }
  }
  return depth;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function boxText({ frame, value }: Box, { frames, types, shown }: Profile, whole: number, { x, y, width }: Place): string {
  const known = frames[frame];
  const name = known?.name ?? "all";
  const place = known === undefined || known.file === "" ? "" : ` ${known.file}:${known.line}`;
  const share = whole === 0 ? "" : ` (${((value / whole) * 100).toFixed(2)} %)`;
  const fill = `hsl(${20 + (hashOf(name) % 40)} 85% ${62 + (hashOf(`${name}.`) % 12)}%)`;
  const characters = Math.floor((width - 6) / CHARACTER_WIDTH);
  const label = characters < 3 ? "" : name.length <= characters ? name : `${name.slice(0, characters - 1)}…`;
  const shownLabel = label === "" ? "" : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label)}</text>`;
  const what = escaped(`${name}${place}: ${value} ${types[shown]?.unit ?? ""}${share}`);
  const rect = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${fill}"/>`;
  return `<g><title>${what}</title>${rect}${shownLabel}</g>`;
}

/** The same colour for a name each time. */
function hashOf(name: string): number {
  const bytes = new TextEncoder().encode(name);
  return fnv1a(bytes, 0, bytes.length) >>> 0;
}

/** Text of XML: characters that it cannot hold become a mark. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\ufffe\uffff]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
