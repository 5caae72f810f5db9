/** Names as COPY has them: `public.t`, `"a b".t`. */
import { WireFailure } from "../errors.ts";

const PART = /\s*(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))\s*(\.|$)/uy;

/** The parts of a name, in small letters unless they are quoted. @throws WireFailure for what is no name */
export function tableParts(text: string): readonly string[] {
  const parts: string[] = [];
  PART.lastIndex = 0;
  for (let more = true; more; ) {
    const found = PART.exec(text);
    if (found === null) throw new WireFailure("42601", `Invalid SQL syntax: COPY: '${text.slice(0, 80)}' is no name`);
    parts.push(found[1]?.replaceAll('""', '"') ?? (found[2] ?? "").toLowerCase());
    more = found[3] === ".";
  }
  return parts;
}
