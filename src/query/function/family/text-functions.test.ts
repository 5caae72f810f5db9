/** Functions on text, digests and addresses that have tables of their own. */
import { describe, test } from "bun:test";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../../test/support/expression-check.ts";

describe("regular expressions", () => {
  test("match, count and find", async () => {
    await check("'abc' ~ 'b.' AND 'ABC' ~* 'b' AND 'abc' !~ 'x' AND 'abc' !~* 'X'", true, "Boolean");
    await check("regexp_like('a\nB', '^b', 'im')", true, "Boolean");
    await check("regexp_count('abcabc', 'B', 2, 'i')", 2, "Int64");
    await check("regexp_count('abc', '')", 0);
    await check("regexp_instr('😀abcab', 'ab', 1, 2)", 5, "Int64");
    await check("regexp_instr('xabc', 'a(b)(c)', 2, 1, '', 2)", 4);
    await check("regexp_instr('abc', 'z')", 0);
    await check("regexp_extract('v 1.2.3', '\\d+\\.\\d+')", "1.2", "String");
    await check("regexp_extract('none', '\\d')", undefined);
    await check("regexp_replace('abab', 'a(b)', '[\\1$1]')", "[bb]ab", "String");
    await check("regexp_replace('abAb', 'a', '', 'gi')", "bb");
    await checkOverRows("regexp_like(v, '^a')", ["'ab'", "NULL", "'b'"], [true, undefined, false]);
  });
  test("refuse patterns and flags that are none", async () => {
    await fails("regexp_like('a', '(')", "3001 cannot compile regular expression '('");
    await fails("'a' ~ '(?=b)'", "cannot compile regular expression '(?=b)'");
    await fails("regexp_like('a', 'a', 'g')", "flag 'g' does not go with it; use i, m, s, U or x");
    await fails("regexp_count('a', 'a', 0)", "counts characters from 1");
    await fails("regexp_instr('a', 'a', 1, 0)", "counts matches from 1");
  });
  test("build no text beyond the limit", async () => {
    const why = "cannot build a text of";
    await fails("regexp_replace(repeat('x', 100000), 'x', repeat('y', 1000), 'g')", why);
    await fails("concat(repeat('x', 16000000), repeat('y', 16000000))", why);
    await fails("repeat('x', 16000000) || repeat('y', 16000000)", why);
    await fails("concat_ws(repeat('x', 16000000), 'a', 'b', 'c')", why);
    await check("length(repeat('x', 16000000))", 16_000_000, "Int32");
    await check("length('a😀b')", 3);
  });
  test("take no longer on texts made against them", async () => {
    await check("repeat('a', 5000) || 'b' ~ '(a+)+$'", false);
  });
});

describe("functions of MySQL", () => {
  test("choose and number texts", async () => {
    await check("elt(2, 'a', 'b')", "b", "String");
    await check("elt(3, 'a', 'b')", undefined);
    await check("field('b', 'a', 'b')", 2, "Int64");
    await check("field(NULL, 'a')", 0);
    await check("find_in_set('b', 'a,b')", 2, "Int32");
    await check("find_in_set('', '')", 1);
    await fails("elt('x', 'a')", "3000 Failed to plan SQL");
  });
  test("cut and join by character", async () => {
    await check("insert('a😀c', 2, 1, 'xy')", "axyc", "String");
    await check("insert('abc', 0, 1, 'x')", "abc");
    await check("insert('abc', 2, -1, 'x')", "ax");
    await check("locate('b', '😀bab', 3)", 4, "Int64");
    await check("locate('z', 'abc')", 0);
    await check("locate('', 'abc')", 1);
    await check("substring_index('a.b.c', '.', 2)", "a.b", "String");
    await check("substr_index('a.b.c', '.', -1)", "c");
    await check("overlay('Txxxxas', 'hom', 2, 4)", "Thomas", "String");
    await check("space(3) || 'a'", "   a");
    await check("space(-1)", "");
    await check("levenshtein('kitten', 'sitting')", 3, "Int32");
    await fails("space(100000000)", "at most 16777216 are allowed");
    await fails("replace(repeat('a', 10000), 'a', repeat('b', 10000))", "at most 16777216 are allowed");
    await fails("chr(55296)", "there is none with the code 55296");
  });
  test("print numbers", async () => {
    await check("format(1234567.891, 2)", "1,234,567.89", "String");
    await check("format(-0.001, 2)", "0.00");
    await check("format(9223372036854775807, 1)", "9,223,372,036,854,775,807.0");
    await check("format(1.005, 2)", "1.01");
    await check("format(999.5, 0)", "1,000");
    await check("format(1e21, 0)", "1,000,000,000,000,000,000,000");
    await check("format(NULL, 2)", undefined);
  });
});

