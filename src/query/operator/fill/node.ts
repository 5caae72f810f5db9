/** Series of slots without gaps. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { value } from "../../expression/expression-shape.ts";
import { literalText } from "../../expression/expression-text.ts";
import type { Value } from "../../function/value/value.ts";
import { bigint, kinds, list, optional, record, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** What takes the place of a NULL in a series of slots. `none` and `null` leave it; `linear`: what lies between the neighbours. */
export type FillRule = { readonly kind: "none" | "null" | "prev" | "linear" } | { readonly kind: "constant"; readonly value: Value };

/** A column of a series of slots. */
export interface FilledColumn {
  /** Position in the input. */
  readonly column: number;
  readonly rule: FillRule;
  /** The value in slots without rows. */
  readonly empty: Value;
}

/** Gives each series of slots, `width` apart, without gaps. Columns: `keyCount` keys, which tell series apart, the slot, `items`. */
export interface FillSlotsNode<N> {
  readonly kind: "fill-slots";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly keyCount: number;
  readonly width: bigint;
  readonly items: readonly FilledColumn[];
}

const rule = kinds<FillRule>({ none: {}, null: {}, prev: {}, linear: {}, constant: { value: optional(value) } });

/** See the file header. */
export const FILL_SLOTS: NodeKind<FillSlotsNode<AnyNode>> = nodeKind<FillSlotsNode<AnyNode>>({
  kind: "fill-slots",
  fields: {
    input,
    keyCount: whole(0),
    width: bigint,
    items: list(record<FilledColumn>({ column: whole(0), rule, empty: optional(value) })),
  },
  explain: ({ items, columns, keyCount }) =>
    `FillSlotsExec: [${items.map((item, i) => fillText(item, columns[keyCount + 1 + i])).join(", ")}]`,
  wrong: ({ columns, keyCount, items, width }) =>
    width > 0n && columns.length === keyCount + 1 + items.length ? undefined : "its columns are not its keys, its slot and its items",
});

function fillText({ rule: { kind, ...rest } }: FilledColumn, named: ColumnHeader | undefined): string {
  const what = "value" in rest ? literalText(named?.type ?? { kind: "null" }, rest.value) : kind.toUpperCase();
  return `${named?.name} FILL ${what}`;
}
