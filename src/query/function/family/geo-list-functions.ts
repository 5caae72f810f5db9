/** Functions on places whose results are lists: neighbours, children, disks and paths of cells (contract query.md 2.5). */
import { NESTED_PARTS_MAX } from "../../../base/limits.ts";
import { FLOAT64, STRING, UINT64 } from "../../../column/data-type.ts";
import { tooManyParts } from "../../../column/nested.ts";
import { geohashNeighbours } from "../geo/geohash.ts";
import { h3 } from "../geo/h3.ts";
import { cellNumber, cells, checked, h3Call, h3Cell, place } from "./geo-functions.ts";
import { listOf, resultOf } from "../nested/parts.ts";
import { type FunctionCall, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import type { Present } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";

const CELLS = listOf(UINT64);

/** Cells as a list of numbers. */
const cellList = (found: readonly string[], call: FunctionCall): Present => resultOf(call, found.map(cellNumber));

/** The cells up to `k` steps away, ring by ring from the middle. */
function disk([cell, k]: readonly Present[], call: FunctionCall): Present {
  const steps = Number(k);
  if (steps < 0) throw executionError(`a disk of cells has a radius of 0 or more; got ${steps}`);
  if (3 * steps * (steps + 1) + 1 > NESTED_PARTS_MAX) throw tooManyParts();
  const middle = h3Cell(cell);
  return cellList(h3Call(() => h3().gridDiskDistances(middle, steps)).flat(), call);
}

function children([cell, resolution]: readonly Present[], call: FunctionCall): Present {
  const parent = h3Cell(cell);
  const size = h3Call(() => h3().cellToChildrenSize(parent, Number(resolution)));
  if (size > NESTED_PARTS_MAX) throw tooManyParts();
  return cellList(
    h3Call(() => h3().cellToChildren(parent, Number(resolution))),
    call,
  );
}

function path([a, b]: readonly Present[], call: FunctionCall): Present {
  const [from, to] = [h3Cell(a), h3Cell(b)];
  if (h3Call(() => h3().gridDistance(from, to)) >= NESTED_PARTS_MAX) throw tooManyParts();
  return cellList(
    h3Call(() => h3().gridPathCells(from, to)),
    call,
  );
}

function neighbours(args: readonly Present[], call: FunctionCall): Present {
  const resolution = Number(args[2]);
  if (resolution < 1 || resolution > 12) throw executionError(`Invalid geohash resolution ${resolution}, valid value range: [1, 12]`);
  const [latitude, longitude] = checked(args);
  const around = geohashNeighbours(latitude, longitude, resolution);
  if (around === undefined) throw executionError("a geohash at a pole has no neighbours beyond it");
  return resultOf(call, around);
}

/** The functions of this file. */
export const GEO_LIST_FUNCTIONS: readonly ScalarFunction[] = [
  strict("geohash_neighbours(latitude, longitude, resolution)", place(1, listOf(STRING)), neighbours),
  strict("h3_cell_center_latlng(cell)", cells(1, 0, listOf(FLOAT64)), ([cell], call) => resultOf(call, h3().cellToLatLng(h3Cell(cell)))),
  strict("h3_cell_to_children(cell, resolution)", cells(1, 1, CELLS), children),
  strict("h3_grid_disk(cell, radius)", cells(1, 1, CELLS), disk),
  strict("h3_grid_disk_distances(cell, radius)", cells(1, 1, CELLS), disk),
  strict("h3_grid_path_cells(cell, cell)", cells(2, 0, CELLS), path),
];