describe("digests", () => {
  test("of text and binary", async () => {
    await check("md5('abc')", "900150983cd24fb0d6963f7d28e17f72", "String");
    await check("sha256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "Binary");
    await check("length(encode(sha512('abc'), 'hex')) + length(encode(sha384('abc'), 'hex'))", 224);
    await check("digest('abc', 'sha224') = sha224(X'616263')", true);
    await check("encode(decode('YWJj', 'base64'), 'hex')", "616263", "String");
    await check("encode('abc', 'base64')", "YWJj");
    await check("md5(NULL)", undefined);
  });
  test("by BLAKE3, of nothing, a block, and chunks that make no whole tree", async () => {
    const blake3 = (text: string, times: number): string => `encode(digest(repeat('${text}', ${times}), 'blake3'), 'hex')`;
    await check(blake3("a", 0), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    await check(blake3("abc", 1), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
    await check(blake3("0123456789abcdef", 321), "a84698d8e384471df6be442107392118969ec57198d71da911df79d5ba9fd487");
  });
  test("refuse what they do not know", async () => {
    await fails("digest('a', 'crc')", "3001 cannot compute a digest: there is no digest 'crc'");
    await fails("encode('a', 'rot13')", "use 'hex', 'base64'");
    await fails("decode('zz', 'hex')", "it is no hex text");
  });
});

describe("addresses", () => {
  test("of version 4", async () => {
    await check("ipv4_string_to_num('192.168.0.1')", 3232235521, "UInt32");
    await check("inet_ntoa(3232235521)", "192.168.0.1", "String");
    await check("ipv4_to_cidr('192.168.1.5', 24)", "192.168.1.0/24", "String");
    await check("ipv4_to_cidr('10')", "10.0.0.0/8");
    await check("ipv4_in_range('10.1.2.3', '10.0.0.0/8')", true, "Boolean");
    await check("ipv4_in_range('11.1.2.3', '10.0.0.0/8')", false);
    await check("ipv4_in_range('1.1.1.1', '0.0.0.0/0')", true);
    await check("inet_aton(NULL)", undefined);
    await fails("inet_aton('1.2.3')", "3001 Execution error: Invalid IPv4 address: 1.2.3");
    await fails("inet_aton('1.2.3.04')", "Invalid IPv4 address");
    await fails("inet_ntoa(-1)", "it must be 0..4294967295");
    await fails("ipv4_to_cidr('1.2.3.4', 33)", "Subnet mask must be between 0 and 32, got 33");
    await fails("ipv4_in_range('1.2.3.4', '1.2.3.4')", "Invalid CIDR notation");
  });
  test("of version 6", async () => {
    await check("ipv6_num_to_string('20010db8000000000000000000000001')", "2001:db8::1", "String");
    await check("ipv6_string_to_num('::ffff:10.0.0.1')", "00000000000000000000ffff0a000001", "Binary");
    await check("ipv6_num_to_string(ipv6_string_to_num('1:0:0:2:0:0:0:3'))", "1:0:0:2::3");
    await check("ipv6_to_cidr('2001:db8::1', 48)", "2001:db8::/48", "String");
    await check("ipv6_to_cidr('fe80::1')", "fe80::/16");
    await check("ipv6_to_cidr('2001:db8')", "2001:db8::/32");
    await check("ipv6_to_cidr('::1')", "::1/128");
    await check("ipv6_in_range('2001:db8::5', '2001:db8::/32')", true, "Boolean");
    await fails("ipv6_string_to_num('1::2::3')", "Invalid IPv6 address");
    await fails("ipv6_string_to_num('1:2:3')", "Invalid IPv6 address");
    await fails("ipv6_num_to_string('12')", "give 32 hexadecimal digits");
  });
});

describe("the server and its catalog", () => {
  test("answer what clients ask", async () => {
    await check("version()", "1.3.0", "String");
    await check("connection_id() = pg_backend_pid()", true);
    await check("build() LIKE '%version: 1.3.0'", true);
    await check("current_schema()", "public");
    await check("format_type(23, NULL)", "integer");
    await check("quote_ident('a b') || quote_ident('ab')", '"a b"ab');
    await check("current_setting('search_path')", "public");
    await check("current_setting('none', true)", undefined);
    await check("pg_table_is_visible(1) AND has_table_privilege('a', 'select')", true);
    await check("obj_description(1, 'pg_class')", undefined, "String");
    await fails("current_setting('none')", 'unrecognized configuration parameter "none"');
    await fails("pg_table_is_visible()", "3000 Failed to plan SQL");
  });
  test("know Arrow's names of types", async () => {
    await check("arrow_cast(1, 'Int8')", 1, "Int8");
    await check("arrow_cast('2024-01-01', 'Timestamp(Millisecond, None)')", 1_704_067_200_000n, "TimestampMillisecond");
    await check("arrow_typeof(arrow_cast('1.5', 'Decimal128(10, 2)'))", "Decimal128(10, 2)");
    await check("arrow_try_cast('x', 'UInt8')", undefined, "UInt8");
    await fails("arrow_cast('x', 'UInt8')", "3001 Cast error");
    await fails("arrow_cast(1, 'Int7')", "unknown or unsupported Arrow type 'Int7'");
    await fails("arrow_cast(1, 'Timestamp(s, \"UTC\")')", "unknown or unsupported Arrow type");
    await fails("arrow_cast(1)", "takes a value and the name of an Arrow type");
  });
});
