"""Rows as Arrow has them: every type with its ends, many rows, and how answers compare with them."""

import decimal

import pyarrow as pa

# Every type that a table has, with its ends, a value amid them, and NULL.
TYPES = {
    "b": ("BOOLEAN", pa.bool_(), [True, False, True]),
    "i8": ("TINYINT", pa.int8(), [-(2**7), 2**7 - 1, 5]),
    "i16": ("SMALLINT", pa.int16(), [-(2**15), 2**15 - 1, 5]),
    "i32": ("INT", pa.int32(), [-(2**31), 2**31 - 1, 5]),
    "i64": ("BIGINT", pa.int64(), [-(2**63), 2**63 - 1, 2**53 + 1]),
    "u8": ("TINYINT UNSIGNED", pa.uint8(), [0, 2**8 - 1, 5]),
    "u16": ("SMALLINT UNSIGNED", pa.uint16(), [0, 2**16 - 1, 5]),
    "u32": ("INT UNSIGNED", pa.uint32(), [0, 2**32 - 1, 5]),
    "u64": ("BIGINT UNSIGNED", pa.uint64(), [0, 2**64 - 1, 2**63]),
    "f32": ("FLOAT", pa.float32(), [-3.4028234663852886e38, float("inf"), 0.5]),
    "f64": ("DOUBLE", pa.float64(), [-1.7976931348623157e308, 5e-324, float("-inf")]),
    "n38": ("DECIMAL(38, 10)", pa.decimal128(38, 10), [decimal.Decimal("9" * 28 + "." + "9" * 10), decimal.Decimal("-" + "9" * 28 + "." + "9" * 10), None]),
    "n8": ("DECIMAL(8, 2)", pa.decimal128(8, 2), [decimal.Decimal("-999999.99"), decimal.Decimal("0.01"), None]),
    "s": ("STRING", pa.string(), ["", "käse 🧀 \0 \r\n", "x" * 70_000]),
    "bin": ("VARBINARY", pa.binary(), [b"", bytes(range(256)), b"\xc3\x28"]),
    "d": ("DATE", pa.date32(), [-719_162, 2_932_896, 0]),
    "t0": ("TIMESTAMP(0)", pa.timestamp("s"), [-62_135_596_800, 253_402_300_799, 0]),
    "t3": ("TIMESTAMP(3)", pa.timestamp("ms"), [-62_135_596_800_000, 253_402_300_799_999, -1]),
    "t6": ("TIMESTAMP(6)", pa.timestamp("us"), [-62_135_596_800_000_000, 253_402_300_799_999_999, -1]),
    "t9": ("TIMESTAMP(9)", pa.timestamp("ns"), [-(2**63) + 1, 2**63 - 1, -1]),
    "j": ("JSON", pa.string(), ['{"a":[1,2.5,null,true]}', "[]", "{}"]),
}


def every_type(tag_type):
    """Rows of all types, NULLs last, and one of NULLs alone, under two tags."""
    count = 4
    fields = [pa.field("ts", pa.timestamp("ms"), nullable=False), pa.field("host", tag_type), pa.field("zone", tag_type)]
    arrays = [pa.array(range(count), pa.timestamp("ms")), pa.array(["a", "ü", "", None]).cast(tag_type), pa.array(["z", None, "y", "z"]).cast(tag_type)]
    for name, (_, kind, values) in TYPES.items():
        fields.append(pa.field(name, kind))
        arrays.append(pa.array([*values, None], kind))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def many(count):
    """Rows of a tag of a hundred values, and NULLs here and there."""
    each = range(count)
    host = pa.array([f"host {i % 100}" for i in each])
    v = pa.array([None if i % 11 == 0 else i / 4 for i in each], pa.float64())
    n = pa.array([None if i % 7 == 3 else i * 2**40 for i in each], pa.int64())
    return pa.record_batch([pa.array(each, pa.timestamp("ms")), host, v, n], names=["ts", "host", "v", "n"])


def same_table(found, want):
    """Compares columns by their values and their types; dictionaries are their values."""
    assert found.num_rows == want.num_rows, f"{found.num_rows} rows, not {want.num_rows}"
    for name in want.schema.names:
        have, expected = found.column(name).combine_chunks(), want.column(name)
        expected = expected.combine_chunks() if isinstance(expected, pa.ChunkedArray) else expected
        if pa.types.is_dictionary(expected.type):
            expected = expected.dictionary_decode()
        if pa.types.is_dictionary(have.type):
            have = have.dictionary_decode()
        assert have.type == expected.type, f"column {name} is {have.type}, not {expected.type}"
        have.validate(full=True)
        assert have.equals(expected), f"column {name}: {have.to_string()[:200]}, not {expected.to_string()[:200]}"
