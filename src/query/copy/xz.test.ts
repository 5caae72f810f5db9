import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import { expect, test } from "bun:test";
import { inPieces, joined } from "../../../test/support/byte-streams.ts";
import { testStreamReader } from "../../../test/support/stream-reader-suite.ts";
import { decompressXz } from "./xz.ts";

const REFERENCE =
  "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4AqMAkJdADQbys4dc9qNR5tj+KZJuO1kxjibQAIom2zrK6v1DkeBpszqTwShvCKCjZDVNw9PSI8AER3d0wsdw0e9" +
  "8cucvQ1X4U4SEnjgBvdHqVDUD/HfrXcSC8a0mTPnsZyhM/nlknLYq2/LDw3ZQJn7iFU9ZpC/u7vHkMtShJdFDQZZ4csFbKWdTK3+yLIN9dxB8wf5rRbrUgBl" +
  "IuKfP7YuVDBwp7sY6d5XgqeCQeMXNopbBJJY/GTNaqB9V+Wr1yofjUv9Mb+U5bboDyXhiL2x59d/5A63RLsDCT+i8dLBib8sH+cwO0NwA4XooRsrWboM7FnP" +
  "crg/DL7L+jHmiSU7v4L3PfcZkXCt7AGnzhM1mHz9QvyNQh6VT592FsLPA0AmFj1u85AQxc5DEoBFJyC58MIT+Etc0aBtVRZdkwK4LDgtfNASmNKeHiBvD+Vt" +
  "kBJADMAgmC3k6H4GXy/GhmsB3cetO6HOlYQFVY+X924BHwJY+awa0BNcsVv6V9TfNSByqwQgXXrVBPDAo+Nb8Z1BFJf2/F40jaAYuGe8O0TLQHWf1AjKvbCw" +
  "jUSa++ClkNo1CRCYn0CnckUgwkPv01i41kPJgq9GGfNG3ir5mNEPcqpZ4irk9eNvQnYFNO6ErSUVIkdC0zqWFKI5w2n/3Tcj52INCkFrr9xFbysdUYiFW0lz" +
  "8BgLHUAR2vceBmu1xyUFuwILGwilLMdTiggeVBkjQBTZdAoU12gts/seHHvRi86s+lG43OJCgqeAM/d8ClGMCGuxiWwAAAAANrs5K/aIirYAAd4EjRUAAD8A" +
  "PxuxxGf7AgAAAAAEWVo=";

const TWO_STREAMS =
  "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQAFaGVsbG8gAAAACrCvBLoF7xgAAR4GwS+kHR+2830BAAAAAARZWgAAAAAAAAAA/Td6WFoAAAFpIt" +
  "42AgAhARwAAAAQz1jMAQAEd29ybGQAAAAAQxF3OgABGQW86OzLkEKZDQEAAAAAAVla";

