/** The rows whose value is not NULL, by their number among each other: what counts under IGNORE NULLS. */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { presence } from "./plain-numbers.ts";
import type { FoundPositions, Positions } from "./positions.ts";
import { numbersFrom, RowValues, type SortedRows } from "./sorted-rows.ts";

/** How many rows that count lie before positions that do not fall, from one call to the next. */
type Counter = (positions: Uint32Array) => Promise<Uint32Array>;

/** Found when they are first needed, by reading through all rows. */
export class PresentRows {
  /** Of starts of frames. */
  readonly before: Counter = this.counter();
  /** Of ends of frames. */
  readonly beforeEnd: Counter = this.counter();
  /** Of rows themselves. */
  readonly beforeOwn: Counter = this.counter();
  private readonly value: TypedExpression;
  private readonly rows: SortedRows;
  private readonly context: ExecContext;
  private known: Positions | undefined;

  constructor(value: TypedExpression, rows: SortedRows, context: ExecContext) {
    this.value = value;
    this.rows = rows;
    this.context = context;
  }

  /** Positions of the rows with these numbers, which do not fall but for `none`. */
  async positions(numbers: Uint32Array, none: number): Promise<Uint32Array> {
    const wanted = numbers.filter((number) => number !== none);
    const found = await (await this.all()).at(wanted);
    let at = 0;
    return numbers.map((number) => (number === none ? none : (found[at++] as number)));
  }

  private async all(): Promise<Positions> {
    return (this.known ??= await this.find());
  }

  private async find(): Promise<FoundPositions> {
    const { rows, context } = this;
    const found = rows.newPositions(rows.rowCount);
    const values = new RowValues([this.value], rows, context);
    const own = new Uint32Array(Math.min(rows.chunkRows, rows.rowCount));
    for (let from = 0; from < rows.rowCount; from += rows.chunkRows) {
      const to = Math.min(rows.rowCount, from + rows.chunkRows);
      const [vector] = await values.over(from, to);
      const present = vector === undefined ? undefined : presence(vector, to - from);
      let count = 0;
      for (let row = from; row < to; row++) if (present?.[row - from] !== 0) own[count++] = row;
      await found.add(own.subarray(0, count));
      checkCancelled(context);
      if (context.pace.isDue()) await context.pace.turn();
    }
    await found.finish();
    return found;
  }

  private counter(): Counter {
    let [counted, from] = [0, 0];
    let near: Uint32Array = new Uint32Array(0);
    return async (positions) => {
      const all = await this.all();
      const counts = new Uint32Array(positions.length);
      for (let i = 0; i < positions.length; ) {
        for (; i < positions.length; i++) {
          while (counted < from + near.length && (near[counted - from] as number) < (positions[i] as number)) counted++;
          if (counted === from + near.length && counted < all.count) break;
          counts[i] = counted;
        }
        if (i === positions.length) break;
        from = counted;
        near = await all.at(numbersFrom(from, Math.min(all.count, from + this.rows.chunkRows)));
      }
      return counts;
    };
  }
}
