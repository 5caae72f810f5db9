/** What the metadata commands go by, and how they read the catalogue: through SQL, as whoever asks. */
import type { DataType } from "../../../../column/data-type.ts";
import { STRING } from "../../../../column/data-type.ts";
import { scalarAt } from "../../../../column/scalar.ts";
import type { Scalar } from "../../../../column/vector.ts";
import type { Db } from "../../../../db/db.ts";
import type { Session } from "../../../../db/session.ts";
import type { ArrowField } from "../../../../format/arrow/field-type.ts";

import { CATALOG_NAME } from "../../../../table/reserved-names.ts";

/** Who asks. */
export interface Ask {
  readonly db: Db;
  readonly session: Session;
}

/** A column of an answer that may be NULL, and one that never is. */
export const optional = (name: string, type: DataType = STRING): ArrowField => ({ name, type });
export const required = (name: string, type: DataType = STRING): ArrowField => ({ name, type, nullable: false });

/**
 * Rows of a query over the catalogue.
 *
 * @param texts what its placeholders stand for, so that no name is spliced into SQL
 * @throws DbError PermissionDenied for users who may not read
 */
export async function* catalogRows(text: string, texts: readonly string[], { db, session }: Ask): AsyncGenerator<readonly Scalar[]> {
  const query = await db.prepare(text, session);
  const values = texts.map((value) => ({ type: STRING, value }));
  for await (const result of db.execute(query, values, session)) {
    if (result.kind !== "rows") continue;
    for await (const { rowCount, vectors } of result.batches) {
      for (let row = 0; row < rowCount; row++) {
        yield result.headers.map(({ type }, i) => {
          const vector = vectors[i];
          return vector === undefined ? undefined : scalarAt(vector, type, row);
        });
      }
    }
  }
}

/** Whether a catalog that a command names can be the one that there is; a name that is empty means those without one. */
export const isOurCatalog = (catalog: string | undefined): boolean => catalog === undefined || catalog === CATALOG_NAME;
