/** Card numbers in free text, as careless and malicious senders write them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasCardNumber, maskCardNumbers } from "./mask-card-numbers.ts";

// biome-ignore format: a table
const masked: readonly (readonly [text: string, shown: string])[] = [
  ["paid with 4111111111111111 today",          "paid with ************1111 today"],
  ["4111 1111 1111 1111",                       "**** **** **** 1111"],
  ["4111-1111-1111-1111",                       "****-****-****-1111"],
  ["4111.1111_1111/1111",                       "****.****_****/1111"],
  ["4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",           "* * * * * * * * * * * * 1 1 1 1"],
  ["4111 -- 1111 11111111",                     "4111 -- 1111 11111111".replace(/\d(?=(?:\D*\d){4})/g, "*")],
  ["4111\u00a01111\u20091111\u20111111",        "****\u00a0****\u2009****\u20111111"],
  ["4111\u200b1111\u200b1111\u200b1111",        "****\u200b****\u200b****\u200b1111"],
  ["４１１１１１１１１１１１１１１１",          "************１１１１"],
  ["٤١١١ ١١١١ ١١١١ ١١١١",                       "**** **** **** ١١١١"],
  ["𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏",                          "************𝟏𝟏𝟏𝟏"],
  ["x4111111111111111y",                        "x************1111y"],
  ["amex 378282246310005, visa 4222222222222",  "amex ***********0005, visa *********2222"],
  ["6799990100000000019",                       "***************0019"],
  ["no. 12: 4111111111111111",                  "no. 12: ************1111"],
  ["4111111111111111 5555555555554444",         "************1111 ************4444"],
  ["exp 12/31 4111111111111111 cvv",            "exp 12/31 ************1111 cvv"],
  ["https://shop.example/?card=4111111111111111", "https://shop.example/?card=************1111"],
  ['{"pan":[4111,1111,1111,1111]}',             '{"pan":[****,****,****,1111]}'],
  ["pan=4111%201111%201111%201111&a=b",         "pan=****%20****%20****%201111&a=b"],
  ["4111%2C%201111%2c%201111%2C%201111",        "****%2C%20****%2c%20****%2C%201111"],
  ["%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31", "************%31%31%31%31"],
  ["4111%25201111%2525201111%2D1111",           "****%2520****%252520****%2D1111"],
  ["%EF%BC%94111%C2%A01111%e2%80%911111%201111", "****%C2%A0****%e2%80%91****%201111"],
  ["%F0%9D%9F%92111111111111111",               "************1111"],
  ["100%4111111111111111 %41 %c2 %",            "100%************1111 %41 %c2 %"],
];

test("a card number in a text is masked, however it is written", () => {
  for (const [text, shown] of masked) assert.equal(maskCardNumbers(text), shown, text);
});

// biome-ignore format: a table
const untouched: readonly string[] = [
  "",
  "4111111111111112",
  "4111 1111 1111",
  "order of 2026-11-16 00:34:49.123",
  "call +49 170 1234567 or 192.168.100.200",
  "0195933a-7c48-7000-8000-000000000001",
  "41111111 items at 11111111 each",
  "4111 (first) 1111 (second) 1111 (third) 1111",
  "https://shop.example/?a=%41%20b%20100%25&t=12%3A30%3A00&%C3%A4=%FF%E2%82",
];

test("other digits stay as they were sent", () => {
  for (const text of untouched) assert.equal(maskCardNumbers(text), text);
});

test("a card number that other digits surround shows no more than ten of its digits", () => {
  for (const around of ["1", "56", "999", "4111"]) {
    for (const text of [`${around} 4111111111111111`, `4111111111111111 ${around}`]) {
      assert.ok(hasCardNumber(text), text);
    }
  }
  assert.ok(hasCardNumber("?card=4111%201111%201111%201111"));
  const glued = maskCardNumbers(`98765${"4111111111111111"}43210`);
  assert.ok((glued.match(/\*/g) ?? []).length >= 6, glued);
});

test("numbers of all networks are found behind any words and digits", () => {
  let state = 1;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (const [prefix, count] of [
    ["4", 16],
    ["2720", 16],
    ["37", 15],
    ["62", 19],
    ["50", 12],
  ] as const) {
    for (let round = 0; round < 200; round += 1) {
      let digits: string = prefix;
      while (digits.length < count - 1) digits += random(10);
      const number = [..."0123456789"].map((last) => digits + last).find(isLuhn) ?? "";
      const split = number.replace(/\d{1,4}/g, (group) => group + " -./"[random(4)]);
      for (const text of [`a${number}b`, `7 ${split}`, `5612 ${number} 4000`]) {
        const shown = maskCardNumbers(text);
        assert.ok(!shown.replace(/\D/g, "").includes(number), `${text} → ${shown}`);
      }
    }
  }
});

test("the time for a text grows with its length, not with its square", () => {
  // Measures the thread's processor time, the best of three, because other programs may use the
  // core in between.
  const measure = (text: string) => {
    const times = Array.from({ length: 3 }, () => {
      const before = process.threadCpuUsage();
      maskCardNumbers(text);
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1000;
    });
    return Math.min(...times);
  };
  const encoded = ["%34", "%25", "25%", "%25".repeat(9), "%c2%25", "%e2%82"];
  const plain = ["4", "41", "4 ", `${"1".repeat(11)}a`, "4---", "４", "4111111111111111"];
  for (const part of [...plain, ...encoded]) {
    const text = (count: number) => part.repeat(Math.ceil(count / part.length));
    measure(text(4_096));
    const [short, long] = [measure(text(8_192)), measure(text(65_536))];
    assert.ok(long < 40 * Math.max(short, 1), `${part}: ${short} and ${long} ms`);
  }
});

function isLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, each, at) => {
    const doubled = Number(each) * (at % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
