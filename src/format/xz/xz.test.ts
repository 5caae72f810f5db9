import { testStreamCodec } from "../../../test/support/stream-codec-suite.ts";
import { compressXz, decompressXz } from "./xz.ts";

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
  "/Td6WFoAAArh+wyhAgAhARYAAAB0L+WjAQAFaGVsbG8gAAAAXjI1qDRuWkWF+MWFYvUFK4/iajuxIuHpbHZ4SWTfxGEAATYGa4H5QBibS5oBAA" +
  "AAAApZWgAAAAD9N3pYWgAAAP8S2UECACEBFgAAAHQv5aMBAAR3b3JsZAAAAAAAARUFsKdZZwZynnoBAAAAAABZWg==";

testStreamCodec({ compress: compressXz, decompress: decompressXz, reference: REFERENCE, twoStreams: TWO_STREAMS });