testStreamReader({
  decompress: decompressXz,
  reference: REFERENCE,
  twoStreams: TWO_STREAMS,
  zeros:
    "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM//8RAWxdAABv/f//o7f/Rz5IFXI5YVG4kijmo4YH+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEVPgWRjFdYri" +
    "d/i2lH8MasDedElk4ulcU7IE2PdEDKtfDW1G6eXDdoi3llestk3haR1v+0uIEGxCy4g/XACP0E6vJiiUcR89jyThcJ6nI1/sKMuF0ZWYin4qkfIndfcZwAaY" +
    "TZj92K/VkA/EJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DEvS5f" +
    "qg8+S2ZCkBMO/xCT+HF4WfgLzf+VKEYPqfx83vuaMC5WwI+F84OBwGXEJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH" +
    "2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DEvEgn5lif/xABKwDsc1On/b6ufDEan7eNMW5wnqcjX+woy4XRlZiKfiqR8id19xnABphNmP3Yr9WQD8Ql" +
    "U/j1kTYxBaWw7m/BcE1HDNGREaqtYB26zrEnGFxZhulmUli+6XasWeTlWwUI+cfarfz7Uit0zR5bIEL53VM9+ClkCTuAyyps37U78MS9Ll+qDz5LZkKQEw7/" +
    "EJP4cXhZ+AvN/5UoRg+p/Hze+5owLlbAj4Xzg4HAZcQlU/j1kTYxBaWw7m/BcE1HDNGREaqtYB26zrEnGFxZhulmUli+6XasWeTlWwUI+cfarfz7Uit0zR5b" +
    "IEL53VM9+ClkCTuAyyps37U78MS9Ll+qDz5LZkKQEw7/EJP4cXhZ+AvN/5UoRg+p/Hze+5owLlbAj4Xzg4HAZcQlUQ8/sp//EAErAOxzU6f9vq58MRqft40x" +
    "bnCepyNf7CjLhdGVmIp+KpHyJ3X3GcAGmE2Y/div1ZAPxCVT+PWRNjEFpbDub8FwTUcM0ZERqq1gHbrOsScYXFmG6WZSWL7pdqxZ5OVbBQj5x9qt/PtSK3TN" +
    "HlsgQvndUz34KWQJO4DLKmzftTvwxL0uX6oPPktmQpATDv8Qk/hxeFn4C83/lShGD6n8fN77mjAuVsCPhfODgcBlxCVT+PWRNjEFpbDub8FwTUcM0ZERqq1g" +
    "HbrOsScYXFmG6WZSWL7pdqxZ5OVbBQj5x9qt/PtSK3TNHlsgQvndUz34KWQJO4DLKmzftTvwxL0uX6oPPktmQpATDv8Qk/hxeFn4C83/lShGD6n8fN77mjAu" +
    "VsCPhfODgcBlxCVRDz+yn/8QASsA7HNTp/2+rnwxGp+3jTFucJ6nI1/sKMuF0ZWYin4qkfIndfcZwAaYTZj92K/VkA/EJVP49ZE2MQWlsO5vwXBNRwzRkRGq" +
    "rWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DEvS5fqg8+S2ZCkBMO/xCT+HF4WfgLzf+VKEYPqfx83vua" +
    "MC5WwI+F84OBwGXEJVP49ZE2MQWlsO5vwXBNRwzRkRGqrWAdus6xJxhcWYbpZlJYvul2rFnk5VsFCPnH2q38+1IrdM0eWyBC+d1TPfgpZAk7gMsqbN+1O/DE" +
    "vS5fqg8+S2ZCkBMO/xCT+HF4WfgLzf+VKEYPqfx83vuaMC5WwI+F84OBwGXEJVEPP7KPcnoAlADsc1On/b6ufDEan7eNMW5wnqcjX+woy4XRlZiKfiqR8id1" +
    "9xnABphNmP3Yr9WQD8QlU/j1kTYxBaWw7m/BcE1HDNGREaqtYB26zrEnGFxZhulmUli+6XasWeTlWwUI+cfarfz7Uit0zR5bIEL53VM9+ClkCTuAyyps37U7" +
    "8MS9Ll+qDz5LZkKQEw7/EJP4btDtHgAAAAAAADPzQYPJQtS8AAG1C8DdvQSDO5hbscRn+wIAAAAABFla",
  samples: {
    nothing: "/Td6WFoAAATm1rRGAAAAABzfRCEftvN9AQAAAAAEWVo=",
    "one byte": "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQAABwAAAABeng8wHhjXIwABGQGlLIHMH7bzfQEAAAAABFla",
    "a long run":
      "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4knvAFtdAABv/f//o7f/Rz5IFXI5YVG4kijmo4YH+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEVPgWRjFdYri" +
      "d/i2lH8MasDedElk4ulcU7IE2PdEDKtfDW0orKuDAAAAAFuHDphrWRl/AAF38JMJAAA8zGI9scRn+wIAAAAABFla",
    "short runs":
      "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4AfPAGVdAAAAkFUGcEU6o8xDx2jCnqQrm/KCOlwk70THxFbW2kA+rVqYq3dCA8DIs1kbmrU2X9xEIKh7TJt4gGYp" +
      "KgZS99t4gMEuu+tErx0iC7LmfYZxnBpiamrN0iOyZjzzXuLhCGBwKt0IAAAAAGUebwU9JMRyAAGBAdAPAAC0xNEGscRn+wIAAAAABFla",
    "a repeated text":
      "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4EZPAD5dADCYiKO2Dera0E4NYBq7gGtYvSNIRhacid3bTS5I5YJHhvqkZzksTOMALsSxRulLYVTZemFnvACEaU9Y" +
      "6G0AAAAAR5ZzVa7F9+kAAVrQjAEAAKHj+EGxxGf7AgAAAAAEWVo=",
    noise:
      "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4AK7AihdACWwTmCUOeSfdbkICjDBwOS7FK4llgSStKWzB3KgThUFXfpc2le93Vro0tR6y7MK1rzogKcKz4bKD8ov" +
      "WteEAGnERkgMy4tqg7F0gpaDJAzNy+gd3otNOt5/qfXqFTvMGn2pS04CVbLximHetYWQI6IfH1MP6BIuBcRpivsHLbuLZjfNBfL3BQ9LO6UeP4bjnLsPx5g+" +
      "KVvxlMXgNXpMe2zhmPFquepR0eX/m9U3PNgl6kvPBx31MeD244vPgXPWiRkp2zrSZsXTQKFBKJ2FaLkzWvZ9mCg7m4egvw/GORpdlHKmW57tv30r8nqL63XM" +
      "cP+8ygFso56VG2Ksq205XW0IVh8qWKBtMF2WgqyIwY1/Iyykv8wPKhPsxUocwawYPOJLESgR7SqnKj4rJXtpCtAsr14Gul7HBjKSMT+zhVSTAQu9bSBjoFLY" +
      "9dGMS7g025L9i4SGFD0221O9Cr948pKjR5etpCOFcH7BTkyQ29NIxb3xusWkjXdD+k6WjN3U0QW0WYqmBvpN256WZY5ogUapUEWTnoCYgmWQdcNO5HhGyTSA" +
      "9HQ3O2BzIery5FnBhW9b1ArNmAWASFRsQ9/LjOHtHsDZE2p9YS/aS8kzx7HzjOtrlqHT+39lPR+6sc/wzL8jGSukhKkO34eDon2wrHEvovXpjevxAkil1CxK" +
      "IZ6Q3dWszLDA7OkUFHxCE4UJKg57uHxpHPABl8ZhITbiidZOo7PxNGSh5gAUQOu/gHjknwABxAS8BQAAdh3D7bHEZ/sCAAAAAARZWg==",
  },
});

const refusal = (base64: string): Promise<string> =>
  joined(decompressXz(inPieces(Uint8Array.fromBase64(base64), 100), new Pace(new Scheduler()))).then(() => "taken", String);

test("says what it does not read: other checks, large dictionaries, nothing at all", async () => {
  const sha256 =
    "/Td6WFoAAArh+wyhAgAhARYAAAB0L+WjAQAEaGVsbG8AAAAALPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQAATUFEoPd8hibS5oBAA" + "AAAApZWg==";
  const dictionary = "/Td6WFoAAAFpIt42AgAhASUAAAA7eHtB4AHzAA1dADQZSe6Oqc+vEYMAAAAAAAAAKHiLyAABJfQDAAAAKxk1Oz4wDYsCAAAAAAFZWg==";
  expect(await refusal(sha256)).toContain("it uses a check or a filter other than CRC-32, CRC-64 and LZMA2, such as SHA-256");
  expect(await refusal(dictionary)).toContain("its dictionary is larger than 64 MiB");
  expect(await refusal("")).toContain("it is empty");
});
