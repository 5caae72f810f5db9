/** One of several operands in each row: CASE, `coalesce`, `ifnull`, `nullif`, `if`. */
import type { Texts } from "../../../column/texts.ts";
import type { Validity } from "../../../column/vector.ts";
import type { ColumnFunction, Operand } from "../signature/column-function.ts";
import { comparedTexts } from "./compare.ts";
import { texts as textOperand, textsOfOperand, validityOf } from "./operand.ts";
import { TextSink } from "./text-sink.ts";

/** The text of choice number `chosen[row]` in each row. */
export function chosenTexts(choices: readonly Texts[], chosen: Uint8Array, rowCount: number): Texts | undefined {
  const [first] = choices;
  if (first === undefined) return undefined;
  const validity = chosenValidity(choices, chosen, rowCount);
  const ascii = choices.every((choice) => choice.ascii);
  if (choices.every(({ bytes }) => bytes === first.bytes)) {
    const [starts, ends] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
    for (let row = 0; row < rowCount; row++) {
      const choice = choices[chosen[row] as number] as Texts;
      starts[row] = choice.starts[row] as number;
      ends[row] = choice.ends[row] as number;
    }
    return { bytes: first.bytes, starts, ends, validity, ascending: false, ascii };
  }
  const sink = new TextSink(rowCount, rowCount * 16);
  for (let row = 0; row < rowCount; row++) {
    const { bytes, starts, ends } = choices[chosen[row] as number] as Texts;
    if (validity === undefined || validity[row] !== 0) sink.append(bytes, starts[row] as number, ends[row] as number);
    sink.end();
  }
  return sink.texts(validity, ascii);
}

function chosenValidity(choices: readonly Texts[], chosen: Uint8Array, rowCount: number): Validity {
  if (choices.every(({ validity }) => validity === undefined)) return undefined;
  const validity = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) validity[row] = choices[chosen[row] as number]?.validity?.[row] ?? 1;
  return validity;
}

function allTexts(args: readonly Operand[], rowCount: number): readonly Texts[] | undefined {
  const all: Texts[] = [];
  for (const argument of args) {
    const given = textsOfOperand(argument, rowCount);
    if (given === undefined) return undefined;
    all.push(given);
  }
  return all;
}

const asOperand = (made: Texts | undefined): Operand | undefined => (made === undefined ? undefined : textOperand(made));

/** `coalesce(value, …)` of texts: the first that is not NULL. */
export const firstPresent: ColumnFunction = (args, { rowCount }) => {
  const all = allTexts(args, rowCount);
  if (all === undefined || all.length > 255) return undefined;
  const chosen = new Uint8Array(rowCount);
  for (let i = 0; i + 1 < all.length; i++) {
    const validity = all[i]?.validity;
    if (validity === undefined) break;
    for (let row = 0; row < rowCount; row++) if (chosen[row] === i && validity[row] === 0) chosen[row] = i + 1;
  }
  return asOperand(chosenTexts(all, chosen, rowCount));
};

/** `nullif(value, other)` of texts. */
export const nullWhereEqual: ColumnFunction = (args, { rowCount }) => {
  const [own, other] = allTexts(args, rowCount) ?? [];
  if (own === undefined || other === undefined) return undefined;
  const equal = comparedTexts(own, other, rowCount, "=");
  const validity = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const isNull = own.validity?.[row] === 0 || (equal[row] === 1 && other.validity?.[row] !== 0);
    validity[row] = isNull ? 0 : 1;
  }
  return textOperand({ ...own, validity });
};

/** `if(condition, then, else)` of texts. */
export const eitherText: ColumnFunction = ([condition, ...args], { rowCount }) => {
  const all = allTexts(args, rowCount);
  if (condition?.kind !== "numbers" || all === undefined) return undefined;
  const chosen = new Uint8Array(rowCount);
  const validity = validityOf(condition);
  for (let row = 0; row < rowCount; row++) chosen[row] = condition.values[row] !== 0 && validity?.[row] !== 0 ? 0 : 1;
  return asOperand(chosenTexts(all, chosen, rowCount));
};
