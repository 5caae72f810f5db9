import { describe, test } from "bun:test";
import {
  checkAggregate,
  checkExpression as check,
  checkOverRows,
  failsExpression as fails,
} from "../../../../test/support/expression-check.ts";

describe("vectors", () => {
  test("are read and printed", async () => {
    await check("parse_vec('[1.0, -2.5]')", "0000803f000020c0", "Binary");
    await check("vec_to_string(parse_vec('[1.0, -2.5]'))", "[1,-2.5]", "String");
    await check("vec_to_string('[ 0.1 ]')", "[0.1]", "String");
    await check("'[1,2]'::VECTOR(2)", "0000803f00000040", "Vector(2)");
    await check("'[1,2]'::VECTOR(2)::STRING", "[1,2]", "String");
    await check("parse_vec('[1,2]')::VECTOR(2)", "0000803f00000040", "Vector(2)");
    await check("vec_to_string(NULL)", undefined, "String");
  });
  test("refuse another dimension", async () => {
    await fails("'[1]'::VECTOR(2)", "1004 Invalid Vector: Failed to parse [1] to Vector value: wrong dimension");
    await fails("parse_vec('1')", "1004 Invalid Vector: Failed to parse 1 to Vector value: not properly enclosed in brackets");
    await fails("vec_add('[1]', '[1,2]')", "3001 Execution error: vectors length not match: vec_add");
    await fails("vec_dim(1)", "3000 Failed to plan SQL");
  });
  test("have distances", async () => {
    await check("vec_l2sq_distance('[1,2]', '[4,6]')", 25, "Float32");
    await check("vec_dot_product(parse_vec('[1,2]'), '[3,4]')", 11, "Float32");
    await check("vec_cos_distance('[1,0]', '[0,1]')", 1, "Float32");
    await check("vec_cos_distance('[7,8,9]', '[7,8,9]')", 0);
    await check("vec_cos_distance('[1,2]', '[0,0]')", 1);
    await check("vec_dot_product(NULL, '[1]')", undefined);
  });
  test("combine", async () => {
    await check("vec_to_string(vec_add('[1,2]', '[3,4]'))", "[4,6]");
    await check("vec_to_string(vec_sub('[1,2]', '[3,4]'::VECTOR(2)))", "[-2,-2]");
    await check("vec_to_string(vec_mul('[1,2]', '[3,4]'))", "[3,8]");
    await check("vec_to_string(vec_div('[1,-2]', '[3,0]'))", "[0.33333334,-inf]");
    await check("vec_to_string(vec_scalar_add(1, '[1,2]'))", "[2,3]");
    await check("vec_to_string(vec_scalar_mul(0.5, '[1,2]'))", "[0.5,1]");
    await check("vec_to_string(vec_norm('[3,4]'))", "[0.6,0.8]");
  });
  test("have parts", async () => {
    await check("vec_dim('[1,2,3]')", 3, "UInt64");
    await check("vec_elem_sum('[1,2,4]')", 7, "Float32");
    await check("vec_elem_avg('[1,3]')", 2, "Float32");
    await check("vec_elem_product('[2,3,4]')", 24, "Float32");
    await check("vec_kth_elem('[1,2,3]', 2)", 3, "Float32");
    await check("vec_to_string(vec_subvector('[1,2,3]', 1, 3))", "[2,3]");
    await check("vec_to_string(vec_subvector('[1,2,3]', 3, 3))", "[]");
    await checkOverRows("vec_dim(v)", ["'[1]'", "NULL", "'[]'"], [1, undefined, 0]);
    await fails("vec_kth_elem('[1,2]', 2)", "Out of range: k must be in 0..1, got 2");
    await fails("vec_subvector('[1,2]', 1, 3)", "Invalid start and end indices: start=1, end=3, vec_len=2");
  });
  test("add up", async () => {
    const rows = ["'[1,2]'", "'[3,5]'", "NULL"];
    await checkAggregate("vec_to_string(vec_sum(column1))", rows, "[4,7]");
    await checkAggregate("vec_to_string(vec_avg(column1))", rows, "[2,3.5]");
    await checkAggregate("vec_to_string(vec_product(column1))", rows, "[3,10]");
    await checkAggregate("vec_sum(column1::STRING)", ["NULL"], undefined);
  });
});
