/** Keys under a zone key: published vectors, and texts that are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyFault, unwrapKey, wrapBlock, wrapCryptogram, type ZoneKey } from "./index.ts";

const tdes = (key: string): ZoneKey => ({ cipher: "tdes", key });
const aes = (key: string): ZoneKey => ({ cipher: "aes", key });
const nist = "88E1AB2A2E3DD38C1FA039A536500CC8A87AB9D62DC92C01058FA79F44657DE6";
const as41 = "41".repeat(32);

// biome-ignore format: a table
const vectors: readonly (readonly [source: string, ZoneKey, block: string, key: string, usage: string])[] = [
  ["TR-31:2018, A.7.2.2",         tdes("DD7515F2BFC17F85CE48F3CA25CB21F6"), "B0080P0TE00E000094B420079CC80BA3461F86FE26EFC4A3B8E4FA4C5F5341176EED7B727B8A248E", "3F419E1CB7079442AA37474C2EFBF8B8", "P0"],
  ["TR-31:2018, A.7.3.2",         tdes("1D22BF32387C600AD97F9B97A51311AC"), "B0104B0TX12S0100KS1800604B120F9292800000BB68BE8680A400D9191AD4ECE45B6E6C0D21C4738A52190E248719E24B433627", "E8BC63E5479455E26577F715D587FE68", "B0"],
  ["TR-31:2018, A.7.4",           aes(nist),                                "D0112P0AE00E0000B82679114F470F540165EDFBF7E250FCEA43F810D215F8D207E2E417C07156A27E8E31DA05F7425509593D03A457DC34", "3F419E1CB7079442AA37474C2EFBF8B8", "P0"],
  ["a payment HSM, version B",    tdes("EFE0853B256B583D868F251CE99EA1D9"), "B0080K0TN00N00001C414014375212C24995E405B5EE052CB92B67F455EA2680F6751088F9F1C228", "5DB50B454F8389ADCE573BE50861F2BF", "K0"],
  ["a payment HSM, TDES in AES",  aes(as41),                                "D0112B0TN00N000037DB9B046B7B0048785690759580ABC3B9842AB4BB7717B49E92528E575785D8123559376A2553B27BE94F054F4E971C", "1FA1F7CEC798D91545DA8AE0C7796BD9", "B0"],
  ["a payment HSM, AES-256",      aes(as41),                                "D0144D0AN00N0000127862F945C2DED04530FAF7CDBC8B0BA10C7AA79BD5E0C2C5D6AC173BF588E4B19ACF1357178D50EA0AB193228E13958304FC6149632DFDCADF3A5B3D57E814", "BE19E6A07A760F10EF8E83A226B63AAD141F463FDDD4F47DB244B4023EC3CACC", "D0"],
];

for (const [source, zone, block, key, usage] of vectors) {
  test(`${source}: the block opens, and opens no more when a character is changed`, () => {
    const opened = unwrapKey(`${block}08D7B4`, zone);

    assert.ok(!(opened instanceof KeyFault));
    assert.deepEqual([opened.key, opened.usage, opened.rest], [key, usage, "08D7B4"]);
    for (let at = 5; at < block.length; at += 1) {
      const changed = block.slice(0, at) + (block[at] === "0" ? "1" : "0") + block.slice(at + 1);
      assert.ok(unwrapKey(changed, zone) instanceof KeyFault, `${at}`);
    }
    const other = { ...zone, key: zone.key.replace(/^./, (digit) => (digit === "2" ? "4" : "2")) };
    assert.ok(unwrapKey(block, other) instanceof KeyFault);
    for (let end = 0; end < block.length; end += 1) {
      assert.ok(unwrapKey(block.slice(0, end), zone) instanceof KeyFault, `${end}`);
    }
  });
}

test("a block that is made opens again, for every pair of zone key and key", () => {
  const random = (bytes: number) => Buffer.alloc(bytes, 7);
  const keys = { tdes: ["0123456789ABCDEFFEDCBA9876543210"], aes: ["11".repeat(16), nist] };
  for (const zone of [
    tdes("DD7515F2BFC17F85CE48F3CA25CB21F6"),
    tdes("42".repeat(24)),
    aes("33".repeat(16)),
    aes("33".repeat(24)),
    aes(nist),
  ]) {
    for (const cipher of ["tdes", "aes"] as const) {
      for (const key of keys[cipher]) {
        const block = wrapBlock(key, zone, { usage: "M3", cipher, random });
        assert.equal(Number(block.slice(1, 5)), block.length);
        assert.deepEqual(unwrapKey(block, zone), { key, cipher, usage: "M3", rest: "" });
      }
    }
  }
});

test("a cryptogram is decrypted block by block", () => {
  const zone = "0123456789ABCDEFFEDCBA9876543210";
  // With two equal keys, triple DES is single DES, so the vectors of FIPS 81 apply.
  const single = "0123456789ABCDEF0123456789ABCDEF";
  assert.equal(
    wrapCryptogram("4E6F772069732074" + "68652074696D6520", single),
    "3FA40E8A984D4815" + "6A271787AB8883F9",
  );
  const wrapped = wrapCryptogram("1F".repeat(16), zone);
  const opened = unwrapKey(`${wrapped}ABCDEF`, tdes(zone));

  assert.deepEqual(opened, {
    key: "1F".repeat(16),
    cipher: "tdes",
    usage: undefined,
    rest: "ABCDEF",
  });
});

test("a cryptogram that begins like a block is a cryptogram", () => {
  const zone = tdes("0123456789ABCDEFFEDCBA9876543210");
  const opened = unwrapKey("B0112345678901234567890123456789ABCD", zone);

  assert.ok(!(opened instanceof KeyFault));
  assert.equal(opened.rest, "ABCD");
});

test("a text that is no key of the zone is refused with a reason, and never throws", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [text: string, ZoneKey, KeyFault["reason"]])[] = [
    ["",                                  tdes("42".repeat(16)), "malformed"],
    ["12".repeat(15),                     tdes("42".repeat(16)), "malformed"],
    ["12".repeat(16),                     aes("42".repeat(16)),  "unsupported"],
    ["A0072P0TE00E0000F5161ED902807AF2",  tdes("42".repeat(16)), "unsupported"],
    ["D0112P0AE00E0000B82679114F470F54",  tdes("42".repeat(16)), "unsupported"],
    ["B0016M3TC00N0000",                  tdes("42".repeat(16)), "malformed"],
    ["B9999M3TC00N0000",                  tdes("42".repeat(16)), "malformed"],
    ["B0048M3TC00N9900KS00000000000000",  tdes("42".repeat(16)), "malformed"],
    [`B0034M3TC00N0000${"0".repeat(18)}`, tdes("42".repeat(16)), "malformed"],
    [`B0080M3TC00N0000${"0".repeat(64)}`, tdes("42".repeat(16)), "not_authentic"],
  ];
  for (const [text, zone, reason] of rows) {
    const fault = unwrapKey(text, zone);
    assert.ok(fault instanceof KeyFault, text);
    assert.equal(fault.reason, reason, text);
  }
});
